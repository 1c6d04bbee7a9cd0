"""What the tests share: records, a schema for them, and files of them."""

from __future__ import annotations

import io
import os
import pathlib
import signal
from collections.abc import Callable
from typing import Any

import columnstone as cst
import pytest
import wire
from hypothesis import settings

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell's job in the background ignores Ctrl-C, and so would all processes that tests begin.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run, more of them with --long.
settings.register_profile(
    "columnstone",
    max_examples=300 if os.environ.get("COLUMNSTONE_LONG") else 30,
    deadline=None,
    derandomize=True,
)
settings.load_profile("columnstone")

SCHEMA = """
feature { name: "id" type: INT shape { } presence { min_fraction: 1 } }
feature { name: "pair" type: FLOAT shape { dim { size: 2 } } presence { min_fraction: 1 } }
feature { name: "tags" type: BYTES }
feature { name: "steps" type: INT }
"""


def pytest_configure(config: pytest.Config) -> None:
    """For the tests of tests/conform too, which run in the same processes."""
    config.pluginmanager.import_plugin("collecting")


def record(i: int) -> bytes:
    """Every third record lacks `tags`, every fourth has an empty `steps`."""
    features: dict[str, wire.Values] = {
        "id": [i],
        "pair": [i + 0.5, -float(i)],
        "steps": list(range(i % 4)),
    }
    if i % 3:
        features["tags"] = [b"tag%d" % k for k in range(i % 5 or 1)]
    return wire.example(features)


def records(count: int, first: int = 0) -> list[bytes]:
    return [record(i) for i in range(first, first + count)]


def tfrecord(count: int, first: int = 0, compression: Any = "none") -> bytes:
    """A file of these records."""
    file = io.BytesIO()
    with cst.codec.TFRecordWriter(file, compression=compression) as writer:
        for one in records(count, first):
            writer.write(one)
    return file.getvalue()


def written(table: Any, format: str) -> bytes:
    """A file of a table."""
    file = io.BytesIO()
    cst.write(table, file, format)
    return file.getvalue()


@pytest.fixture(scope="session")
def schema() -> cst.Schema:
    return cst.Schema.from_text(SCHEMA)


MakeFile = Callable[..., pathlib.Path]


@pytest.fixture
def make_file(tmp_path: pathlib.Path) -> MakeFile:
    """make_file(name, records or count, first=0): writes a TFRecord file with our writer."""

    def make(name: str, content: int | list[bytes], first: int = 0) -> pathlib.Path:
        path = tmp_path / name
        with cst.codec.TFRecordWriter(path) as writer:
            for r in records(content, first) if isinstance(content, int) else content:
                writer.write(r)
        return path

    return make


@pytest.fixture
def file(make_file: MakeFile) -> pathlib.Path:
    """100 records."""
    return make_file("data.tfrecord", 100)


# ---- the public modules ----


def public_modules() -> list[Any]:
    """The package, and its modules by task: all but those of the engines and of tfx_bsl's names."""
    others = {"beam", "dask", "huggingface", "ray", "spark", "tfxio"}
    return [cst, *(getattr(cst, name) for name in cst._MODULES if name not in others)]  # type: ignore[attr-defined]
