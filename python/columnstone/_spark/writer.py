"""The writers of the data source: attempts that are committed completely or not at all.

Every attempt of a task writes into `_temporary-JOB/TASK-ATTEMPT/` inside the output's folder. Spark
sends the message of the one successful attempt of each task to the driver. The commit renames the
files of these attempts to their final names, and removes the hidden folder with the files of all
others.
"""

from __future__ import annotations

import contextlib
import dataclasses
import uuid
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from .._base.errors import Error, FileError, StateError
from .._base.files import in_memory
from .._engines.commit import Staging
from .._engines.place import place_of
from .attempt import Attempt
from .partitions import check_keys
from .write_options import Output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyspark.sql.types import StructType

SUCCESS = "_SUCCESS"
_LOOKS_AT_VALUES = ("example", "json")  # what refuses a type when the first row comes


@dataclasses.dataclass
class Written(WriterCommitMessage):  # type: ignore[misc]
    """The files of an attempt: present and final names."""

    files: list[tuple[str, str]]
    query: str = ""  # of a stream


class BatchWriter(DataSourceArrowWriter):  # type: ignore[misc]
    """`df.write`. Made on the driver before the job; everything else is done by its pickled
    copies."""

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        self._output = Output.of_options(options)
        self._schema = checked_schema(self._output, schema)
        self._overwrite = overwrite
        self._job = str(uuid.uuid4())
        self._scratch = f"_temporary-{self._job}"
        place = place_of(self._output.path)
        self._is_new = not place.exists()
        looks = self._output.if_exists != "append" and not overwrite
        self._ignores = looks and bool(place.data())
        if self._ignores and self._output.if_exists == "error":
            raise _exists(self._output.path)
        if not self._ignores:
            place.make(self._scratch)

    def write(self, iterator: Iterator[Any]) -> Written:
        if self._ignores:
            return Written([])
        task = TaskContext.get().partitionId()
        keeps_types = task == 0 and not self._output.partition_by
        attempt = Attempt(self._output, self._scratch, self._job, task)
        return Written(_filled(attempt, iterator, self._schema if keeps_types else None))

    def commit(self, messages: list[Any]) -> None:
        if self._ignores:
            return
        place = place_of(self._output.path)
        staging = Staging(place, self._scratch)
        old = place.data() if self._overwrite else []
        place.remove([SUCCESS])
        staging.publish((pair for message in messages for pair in message.files), old)
        place.write(SUCCESS, self._job.encode())
        with contextlib.suppress(Error, OSError):  # no reader looks into it
            staging.remove()

    def abort(self, messages: list[Any]) -> None:
        """Removes files that already have their names, unless the commit had gone so far that data
        would be lost."""
        place = place_of(self._output.path)
        staging = Staging(place, self._scratch)
        if place.read(SUCCESS) != self._job.encode():
            staging.take_back(
                final for message in messages if message for _, final in message.files
            )
        staging.remove()
        if self._is_new:
            place.remove_empty()


class StreamWriter(DataSourceStreamArrowWriter):  # type: ignore[misc]
    """`df.writeStream`. Made again for every micro-batch, and for every commit.

    The names of the files of a micro-batch are made from the query's id, which is in the
    checkpoint, and from the number of the micro-batch: a repeated micro-batch replaces the files
    that it has written before.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        self._output = Output.of_options(options)
        self._overwrite = overwrite
        checked_schema(self._output, schema)

    def write(self, iterator: Iterator[Any]) -> Written:
        context = TaskContext.get()
        query = context.getLocalProperty("sql.streaming.queryId")
        batch = context.getLocalProperty("streaming.sql.batchId")
        if query is None or batch is None:
            raise StateError("the task has no query id or micro-batch number")
        task = context.partitionId()
        scratch = _scratch_of(query, int(batch))
        place_of(self._output.path).make(scratch)
        attempt = Attempt(self._output, scratch, _label(query, int(batch)), task)
        return Written(_filled(attempt, iterator, None), query)

    def commit(self, messages: list[Any], batchId: int) -> None:
        query = next((message.query for message in messages), None)
        if query is None:
            return
        place = place_of(self._output.path)
        note = f"_stream-{query}"
        seen = place.read(note)
        old: Iterable[str] = ()
        if self._overwrite:
            old = place.data()
        elif seen is not None and int(seen) >= batchId:  # it may have been here before
            old = [name for name in place.data() if f"-{_label(query, batchId)}-" in name]
        place.write(note, str(batchId).encode())
        staging = Staging(place, _scratch_of(query, batchId))
        staging.publish((pair for message in messages for pair in message.files), old)
        staging.remove()

    def abort(self, messages: list[Any], batchId: int) -> None:
        """Keeps files that already have their names: the query ends, and restarts with this
        micro-batch."""
        place = place_of(self._output.path)
        for query in {message.query for message in messages if message}:
            Staging(place, _scratch_of(query, batchId)).remove()


def checked_schema(output: Output, schema: StructType) -> Any:
    """The columns of the files, as a pyarrow.Schema. Raises an error for columns that the format
    cannot hold, before any task runs."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    columns = to_arrow_schema(schema, timezone="UTC")
    check_keys(columns, output.partition_by)
    for name in output.partition_by:
        columns = columns.remove(columns.get_field_index(name))
    writer = output.writer(in_memory(output.path))
    try:
        if output.format in _LOOKS_AT_VALUES:
            nulls = [pa.nulls(1, field.type) for field in columns]
            writer.write(pa.RecordBatch.from_arrays(nulls, columns.names))
        else:
            writer.begin(columns)
    finally:
        writer.abort()
    return columns


def _filled(attempt: Attempt, batches: Iterator[Any], schema: Any) -> list[tuple[str, str]]:
    """Writes the files of all batches. schema: if there are no rows, one file with these columns is
    written."""
    try:
        for batch in batches:
            attempt.write(batch)
        if schema is not None:
            attempt.write_no_rows(schema)
        return attempt.close()
    except BaseException:
        attempt.abort()
        raise


def _label(query: str, batch: int) -> str:
    return f"{query}-{batch:010d}"


def _scratch_of(query: str, batch: int) -> str:
    return f"_temporary-{_label(query, batch)}"


def _exists(path: str) -> FileError:
    hint = "use the mode overwrite to replace it, or set the option if_exists"
    return FileError(f"{path}: the output exists ({hint})", file=path, hint=hint)
