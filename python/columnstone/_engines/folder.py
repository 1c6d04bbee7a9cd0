"""Folders of files that many workers write and one driver commits.

Every attempt of a task writes a file with a name of its own, in a hidden folder inside the output's
folder. The commit renames the files of the successful attempts and deletes all others: duplicates,
and files of workers that died, never become visible.
"""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .._base.arguments import text
from .._base.errors import FileError, argument_error
from .._sink.writer import Writer
from .commit import Staging
from .names import check_names
from .options import check_writing, self_contained
from .place import ending_of, place_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    Mode = Literal["append", "overwrite", "error"]

MODES = ("append", "overwrite", "error")


class Written(NamedTuple):
    """A file of one attempt. Only a commit makes it visible."""

    task: int
    name: str
    rows: int


class Folder:
    """An output folder. It pickles: workers write; the driver begins, and commits or gives up.

    path: of the folder, or its URL; it is created if it does not exist.
    format, options: those of `columnstone.Writer`.
    mode: "append" adds files to the existing ones; "overwrite" removes the old files once the new
        ones are complete; "error": a folder that contains files is a FileError.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        format: str,
        mode: Mode = "append",
        options: dict[str, Any] | None = None,
    ) -> None:
        options = dict(options or {})
        check_names(options, Writer.__init__, ("self", "file", "format", *_OF_ONE_FILE), format)
        check_mode(mode)
        text("format", format)
        self.path = os.fspath(path)
        self.format = format
        self.mode = mode
        self.options = self_contained(options)
        check_writing(self.path, format, self.options)
        self.ending = ending_of(format, options.get("container"), options.get("compression"))
        self.job = uuid.uuid4().hex
        self._is_new = False

    # On the driver

    def begin(self) -> None:
        """Call it before the first task. It creates the folder that attempts write into; an attempt
        that outlives its job fails instead of creating it again."""
        place = place_of(self.path)
        self._is_new = not place.exists()
        place.make("")
        if self.mode == "error" and place.data():
            hint = 'use an empty folder, or mode="append" or "overwrite"'
            raise FileError(f"{self.path}: the folder has files ({hint})", file=self.path)
        place.make(self._staging)

    def commit(self, files: Iterable[Written]) -> list[str]:
        """Renames the files, in the order of their tasks, and returns their names. If one cannot be
        renamed, none remains."""
        place = place_of(self.path)
        staging = Staging(place, self._staging)
        place.make("")
        staged = [f"{self._staging}/{file.name}" for file in sorted(files)]
        names = [f"part-{i:05}-{self.job[:12]}{self.ending}" for i in range(len(staged))]
        try:
            old = place.data() if self.mode == "overwrite" else []
            staging.publish(zip(staged, names, strict=True), old)
        except BaseException:
            staging.take_back(names)
            self.abort()
            raise
        staging.remove()
        return names

    def abort(self) -> None:
        """Removes everything that the job has written."""
        place = place_of(self.path)
        Staging(place, self._staging).remove()
        if self._is_new:
            place.remove_empty()

    def again(self) -> Folder:
        """The same folder for another job."""
        return Folder(self.path, self.format, self.mode, self.options)

    # On a worker

    def write(self, task: int, batches: Iterable[Any]) -> Written | None:
        """Writes one file. Returns None, and writes no file, if there are no rows."""
        place = place_of(self.path)
        name = f"{task:05}-{uuid.uuid4().hex}{self.ending}"
        writer: Writer | None = None
        try:
            for batch in batches:
                if batch.num_rows > 0:
                    if writer is None:
                        full = place.path(f"{self._staging}/{name}")
                        writer = Writer(full, self.format, **self.options)
                    writer.write(batch)
            if writer is None:
                return None
            writer.close()
        except BaseException:
            if writer is not None:
                writer.abort()
            raise
        return Written(task, name, writer.num_rows)

    @property
    def _staging(self) -> str:
        return staging_of(self.job)


def staging_of(job: str) -> str:
    """The name of the hidden folder of a job."""
    return f".columnstone-{job}"


def check_mode(mode: str) -> None:
    if mode not in MODES:
        raise argument_error(f"unknown mode {ascii(mode)[:40]}", f"one of {', '.join(MODES)}")


_OF_ONE_FILE = ("num_shards", "shard_bytes")
