"""docs/errors.md has a paragraph for every status code, exception and kind of fault."""

from __future__ import annotations

import re

import columnstone as cst
import pages
import pytest

PAGE = (pages.TOP / "docs" / "errors.md").read_text(encoding="utf-8")
HEADER = (pages.TOP / "include" / "columnstone" / "status.h").read_text(encoding="utf-8")
CODES = [name for name, _ in re.findall(r"^  XX\((\w+), (\d+), \"", HEADER, re.M) if name != "OK"]


def test_the_header_has_codes() -> None:
    assert {"CORRUPT", "SCHEMA", "TIMEOUT"} <= set(CODES)


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_paragraph_and_a_link_to_it(code: str) -> None:
    [paragraph] = re.findall(rf"^## {code}\n\n(\*\*.+)$", PAGE, re.M)
    assert len(paragraph) > 80
    assert f"[`CST_{code}`](#{code.lower()})" in PAGE


@pytest.mark.parametrize("name", cst.errors.__all__)
def test_every_exception_has_its_code_and_a_place(name: str) -> None:
    kind = getattr(cst.errors, name)
    if issubclass(kind, cst.Error):
        [row] = [
            line for line in PAGE.splitlines() if line[:7] == "| [`CST" and f"`{name}`" in line
        ]
        assert f"`{kind.code}`" in row
        assert f"](#{(kind().help or '').removeprefix('docs/errors.md#')})" in row
    else:
        assert f"\n## {name}\n" in PAGE


def test_every_kind_of_fault_has_a_row() -> None:
    header = (pages.TOP / "include" / "columnstone" / "source.h").read_text(encoding="utf-8")
    [comment] = re.findall(r"const char \*kind; /\*(.+?)\*/", header, re.S)
    kinds = re.findall(r'"([a-z-]+)"', comment)
    assert {"length-crc", "record", "compression"} <= set(kinds)
    assert [kind for kind in kinds if f"\n| `{kind}` |" not in PAGE] == []
