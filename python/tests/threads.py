"""The threads of this process that are Columnstone's; other packages have some of their own."""

from __future__ import annotations

import contextlib
import pathlib


def library_threads() -> int:
    """How many there are; the library names those that it starts. Those that another package starts
    in one of them, as pyarrow's pool does for Parquet, inherit the name: compare two counts."""
    names = []
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it has just ended
            names.append((task / "comm").read_text())
    return names.count("columnstone\n")
