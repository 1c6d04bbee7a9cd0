"""max_inflation for files that Python reads itself. The compiled part counts in src/io/input.c and
src/arrow/ipc/growth.c."""

from __future__ import annotations

from .errors import LimitError

MAX_INFLATION = 200  # unless the caller says otherwise
FREE = 64 << 20  # bytes that any file may become

HINT = "if you trust the file, raise max_inflation"


def check_inflation(name: str, what: str, taken: int, given: int, ratio: int) -> None:
    """LimitError if compressed bytes expand too much; `what` describes the bytes."""
    if given > max(FREE, taken * ratio):
        raise LimitError(
            f"{name}: {taken} bytes of {what} expand to {given}, more than {ratio} times as much "
            f"({HINT})",
            file=name,
            hint=HINT,
        )
