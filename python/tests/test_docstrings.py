"""The examples of docstrings run as printed, in a folder of the files of docstring_data; and every
public name has a docstring and a signature."""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import inspect
import pathlib
import pkgutil
import types
from collections.abc import Iterator
from typing import Any

import columnstone as cst
import docstring_data
import pytest
from columnstone import _core

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
COMPILED = {"Array", "ArrowSchema", "RecordBatch", "StructuredBase", "Tensor"}


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
    """Of each class and function once. They are found in the modules that define them, though
    their `__module__` is the public one."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    seen: set[int] = set()
    for name in modules():
        module = importlib.import_module(name)
        for value in list(vars(module).values()):
            if not (inspect.isclass(value) or inspect.isfunction(value)) or id(value) in seen:
                continue
            if not value.__module__.startswith("columnstone") or value.__doc__ is None:
                continue
            seen.add(id(value))
            known = {**vars(module), "cst": cst}
            for test in finder.find(value, value.__qualname__, module=False, globs=known):
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
    assert count >= 75


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


def stub_methods() -> Iterator[tuple[str, str, list[ast.FunctionDef]]]:
    """The methods of the compiled classes that users have, as the stub declares them."""
    stub = pathlib.Path(_core.__file__).with_name("_core.pyi").read_text(encoding="utf-8")
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ClassDef) and node.name in COMPILED:
            methods: dict[str, list[ast.FunctionDef]] = {}
            for one in node.body:
                if isinstance(one, ast.FunctionDef):
                    methods.setdefault(one.name, []).append(one)
            for name, declared in methods.items():
                yield node.name, name, declared


def names_of(arguments: ast.arguments) -> list[tuple[str, bool, bool]]:
    """Name, whether it may be given by name, and whether it may be left out, of each but self."""
    positional = arguments.posonlyargs + arguments.args
    least = len(positional) - len(arguments.defaults)
    told = [
        (one.arg, i >= len(arguments.posonlyargs), i >= least) for i, one in enumerate(positional)
    ]
    told += [
        (one.arg, True, default is not None)
        for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return [one for one in told if one[0] not in ("self", "cls")]


def test_the_stub_has_the_arguments_that_compiled_methods_have() -> None:
    wrong: list[str] = []
    count = 0
    for kind, name, declared in stub_methods():
        value = getattr(getattr(_core, kind), name, None)
        is_special = name.startswith("_") and name not in ("_repr_html_", "__arrow_c_array__")
        if is_special or isinstance(value, types.GetSetDescriptorType):
            continue
        if not callable(value):
            wrong.append(f"{kind}.{name}: only in the stub")
            continue
        count += 1
        found = [
            (one.name, one.kind is not one.POSITIONAL_ONLY, one.default is not one.empty)
            for one in inspect.signature(value).parameters.values()
            if one.name != "self"
        ]
        wanted = [names_of(one.args) for one in declared]
        if len(wanted) == 1 and found != wanted[0]:
            wrong.append(f"{kind}.{name}: {found}, in the stub {wanted[0]}")
        elif len(wanted) > 1:  # overloads
            names = {one[0] for several in wanted for one in several}
            if {one[0] for one in found} != names:
                wrong.append(f"{kind}.{name}: {found}, in the stub {sorted(names)}")
    assert wrong == []
    assert count >= 35
