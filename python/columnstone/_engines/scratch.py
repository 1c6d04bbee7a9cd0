"""Files that get their names when they are complete."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_whole(path: str, data: bytes, give: Callable[[str, str], None] = os.replace) -> None:
    """Writes a small file under a temporary name beside its own, and syncs it to disk. The
    temporary name cannot be guessed, and only this user can open the file, so that no link is
    followed.

    give: gives it the name: os.replace, or os.link, which raises FileExistsError.
    """
    folder = os.path.dirname(path)
    scratch = os.path.join(folder, f".{secrets.token_hex(16)}.tmp")
    descriptor = os.open(scratch, _FLAGS, 0o666)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        give(scratch, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(scratch)
