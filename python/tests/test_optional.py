"""Packages that are not there: the error says who needs them and which extra has them."""

from __future__ import annotations

import pathlib
import re
import sys
import tomllib
from collections.abc import Callable

import columnstone as cst
import pytest
from columnstone._base import optional
from conftest import SCHEMA

ROOT = pathlib.Path(__file__).parents[2]

Use = Callable[[pathlib.Path], object]


def batch(path: pathlib.Path) -> cst.RecordBatch:
    return next(iter(cst.open(path, schema=SCHEMA)))


def tensor(path: pathlib.Path) -> cst.tensor.Tensor:
    found = next(iter(cst.open(path, schema=SCHEMA).tensors()))["id"]
    assert isinstance(found, cst.tensor.Tensor)
    return found


USES: list[tuple[str, str, Use]] = [
    ("numpy", "numpy", lambda path: tensor(path).numpy()),
    ("numpy", "numpy", lambda path: tensor(path).__array__()),
    ("numpy", "numpy", lambda path: batch(path).column("id").flatten().numpy()),
    ("numpy", "numpy", lambda path: batch(path).column("id").__array__()),
    ("numpy", "numpy", lambda path: next(iter(cst.open(path).dataset(2).numpy()))),
    ("pandas", "pandas", lambda path: batch(path).to_pandas()),
    ("pyarrow", "pandas", lambda path: batch(path).to_pandas()),
    ("torch", "torch", lambda path: cst.open(path).dataset(2).torch()),
    ("torch", "torch", lambda path: cst.tensor.to_torch(tensor(path))),
    ("jax", "jax", lambda path: cst.open(path).dataset(2).jax()),
    ("tensorflow", "tensorflow", lambda path: cst.open(path).dataset(2).tf()),
    ("pyarrow.parquet", "parquet", lambda path: cst.write(cst.open(path), f"{path}.parquet")),
    ("fsspec.core", "remote", lambda path: cst.open("https://example.invalid/x.csv")),
    (
        "aiohttp",
        "remote",
        lambda path: cst.open("https://example.invalid/x.csv"),
    ),
    ("pyarrow", "sqlite", lambda path: cst.open("sqlite://:memory:", query="select 1")),
]


@pytest.mark.parametrize(("module", "extra", "use"), USES)
def test_the_extra_is_named(
    module: str, extra: str, use: Use, file: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"columnstone._frameworks.{module}", raising=False)
    monkeypatch.delitem(sys.modules, "fsspec.implementations.http", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    wanted = rf"needs {module.partition('.')[0]}, which is not installed .*'columnstone\[{extra}\]'"
    with pytest.raises(cst.errors.UnsupportedError, match=wanted) as caught:
        use(file)
    assert caught.value.hint == f"pip install 'columnstone[{extra}]'"


def test_every_extra_is_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for package, extra in optional._EXTRAS.items():
        names = [re.split(r"[\[>=]", line)[0].replace("-", "_") for line in extras[extra]]
        assert package in names or (package, extra) == ("adbc_driver_duckdb", "duckdb")


def test_a_package_that_is_broken_says_so_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "broken_one.py").write_text("import no_such_thing\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_thing"):
        optional.need("broken_one", "this")


def test_one_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """The versions are those of pyproject.toml, which pip alone looks at."""
    monkeypatch.setattr("pyarrow.__version__", "19.0.1")
    said = r"tfxio needs pyarrow 20 or later, and found 19\.0\.1 \(pip install '.*\[parquet\]'\)"
    with pytest.raises(ImportError, match=said) as told:
        optional.need("pyarrow", "tfxio")
    assert isinstance(told.value, cst.errors.UnsupportedError)
    with pytest.raises(ImportError, match="pyarrow 20 or later"):
        optional.need("pyarrow.parquet", "tfxio")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert {p for e in extras.values() for p in e if p.startswith("pyarrow")} == {"pyarrow>=20"}
