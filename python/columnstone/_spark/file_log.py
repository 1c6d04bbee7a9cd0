"""The files that a stream has read, batch by batch: a folder with one small file for each batch."""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING

from .._base.errors import CorruptError, StateError
from .._engines.scratch import write_whole
from .folders import Found

if TYPE_CHECKING:
    from collections.abc import Sequence


class FileLog:
    """Batches 0, 1, 2, ... of a stream: each is a list of files that never changes. Therefore an
    offset only needs the number of a batch, and reading a batch again, after any failure, reads the
    same files.

    folder: on a file system where only one of two concurrent attempts to create a link succeeds,
        such as local disks and NFS. It belongs to one folder of data, and must be kept as long as
        the checkpoint.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._next = 0  # the first batch that is not known to be there
        self._taken: set[str] = set()
        os.makedirs(folder, exist_ok=True)

    def taken(self) -> set[str]:
        """The files of all batches."""
        self.last()
        return self._taken

    def last(self) -> int:
        """The number of the last batch; -1 if there is none."""
        while os.path.exists(self._path(self._next)):
            self._taken.update(entry.file for entry in self.read(self._next))
            self._next += 1
        return self._next - 1

    def read(self, batch: int) -> list[Found]:
        """The files of a batch. StateError if the batch is missing, for example after the folder
        was deleted."""
        path = self._path(batch)
        try:
            with open(path, encoding="utf-8") as file:
                return [_found(json.loads(line)) for line in file]
        except FileNotFoundError:
            hint = "start with a new checkpoint, or restore the folder"
            raise StateError(
                f"{path}: the checkpoint continues after batch {batch}, which is missing from the "
                f"file log ({hint})",
                file=path,
                hint=hint,
            ) from None
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptError(f"{path}: not a batch of a file log: {error}", file=path) from None

    def add(self, files: Sequence[Found]) -> int:
        """Adds a batch of these files, and returns its number. If another process has added this
        batch meanwhile, its files count."""
        batch = self.last() + 1
        path = self._path(batch)
        lines = "".join(json.dumps(_line(entry)) + "\n" for entry in files)
        with contextlib.suppress(FileExistsError):
            write_whole(path, lines.encode(), os.link)
        return batch

    def _path(self, batch: int) -> str:
        return os.path.join(self._folder, f"{batch:09d}.jsonl")


def _line(entry: Found) -> dict[str, object]:
    return {
        "file": entry.file,
        "folders": [list(pair) for pair in entry.folders],
        "size": entry.size,
        "changed": entry.changed,
    }


def _found(line: dict[str, object]) -> Found:
    folders = tuple((name, text) for name, text in line["folders"])  # type: ignore[attr-defined]
    return Found(str(line["file"]), folders, line["size"], line["changed"])  # type: ignore[arg-type]
