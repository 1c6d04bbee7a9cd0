"""The output of one attempt of a task: files in a folder of its own, which readers skip."""

from __future__ import annotations

import contextlib
import uuid
from typing import TYPE_CHECKING, Any

from .._engines.place import place_of
from .partitions import divide

if TYPE_CHECKING:
    from .._sink.writer import Writer
    from .write_options import Output


class Attempt:
    """Writes rows to one file per partition folder. At most `max_open_files` are open: to open one
    more, it closes the file that was written to longest ago; later rows of that folder start a new
    file.

    scratch: the hidden folder of this job, inside the output's folder. It already exists: an
        attempt that Spark has given up, and that starts late, does not create it again.
    label: the part of the final names between the number of the task and that of the file.
    """

    def __init__(self, output: Output, scratch: str, label: str, task: int) -> None:
        self._output = output
        self._place = place_of(output.path)
        self._inside = f"{scratch}/{task:05d}-{uuid.uuid4()}"
        self._stem = f"part-{task:05d}-{label}"
        self._open: dict[str, tuple[Writer, str]] = {}  # by folder: the writer and its file
        self._count: dict[str, int] = {}  # of files with a final name, by folder
        self._begun = 0
        self._files: list[tuple[str, str]] = []
        self._place.make_one(self._inside)

    def write(self, batch: Any) -> None:
        """Writes a pyarrow.RecordBatch."""
        if not self._output.partition_by:
            self._writer("").write(batch)
            return
        for inside, rows in divide(batch, self._output.partition_by):
            self._writer(inside).write(rows)

    def write_no_rows(self, schema: Any) -> None:
        """Creates an empty file of this pyarrow.Schema, if there is no file yet."""
        if not self._begun:
            self._writer("").begin(schema)

    def _writer(self, inside: str) -> Writer:
        """The open writer of this folder. It becomes the most recently used one."""
        found = self._open.pop(inside, None)
        if found is None:
            if len(self._open) == self._output.max_open_files:
                self._close_one()
            name = f"{self._begun:05d}{self._output.ending}"
            path = self._place.path(f"{self._inside}/{name}")
            found = self._output.writer(path), name
            self._begun += 1
        self._open[inside] = found
        return found[0]

    def _close_one(self) -> None:
        inside, (writer, name) = next(iter(self._open.items()))
        writer.close()
        del self._open[inside]
        names = [name]
        if "shard_bytes" in self._output.options:
            shards = name.partition(".")[0] + "-"
            names = self._place.files(self._inside, shards)
        for file in names:
            count = self._count.get(inside, 0)
            self._count[inside] = count + 1
            final = f"{self._stem}-c{count:03d}{self._output.ending}"
            self._files.append((f"{self._inside}/{file}", f"{inside}/{final}" if inside else final))

    def close(self) -> list[tuple[str, str]]:
        """The present names of the files, and the names that a commit is to give them."""
        while self._open:
            self._close_one()
        return self._files

    def abort(self) -> None:
        """Removes the files, as far as the file system permits; the rest is removed with the folder
        of the job."""
        for writer, _ in self._open.values():
            with contextlib.suppress(Exception):
                writer.abort()
        self._open.clear()
        with contextlib.suppress(Exception):
            self._place.remove_all(self._inside)
