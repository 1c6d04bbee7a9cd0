"""The package as a whole: what importing costs, what is public, and that it is typed."""

from __future__ import annotations

import inspect
import pathlib
import subprocess
import sys

import columnstone as cst
import pytest

HEAVY = ["numpy", "pyarrow", "torch", "tensorflow", "pandas", "polars", "duckdb", "typing", "re"]


def modules_after(code: str) -> set[str]:
    # -S: without the site module, whose .pth files may import what they like
    path = str(pathlib.Path(cst.__file__).parents[1])
    script = f"import sys; sys.path.insert(0, {path!r}); {code}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, check=True)
    return set(done.stdout.decode().split())


def test_import_loads_nothing_heavy() -> None:
    loaded = modules_after("import columnstone")
    assert not loaded & set(HEAVY)
    assert not any(name.startswith("columnstone.") for name in loaded)


def test_use_loads_no_numpy_or_pyarrow(file: pathlib.Path) -> None:
    code = f"import columnstone as c; [t for t in c.open({str(file)!r}).tensors()]"
    loaded = modules_after(code)
    assert "columnstone._core" in loaded
    assert not loaded & {"numpy", "pyarrow", "torch", "tensorflow"}


def test_everything_public_is_there_and_documented() -> None:
    for name in cst.__all__:
        value = getattr(cst, name)
        if name != "__version__":
            assert inspect.getdoc(value), name
    assert set(cst.__all__) <= set(dir(cst))


@pytest.mark.parametrize(
    "cls", [cst.RecordBatch, cst.Array, cst.Tensor, cst.ArrowSchema, cst.Source, cst.Schema]
)
def test_members_are_documented(cls: type) -> None:
    for name, member in vars(cls).items():
        if not name.startswith("_") and (callable(member) or inspect.isdatadescriptor(member)):
            assert inspect.getdoc(member), name


def test_unknown_attribute() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        cst.nonsense  # noqa: B018


def test_typed() -> None:
    folder = pathlib.Path(cst.__file__).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_core.pyi").exists()


@pytest.mark.parametrize("cls", [cst.RecordBatch, cst.Array, cst.Tensor, cst.ArrowSchema])
def test_values_are_final_and_made_by_the_library(cls: type) -> None:
    with pytest.raises(TypeError):
        cls()
    with pytest.raises(TypeError):
        type("Sub", (cls,), {})
