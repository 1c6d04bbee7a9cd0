"""The examples of docstrings run as printed, in a folder of the files of docstring_data; and every
public name has a docstring and a signature."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import pathlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import columnstone as cst
import docstring_data
import pytest

# Examples that need a cluster or an engine run in its pages (tests/engines).
ENGINES = tuple(
    f"columnstone.{mark}{engine}"
    for mark in ("", "_")
    for engine in ("beam", "dask", "ray", "spark")
)
# No program calls them to make one: they are made by functions, or raised and caught.
NOT_MADE = {
    "columnstone.StructuredTensor",
    "columnstone.errors.DataWarning",
    "columnstone.struct.LeafTensor",
    "columnstone.struct.RaggedStructuredTensor",
    "columnstone.struct.StructuredBase",
}


def modules() -> list[str]:
    """All modules of the package that need no other package."""
    names: list[str] = []
    for module in pkgutil.walk_packages(cst.__path__, "columnstone."):
        skipped = (*ENGINES, "columnstone.compat", "columnstone._frameworks", "columnstone.tfxio")
        if not module.name.startswith(skipped) and not module.name.endswith("__main__"):
            names.append(module.name)
    return names


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    docstring_data.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def examples() -> Iterator[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in modules():
        module = importlib.import_module(name)
        for test in finder.find(module, name, extraglobs={"cst": cst}):
            if test.examples:
                yield test


def test_the_examples_are_true(folder: pathlib.Path) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_ONLY_FIRST_FAILURE)
    failed: list[str] = []
    count = 0
    for test in examples():
        for file in folder.iterdir():
            if file.name not in ("trips.tfrecord", "trips.csv", "trips.pbtxt", "shop.proto"):
                file.unlink()
        text: list[str] = []
        if runner.run(test, out=text.append).failed:
            failed += text
        count += 1
    assert failed == [], "\n".join(failed)
    assert count >= 65


def public() -> Iterator[tuple[str, Any]]:
    """Public names, and those of their classes, whose packages are installed."""
    for name in ("columnstone", *(f"columnstone.{name}" for name in cst._MODULES)):
        module = importlib.import_module(name)
        yield name, module
        for one in getattr(module, "__all__", ()):
            with contextlib.suppress(cst.errors.UnsupportedError, ImportError):
                value = getattr(module, one)
                yield f"{name}.{one}", value
                if inspect.isclass(value):
                    for member, given in vars(value).items():
                        if not member.startswith("_"):
                            yield f"{name}.{one}.{member}", given


def is_told(value: Any) -> bool:
    """Whether help() has a text for it: not for constants, and fields of classes."""
    return (
        inspect.ismodule(value)
        or callable(value)
        or isinstance(value, property | classmethod | staticmethod)
        or inspect.isgetsetdescriptor(value)
    )


def test_every_public_name_has_a_docstring() -> None:
    names = [(name, value) for name, value in public() if is_told(value)]
    assert len(names) > 500
    assert [name for name, value in names if not inspect.getdoc(value)] == []


def test_every_public_callable_has_a_signature() -> None:
    missing: list[str] = []
    for name, value in public():
        function = getattr(value, "__func__", value)
        if callable(function) and name not in NOT_MADE:
            try:
                inspect.signature(function)
            except ValueError:
                missing.append(name)
    assert missing == []
