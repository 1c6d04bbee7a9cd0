"""Hints that name an option name one that the function takes."""

from __future__ import annotations

import inspect
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from columnstone._formats.options import KINDS

Call = Callable[[Any], object]
OF_INPUTS: dict[str, Call] = {
    "open": lambda given: next(iter(cst.open(given).tensors()), None),
    "infer_schema": cst.infer_schema,
    "plan": cst.plan,
    "convert": lambda given: cst.convert(given, "made.csv", overwrite=True),
    "build_index": cst.source.Index.build,
    "import_index": lambda given: cst.source.Index.from_text(given, "good.tfrecord"),
    "load_index": cst.source.Index.load,
    "Schema": cst.Schema,
    "Descriptors": cst.schema.Descriptors,
    "View": cst.View,
}
OF_OUTPUTS: dict[str, Call] = {
    "convert": lambda given: cst.convert("good.tfrecord", given),
    "write": lambda given: cst.write(pa.table({"a": [[{"b": 1}]]}), given),
    "Writer": cst.Writer,
    "TFRecordWriter": cst.codec.TFRecordWriter,
}
NAMES: list[Any] = [
    *("sqlite:///x.db", "sqlite://bad.bin", "postgresql://host/name", "spanner://x/y"),
    *("no-such-scheme://x", "http://127.0.0.1:1/x.csv", "zip://a::x.zip"),
    *("missing.tfrecord", "*.none", "", None, 3, [], ["good.tfrecord", "bad.csv"]),
    *("empty.tfrecord", "bad.tfrecord", "good.tfrecord", "bad.csv", "bad.json", "bad.bin"),
    *("bad.parquet", "bad.cstq", "bad.pbtxt", "bad.pb", "bad.cstv"),
]
# What goes with another option only, or is no value of it.
OPTIONS: dict[str, Any] = {
    "params": {"a": 1},
    "message_options": {"plain_types": True},
    "database_options": {"a": "b"},
    "descriptors": b"",
    "message_column": "a",
    "driver": "none",
    "query": "select",
    "max_errors": 1,
    "group": "a",
    "ragged": True,
    "shard_bytes": 1,
    "to_container": "none",
    "container": "none",
    "schemes": ["file"],
    "lossy": True,
    "level": 99,
    "compression": "none",
}


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    cst.write(pa.table({"a": [[1], [2]]}), "good.tfrecord")
    (tmp_path / "empty.tfrecord").touch()
    for name in NAMES:
        if str(name).startswith("bad."):
            (tmp_path / name).write_bytes(b'a,b\n1,2\n3\n{"a": ' + bytes(range(256)))
    return tmp_path


def attempts() -> Iterator[tuple[str, Callable[[], object]]]:
    for calls in (OF_INPUTS, OF_OUTPUTS):
        for name, call in calls.items():
            for given in NAMES:
                yield name, lambda call=call, given=given: call(given)  # type: ignore[misc]
    for name in ("open", "infer_schema", "plan", "convert", "write", "Writer"):
        function = getattr(cst, name)
        for option in OPTIONS.keys() & names_of(name):
            yield name, lambda f=function, n=name, o=option: with_option(f, n, o)  # type: ignore[misc]


def with_option(function: Any, name: str, option: str) -> None:
    given: list[Any] = {"convert": ["good.tfrecord", "made.csv"], "Writer": ["new.csv"]}.get(
        name, ["good.tfrecord"]
    )
    if name == "write":
        given = [pa.table({"a": [1]}), "new.csv"]
    made = function(*given, **{option: OPTIONS[option]})
    if hasattr(made, "close"):
        made.close()


def names_of(name: str) -> set[str]:
    """The arguments of a function, and those that it hands on to open, or open to the format."""
    found = inspect.signature(getattr(cst, name)).parameters
    if all(one.kind != inspect.Parameter.VAR_KEYWORD for one in found.values()):
        return set(found)
    return set(found) | set(KINDS) | (names_of("open") if name != "open" else set())


def named(text: str, name: str) -> Iterator[tuple[str, str]]:
    """The functions and the options of a text: those of `name` unless a call is spelled out."""
    for call in re.finditer(r"cst\.(\w+)\(((?:[^()]|\([^()]*\))*)\)", text):
        yield from ((call[1], option) for option in re.findall(r"\b([a-z_]+)=", call[2]))
        text = text.replace(call[0], "")
    yield from ((name, option) for option in re.findall(r"\b([a-z_]+)=", text))


@pytest.mark.usefixtures("folder")
def test_hints_name_options_that_there_are() -> None:
    found, wrong = set(), []
    for name, attempt in attempts():
        error: Exception | None = None
        try:
            attempt()
        except (cst.Error, TypeError, ValueError, OSError) as caught:
            error = caught
        if isinstance(error, cst.Error):
            for function, option in named(str(error), name):
                found.add(option)
                if option not in names_of(function):
                    wrong.append((function, option, str(error)))
    assert wrong == []
    assert found >= {"query", "overwrite", "view", "message", "propose"}
