"""The blocks of docs/python.md run, one after the other."""

from __future__ import annotations

import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


def test_the_page_runs(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) > 5
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
