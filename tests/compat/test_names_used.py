"""Every name of tfx_bsl that the sources of TFT, TFDV and TFMA use, tests included, stands in ours;
of those that are installed."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pathlib
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

# Of tfx_bsl 1.16; what uses it does without where it is not.
GONE = "tfx_bsl.arrow.sql_util"
PACKAGES = ("tensorflow_transform", "tensorflow_data_validation", "tensorflow_model_analysis")


@pytest.mark.parametrize("package", PACKAGES)
def test_names_used(package: str) -> None:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"{package} is not installed")
    root = pathlib.Path(spec.origin).parent
    found = 0
    missing = set()
    for file in sorted(root.rglob("*.py")):
        for name in names_in(ast.parse(file.read_text())):
            found += 1
            if not name.startswith(GONE) and not stands(name):
                missing.add(f"{file.relative_to(root)}: {name}")
    assert found > 20
    assert not missing, "\n".join(sorted(missing))


def names_in(tree: ast.AST) -> Iterator[str]:
    """What is imported from tfx_bsl, and the names of its modules that are taken by a dot."""
    taken: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tfx_bsl":
            for alias in node.names:
                taken[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "tfx_bsl":
                    taken[alias.asname or "tfx_bsl"] = alias.name if alias.asname else "tfx_bsl"
    yield from taken.values()
    for node in ast.walk(tree):
        words = dotted(node)
        if len(words) > 1 and words[0] in taken:
            yield ".".join((taken[words[0]], *words[1:]))


def dotted(node: ast.AST) -> list[str]:
    """a.b.c as its words; no words for what is not of names alone."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return [*before, node.attr] if before else []
    return []


def stands(name: str) -> bool:
    """Whether ours has it: a module, or what is in one."""
    words = name.split(".")
    for split in range(len(words), 0, -1):
        try:
            thing = importlib.import_module(".".join(("columnstone.compat", *words[:split])))
        except ModuleNotFoundError:
            continue
        for word in words[split:]:
            if not hasattr(thing, word):
                return False
            thing = getattr(thing, word)
        return True
    return False
