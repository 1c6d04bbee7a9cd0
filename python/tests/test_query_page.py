"""The table of docs/coming-from-struct2tensor.md: text and methods say the same, of real fields."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from typing import Any

import columnstone as cst
import messages
import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "coming-from-struct2tensor.md"


def cases() -> Iterator[Any]:
    text = PAGE.read_text(encoding="utf-8").split("## From an expression")[0]
    for line in text.splitlines():
        cells = (
            re.findall(r"`([^`]*)`", line.split("|")[2] + line.split("|")[3]) if "|" in line else []
        )
        if len(cells) == 2 and re.match(r"(let|rows|keep|output) ", cells[0]):
            yield pytest.param(*cells, id=cells[0])


@pytest.mark.parametrize(("text", "method"), list(cases()))
def test_text_and_method(text: str, method: str) -> None:
    q = cst.Query(messages.shop("Session"))
    by_method = eval(method, {"cst": cst, "q": q})
    assert by_method == q.add(text)
    if not text.startswith("keep **"):
        assert by_method.source_paths()
    assert by_method.schema.names


def test_there_are_as_many_as_the_page_has() -> None:
    assert len(list(cases())) == 23
