"""Folders of files that many workers write and one driver commits.

Every attempt of a task writes a file of a name of its own, in a folder below the output's that
readers do not look into. The commit gives the files of the attempts that count their names, and
takes everything else away: what was written twice, or by a worker that died, is never seen.
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
    """A file of one attempt, which only a commit makes visible."""

    task: int
    name: str
    rows: int


class Folder:
    """An output folder. It pickles: workers write, the driver begins and commits or gives up.

    path: of the folder, or its URL; it is made if it is not there.
    format, options: those of `columnstone.Writer`.
    mode: "append" adds files to those that are there; "overwrite" removes these once the new ones
        are there; "error": a folder that has files is a FileError.
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

    # Of the driver

    def begin(self) -> None:
        """Before the first task. Attempts write into a folder that this makes: one that outlives
        its job fails, and makes nothing anew."""
        place = place_of(self.path)
        self._is_new = not place.exists()
        place.make("")
        if self.mode == "error" and place.data():
            hint = 'name a folder that is empty, or mode="append" or "overwrite"'
            raise FileError(f"{self.path}: the folder has files ({hint})", file=self.path)
        place.make(self._staging)

    def commit(self, files: Iterable[Written]) -> list[str]:
        """Gives the files their names, in the order of their tasks, and returns these. If one
        cannot be renamed, none is there."""
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
        """Leaves nothing of the job."""
        place = place_of(self.path)
        Staging(place, self._staging).remove()
        if self._is_new:
            place.remove_empty()

    def again(self) -> Folder:
        """The same folder for another job."""
        return Folder(self.path, self.format, self.mode, self.options)

    # Of a worker

    def write(self, task: int, batches: Iterable[Any]) -> Written | None:
        """Writes one file. None if there are no rows: then there is no file, either."""
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
    """The name of a job's hidden folder."""
    return f".columnstone-{job}"


def check_mode(mode: str) -> None:
    if mode not in MODES:
        raise argument_error(f"unknown mode {ascii(mode)[:40]}", f"one of {', '.join(MODES)}")


_OF_ONE_FILE = ("num_shards", "shard_bytes")
