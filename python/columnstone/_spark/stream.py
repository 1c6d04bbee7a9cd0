"""A growing folder as a stream: each file once, as soon as it is complete."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from .._base.errors import NotFoundError, StateError, argument_error
from .._io.urls import is_remote
from .file_log import FileLog
from .folders import Found, local_path
from .reader import Task, TaskReader, plan_tasks
from .reading import Load, Table, check_there, given_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql.types import StructType

Offset = dict[str, int]  # {"batch": the last batch of the file log that is read, -1 at first}


class StreamTask(Task):
    """The part of a batch that one worker reads: whole files, as the driver found them. table: how
    they are read, if only the driver can find out."""

    def __init__(self, task: Task, files: Sequence[Found], table: Table | None) -> None:
        super().__init__(task.splits)
        self.files = tuple(files)
        self.table = table


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]
    """Batches of files, as recorded in the file log. A batch is made when Spark asks for new data.
    It is written to the log before Spark learns of it, and never changes. The object is pickled to
    the workers with what is known about the columns, so that tasks do not need it."""

    def __init__(self, load: Load, schema: StructType, table: Table | None) -> None:
        folder = load.own.get("file_log")
        if folder is None:
            raise argument_error(
                "a stream needs the option fileLog",
                "a folder for the list of files that were read; keep it as long as the checkpoint",
            )
        self._folder = local_path(folder)
        for path in (folder, *load.paths):
            if is_remote(local_path(path)):
                raise argument_error(f"{path}: a stream reads local or mounted folders, not URLs")
        self._load = load
        self._schema = schema
        self._table = table
        self._tells_tasks = table is None and "view" in load.options  # its files are the driver's
        self._log: FileLog | None = None
        self._end: set[str] | None = None  # of files, with Trigger.AvailableNow

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_log": None, "_end": None}

    def _open_log(self) -> FileLog:
        if self._log is None:
            self._log = FileLog(self._folder)
        return self._log

    # On the driver

    def initialOffset(self) -> Offset:
        return {"batch": -1}

    def getDefaultReadLimit(self) -> ReadLimit:
        most = self._load.own.get("max_files_per_trigger")
        return ReadAllAvailable() if most is None else ReadMaxFiles(most)

    def prepareForTriggerAvailableNow(self) -> None:
        self._end = {entry.file for entry in self._list()}

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        log = self._open_log()
        last = log.last()
        if start["batch"] > last:
            log.read(start["batch"])  # says that it is not there
        if start["batch"] < last:  # made before a restart, and not yet read
            return {"batch": start["batch"] + 1}
        taken = log.taken()
        new = [entry for entry in self._list() if entry.file not in taken]
        if self._end is not None:
            new = [entry for entry in new if entry.file in self._end]
        if isinstance(limit, ReadMaxFiles):
            new = new[: limit.max_files]
        return {"batch": log.add(new)} if new else start

    def _list(self) -> list[Found]:
        """The existing files, the oldest first."""
        try:
            found = self._load.find()
        except NotFoundError:
            return []
        return sorted(found, key=lambda entry: (entry.changed, os.fsencode(entry.file)))

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        log = self._open_log()
        tasks: list[InputPartition] = []
        for batch in range(start["batch"] + 1, end["batch"] + 1):
            files = log.read(batch)
            by_name = {entry.file: entry for entry in files}
            if self._table is None:
                check_there(self._load, files, self._schema)
            table = self._table_of(files)
            for task in plan_tasks(self._load, files, table.reading):
                names = dict.fromkeys(split.file for split, _ in task.splits)
                of_task = [by_name[name] for name in names]
                told = table if self._tells_tasks else None
                tasks.append(StreamTask(task, of_task, told))
        return tasks

    def _table_of(self, files: Sequence[Found]) -> Table:
        """How files are read. Each process that does not know it finds out once: there may have
        been no files when the stream started."""
        if self._table is None:
            names = [name for name, _ in files[0].folders]
            self._table = given_table(self._load, files, names, self._schema)
        return self._table

    # On the workers

    def read(self, partition: StreamTask) -> Iterator[pa.RecordBatch]:
        reading, folders = partition.table or self._table_of(partition.files)
        yield from TaskReader(reading, folders, self._schema).read(partition)
        for entry in partition.files:
            _check_unchanged(entry)


def _check_unchanged(entry: Found) -> None:
    """StateError for a file that has changed since the driver found it: a file that still grows is
    incomplete, and the rest of it would be lost."""
    status = os.stat(entry.file)
    if (status.st_size, status.st_mtime_ns) != (entry.size, entry.changed):
        hint = (
            'write to a name that begins with "." or "_", and rename the file when it is complete'
        )
        raise StateError(
            f"{entry.file}: the file has changed since the stream found it: it had {entry.size} "
            f"bytes, and has {status.st_size} ({hint})",
            file=entry.file,
            hint=hint,
        )
