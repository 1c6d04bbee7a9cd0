"""Every public name of tfx_bsl stands in ours, and can be called as there.

What is public is read from the sources of the tfx_bsl that is installed: what its modules define or
assign, and what its packages import, without an underscore. A signature is compatible if what is
called by position, by name or with defaults there is called so here, to the same effect.
"""

from __future__ import annotations

import ast
import enum
import importlib
import importlib.util
import inspect
import pathlib
import re
from typing import Any

import pytest
from conftest import real

OURS = "columnstone.compat."

# Modules without a counterpart, and why.
NO_MODULES = {
    "tfx_bsl.test_util": "runs the tests of tfx_bsl's own source tree",
    "tfx_bsl.test_util.run_all_tests": "runs the tests of tfx_bsl's own source tree",
}

# What differs, by module, as differences() begins to say it, and why.
MEANT = {
    "tfx_bsl.tfxio.dataset_tfxio": {  # the folder is made when it is needed, not at the import
        "DatasetTFXIO: options is DatasetTFXIOOptions(working_dir=None",
        "DatasetTFXIOOptions: working_dir is None",
    },
}


def modules() -> list[str]:
    """The modules that are no tests, by name."""
    spec = importlib.util.find_spec("tfx_bsl")
    assert spec is not None and spec.origin is not None
    root = pathlib.Path(spec.origin).parent
    found = []
    for file in sorted(root.rglob("*.py")):
        if not file.stem.endswith("_test"):
            parts = file.relative_to(root.parent).with_suffix("").parts
            found.append(".".join(parts[:-1] if file.stem == "__init__" else parts))
    return found


def names_of(module: Any) -> list[str]:
    """The public names that a module of theirs defines or, as a package, imports."""
    if hasattr(module, "DESCRIPTOR"):
        return ["DESCRIPTOR", *module.DESCRIPTOR.message_types_by_name]
    names: set[str] = set(getattr(module, "__all__", ()))
    file = pathlib.Path(module.__file__)
    gives_imports = file.stem in ("__init__", "types_compat")

    def visit(statements: list[ast.stmt]) -> None:
        for one in statements:
            if isinstance(one, (ast.FunctionDef, ast.ClassDef)):
                names.add(one.name)
            elif isinstance(one, ast.Assign):
                names.update(target.id for target in one.targets if isinstance(target, ast.Name))
            elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                names.add(one.target.id)
            elif isinstance(one, ast.ImportFrom) and gives_imports and one.names[0].name != "*":
                names.update(alias.asname or alias.name for alias in one.names)
            elif isinstance(one, (ast.If, ast.Try)):
                visit([*one.body, *one.orelse])

    visit(ast.parse(file.read_text()).body)
    return sorted(name for name in names if not name.startswith("_") and hasattr(module, name))


def differences(theirs: Any, ours: Any, where: str) -> list[str]:
    """What of a name of theirs is not so in ours, a line each."""
    if inspect.isclass(theirs):
        if not inspect.isclass(ours):
            return [f"{where} is no class"]
        return in_class(theirs, ours, where)
    if callable(theirs) and not isinstance(theirs, type(Any)):
        return in_call(theirs, ours, where)
    if isinstance(theirs, (int, float, str, bytes, tuple, dict, list)) and theirs != ours:
        return [f"{where} is {ours!r}, not {theirs!r}"]
    return []


def in_class(theirs: type, ours: type, where: str) -> list[str]:
    if hasattr(theirs, "DESCRIPTOR"):  # messages have a test of their own
        return []
    if hasattr(theirs, "_fields") and theirs._fields != getattr(ours, "_fields", None):
        return [f"{where} has other fields"]
    found = [f"{where} is no {name}" for name in bases(theirs) if name not in bases(ours)]
    more = getattr(ours, "__abstractmethods__", set()) - getattr(
        theirs, "__abstractmethods__", set()
    )
    found += [f"{where} wants subclasses to have {name}" for name in sorted(more)]
    if "__init__" in vars(theirs) or hasattr(theirs, "_fields") or is_extension(theirs):
        found += in_call(theirs, ours, where)
    for name in sorted(set(dir(theirs))):
        if name.startswith("_") or not is_theirs(theirs, name):
            continue
        if is_extension(theirs) and issubclass(ours, enum.Enum) and name in ("name", "value"):
            continue  # which an enum's class does not show
        at = f"{where}.{name}"
        if not hasattr(ours, name):
            found.append(f"{at} is missing")
            continue
        one, other = getattr(theirs, name), getattr(ours, name)
        if inspect.isclass(one) or isinstance(one, (int, str, enum.Enum)):
            found += differences(one, other, at)
        elif callable(one):
            if not callable(other):
                found.append(f"{at} is no method")
            elif is_static(theirs, name) != is_static(ours, name):
                found.append(
                    f"{at} is a method of the class in one and of its instances in the other"
                )
            else:
                found += in_call(one, other, at)
        elif isinstance(one, property) and callable(other):
            found.append(f"{at} is no property")
    return found


def bases(kind: type) -> list[str]:
    """The public classes that it is one of, of tfx_bsl and of Beam."""
    packages = ("tfx_bsl.", "columnstone.compat.tfx_bsl.", "apache_beam.")
    found = [base for base in kind.__mro__[1:] if base.__module__.startswith(packages)]
    names = {base.__name__ for base in found if not base.__name__.startswith("_")}
    return sorted(names - {kind.__name__})


def is_theirs(kind: type, name: str) -> bool:
    """Whether the class has the name from tfx_bsl, and not from Beam or typing."""
    owner = next((base for base in kind.__mro__ if name in vars(base)), kind)
    return owner.__module__.startswith("tfx_bsl")


def is_static(kind: type, name: str) -> bool:
    if is_extension(kind):
        return "self: " not in (getattr(kind, name).__doc__ or "self: ")
    return isinstance(inspect.getattr_static(kind, name), (staticmethod, classmethod))


def is_extension(kind: Any) -> bool:
    return type(kind).__name__ == "pybind11_type"


def parameters(call: Any) -> list[inspect.Parameter] | None:
    """None where Python does not know them."""
    if type(call).__name__ in ("pybind11_type", "instancemethod", "builtin_function_or_method"):
        return of_extension(call)
    try:
        return list(inspect.signature(call).parameters.values())
    except (TypeError, ValueError):
        return None


def of_extension(call: Any) -> list[inspect.Parameter] | None:
    """Of what C++ has defined: from the first signature in its text of documentation."""
    documented = call.__init__ if inspect.isclass(call) else call
    signature = re.search(r"\((self: [^,)]*)?(?:, )?(.*)\) -> ", documented.__doc__ or "")
    if signature is None or "*args" in signature[0]:
        return None
    found = []
    if signature[1] and not inspect.isclass(call):
        found.append(inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY))
    for i, text in enumerate(re.findall(r"(\w+): [\w.:\[\]]+(?: = ([^,]+))?", signature[2])):
        name, default = text
        has_name = not re.fullmatch(r"arg\d+", name)
        kind = (
            inspect.Parameter.POSITIONAL_OR_KEYWORD
            if has_name
            else (inspect.Parameter.POSITIONAL_ONLY)
        )
        made = inspect.Parameter(name if has_name else f"arg{i}", kind)
        found.append(made.replace(default=Unknown) if default else made)
    return found


class Unknown:
    """A default whose value is not known."""


def in_call(theirs: Any, ours: Any, where: str) -> list[str]:
    expected, given = parameters(theirs), parameters(ours)
    if expected is None or given is None:
        return []
    empty = inspect.Parameter.empty
    by_name = {one.name: one for one in given}
    positions = [one for one in given if one.kind in POSITIONAL]
    takes_more = {one.kind for one in given} & {VAR_POSITIONAL, VAR_KEYWORD}
    found = []
    for i, one in enumerate(expected):
        if one.kind in (VAR_POSITIONAL, VAR_KEYWORD):
            if one.kind not in takes_more:
                found.append(f"{where} does not take {one}")
            continue
        if one.kind is inspect.Parameter.POSITIONAL_ONLY or one.name == "self":
            other = positions[i] if i < len(positions) else None
        else:
            other = by_name.get(one.name)
            if other is not None and one.kind in POSITIONAL and other not in positions[i : i + 1]:
                other = None
        if other is None:
            if len(takes_more) < 2:
                found.append(f"{where} does not take {one.name} as there: {given}")
        elif other.kind is inspect.Parameter.POSITIONAL_ONLY and one.name not in (
            "self",
            other.name,
        ):
            continue
        elif one.default is not empty and one.default is not Unknown:
            if not is_same(one.default, other.default):
                found.append(
                    f"{where}: {one.name} is {other.default!r} if not given, not {one.default!r}"
                )
        elif one.default is Unknown and other.default is empty:
            found.append(f"{where} needs {one.name}")
    names = {one.name for one in expected}
    for i, one in enumerate(given):
        is_new = one.name not in names and (one.kind not in POSITIONAL or i >= len(expected))
        if is_new and one.default is empty and one.kind not in (VAR_POSITIONAL, VAR_KEYWORD):
            found.append(f"{where} needs {one.name}, which is not known there")
    return found


def is_same(theirs: Any, ours: Any) -> bool:
    """Whether two defaults mean the same, as far as they can be compared."""
    if theirs is ours or bool(theirs == ours):
        return True
    if type(theirs).__name__ != type(ours).__name__ or not hasattr(theirs, "__dict__"):
        return repr(theirs) == repr(ours)
    return {key.strip("_") for key in vars(theirs)} == {key.strip("_") for key in vars(ours)}


POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
VAR_POSITIONAL = inspect.Parameter.VAR_POSITIONAL
VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD


def gaps(name: str) -> list[str]:
    """What of a module of theirs is not so in ours, a line each."""
    theirs = real(name)
    try:
        ours = importlib.import_module(OURS + name)
    except ModuleNotFoundError as error:
        return [f"{name}: no module ({error})"]
    found = []
    for public in names_of(theirs):
        at = f"{name}.{public}"
        if not hasattr(ours, public):
            found.append(f"{at} is missing")
        else:
            found += differences(getattr(theirs, public), getattr(ours, public), at)
    return found


@pytest.mark.parametrize("name", modules())
def test_public_names(name: str) -> None:
    if name in NO_MODULES:
        with pytest.raises(ModuleNotFoundError):  # if it is here: take it off the list
            importlib.import_module(OURS + name)
        return
    found = gaps(name)
    meant = [f"{name}.{text}" for text in MEANT.get(name, ())]
    new = [line for line in found if not any(line.startswith(text) for text in meant)]
    assert not new, "\n".join(new)
    gone = [text for text in meant if not any(line.startswith(text) for line in found)]
    assert not gone, "is not so: take it off the list"


if __name__ == "__main__":
    for module in modules():
        if module not in NO_MODULES:
            print(*gaps(module), sep="\n", end="\n" if gaps(module) else "")
