"""Every block of the documents runs as printed, in order, on data that its page makes first.

The pages of the engines are run by tests/engines/test_docs.py."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import columnstone as cst
import pages
import pytest

TOP = pages.TOP
PAGES = [
    page
    for folder, pattern in (("", "*.md"), ("docs", "**/*.md"), ("plugins", "**/*.md"))
    for page in sorted((TOP / folder).glob(pattern))
    if page not in pages.ENGINES
]


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
@pytest.mark.usefixtures("folder")
def test_the_page_runs(page: pathlib.Path) -> None:
    pages.run_page(page)


def test_few_blocks_are_not_run() -> None:
    assert pages.few_are_not_run(PAGES)


NESTED = [
    cst.StructuredTensor,
    cst.struct.LeafTensor,
    cst.struct.StructuredTensorSpec,
    cst.struct.LeafSpec,
]


@pytest.mark.parametrize("of", [*NESTED, cst.struct], ids=lambda of: of.__name__)
def test_the_guide_names_all_that_structured_tensors_have(of: Any) -> None:
    names = getattr(of, "__all__", None) or [name for name in dir(of) if name[0] != "_"]
    words = set(re.findall(r"\w+", (TOP / "docs" / "structured.md").read_text(encoding="utf-8")))
    assert [name for name in names if name not in words] == []


def test_the_guide_of_messages_names_all_options_and_shows_its_proto() -> None:
    from columnstone._message.options import OPTIONS

    text = (TOP / "docs" / "messages.md").read_text(encoding="utf-8")
    assert [name for name in OPTIONS if f"`{name}`" not in text] == []
    assert (TOP / "tests" / "data" / "messages" / "shop.proto").read_text() in text


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("sh", "false\ntrue\n"),
        ("console", "$ echo a\nb\n"),
        ("console", "$ echo a\n"),
        ("console", "$ exit 127\n"),
        ("python", "1 + 1  # → 3\n"),
        ("python", "for i in range(2):\n    print(i)\n# → 0\n#   2\n"),
        ("python", "undefined\n"),
        ("c", "int main(void) { return 1; }\n"),
    ],
)
def test_what_differs_is_found(kind: str, code: str, folder: pathlib.Path) -> None:
    page = folder / "page.md"
    page.write_text(f"Text\n```{kind}\n{code}```\n*Not run: here.*\n```sh\nfalse\n```\n")
    block, other = pages.blocks(page)
    assert (block.line, block.runs, other.runs) == (2, True, False)
    with pytest.raises((AssertionError, NameError)):
        pages.run(block, {})


def test_an_environment_leaves_nothing_in_the_folder(folder: pathlib.Path) -> None:
    assert pages.shell("pkg-config --libs columnstone").returncode == 0
    assert list(folder.iterdir()) == []


def test_what_agrees_is_not() -> None:
    assert pages.fits("a: 0.1 s\n…\nb … d\n", "a: 12.3 s\nx\ny\nb c d\n")
    assert pages.fits("", "")
    assert not pages.fits("a\n", "a\nb\n")
