"""What the bytes of a file may become: max_inflation, for what Python reads itself. The compiled
part counts by src/io/input.c and src/arrow/ipc/growth.c."""

from __future__ import annotations

from .errors import LimitError

MAX_INFLATION = 200  # unless the caller says otherwise
FREE = 64 << 20  # bytes that any file may become

HINT = "if you trust the file, raise max_inflation"


def check_inflation(name: str, what: str, taken: int, given: int, ratio: int) -> None:
    """LimitError if so many bytes, which `what` says how they were packed, became too many."""
    if given > max(FREE, taken * ratio):
        raise LimitError(
            f"{name}: {taken} bytes of {what} expand to {given}, more than {ratio} times as much "
            f"({HINT})",
            file=name,
            hint=HINT,
        )
