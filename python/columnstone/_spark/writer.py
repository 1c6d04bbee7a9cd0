"""The writers of the data source: attempts that are committed, in full or not at all.

Every attempt of a task writes into `_temporary-JOB/TASK-ATTEMPT/` in the output's folder. What
Spark takes for the one attempt of a task that counts comes to the driver as a message; the commit
gives the files of these their final names, by renaming, and removes the folder with all that others
wrote.
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
    """What an attempt has written: names as they are, and as they are to be."""

    files: list[tuple[str, str]]
    query: str = ""  # of a stream


class BatchWriter(DataSourceArrowWriter):  # type: ignore[misc]
    """`df.write`. Made on the driver, before the job; its pickles do everything else."""

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
        """Takes back what has its name already, unless the commit had come so far that data would
        be lost."""
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
    """`df.writeStream`. Made anew for every micro-batch, and for every commit.

    The names of a micro-batch's files are made of the query's id, which the checkpoint holds, and
    the number of the micro-batch: one that is done again replaces what it has written before.
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
            raise StateError("the task does not say which micro-batch of which query it is of")
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
        """What has its name already stays: the query ends, and begins with this micro-batch
        again."""
        place = place_of(self._output.path)
        for query in {message.query for message in messages if message}:
            Staging(place, _scratch_of(query, batchId)).remove()


def checked_schema(output: Output, schema: StructType) -> Any:
    """The columns of the files, as a pyarrow.Schema. What the format cannot hold is an error here,
    before any task runs."""
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
    """The files of all batches. schema: without rows, one file of these columns is written."""
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
    hint = "mode overwrite replaces it, the option if_exists says something else"
    return FileError(f"{path}: the output exists ({hint})", file=path, hint=hint)
