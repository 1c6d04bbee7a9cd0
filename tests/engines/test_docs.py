"""Every block of the engines' pages runs as printed.

Each page is run in a process of its own, because engines leave processes and settings behind.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys

import pages
import pytest

LIMIT = 240  # seconds for a page, with the start of its engine
PAGES = [page for page in pages.ENGINES if page.exists()]


def fault(page: pathlib.Path, folder: pathlib.Path) -> str:
    """What the page's process said if it failed, and "" if the page runs."""
    process = subprocess.Popen(
        [sys.executable, pages.__file__, str(page)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=LIMIT)
        return said if process.returncode else ""
    except subprocess.TimeoutExpired:
        return f"{page}: not done after {LIMIT} s"
    finally:
        with contextlib.suppress(ProcessLookupError):  # what it has started ends with it
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_runs(page: pathlib.Path, tmp_path: pathlib.Path) -> None:
    package = pages.ENGINES[page]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    said = fault(page, tmp_path)
    assert not said, said


def test_few_blocks_are_not_run() -> None:
    assert pages.few_are_not_run(PAGES)


@pytest.mark.parametrize(
    ("code", "is_sound"), [("1 + 1  # → 2", True), ("1 + 1  # → 3", False), ("undefined", False)]
)
def test_a_page_that_is_wrong_is_found(code: str, is_sound: bool, tmp_path: pathlib.Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"Text\n```python\n{code}\n```\n")
    assert (fault(page, tmp_path) == "") is is_sound
