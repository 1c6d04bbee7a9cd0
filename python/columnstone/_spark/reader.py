"""Reading in tasks: the driver plans them, workers read them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from .._engines.reading import Reading, splits_of, tasks_of
from .folders import Found, PartitionColumn, partition_columns
from .pruning import may_hold
from .reading import Load, Table, check_there, given_table
from .types import arrow_schema, cast_batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql.types import StructType

    from .._source.split import Split

Texts = tuple[str | None, ...]  # of the folders of a file


class Task(InputPartition):  # type: ignore[misc]
    """The part that one worker reads: splits, each with the texts from its file's folders."""

    def __init__(self, splits: Sequence[tuple[Split, Texts]]) -> None:
        self.splits = tuple(splits)


def plan_tasks(load: Load, found: Sequence[Found], reading: Reading) -> list[Task]:
    """Divides files into tasks by their sizes."""
    if not found:
        return []
    texts = {entry.file: tuple(text for _, text in entry.folders) for entry in found}
    files = [entry.file for entry in found]
    target = load.own.get("target_bytes")
    splits = splits_of(files, load.options, target, reading.is_numbered)
    return [Task([(split, texts[split.file]) for split in task]) for task in tasks_of(splits)]


class TaskReader:
    """Returns the columns that Spark wants from the splits of a task."""

    def __init__(self, reading: Reading, folders: Sequence[PartitionColumn], schema: StructType):
        self.reading = reading
        self._wanted = arrow_schema(schema)
        self._folders = list(folders)

    def read(self, task: Task) -> Iterator[pa.RecordBatch]:
        for texts, group in itertools.groupby(task.splits, key=lambda pair: pair[1]):
            splits = [split for split, _ in group]
            values = self._values(texts)
            for batch in self.reading.batches(splits):
                yield self._complete(batch, values)

    def _values(self, texts: Texts) -> dict[str, pa.Scalar]:
        """Values of the columns from the names of folders."""
        return {
            column.name: column.value(text)
            for column, text in zip(self._folders, texts, strict=True)
            if column.name in self._wanted.names
        }

    def _complete(self, batch: pa.RecordBatch, values: dict[str, pa.Scalar]) -> pa.RecordBatch:
        if not values:
            return cast_batch(batch, self._wanted)
        in_files = pa.schema([field for field in self._wanted if field.name not in values])
        given = cast_batch(batch, in_files)
        columns = [
            pa.repeat(values[name], batch.num_rows) if name in values else given.column(name)
            for name in self._wanted.names
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._wanted)


class Reader(DataSourceReader):  # type: ignore[misc]
    """The reader of one load. It is pickled to the workers, without the list of files."""

    def __init__(self, load: Load, schema: StructType, table: Table | None) -> None:
        self._load = load
        self._filters: list[Any] = []
        found = load.find()
        if table is None:
            names = [column.name for column in partition_columns(found)]
            check_there(load, found, schema)
            table = given_table(load, found, names, schema)
        self._folders = table.folders
        self._tasks = TaskReader(table.reading, table.folders, schema)
        self._found = found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_found": []}

    @property
    def pushFilters(self) -> _Pushdown:
        return _Pushdown(self)

    def keep_filters(self, filters: Iterable[Any]) -> list[Any]:
        """Skips the files whose folders contradict a filter. Spark applies all filters again."""
        self._filters = list(filters)
        return list(self._filters)

    def partitions(self) -> Sequence[InputPartition]:
        found = self._found
        if self._filters and self._folders:
            found = [entry for entry in found if self._may_hold(entry)]
        # For an empty list, Spark makes a task of its own.
        return plan_tasks(self._load, found, self._tasks.reading) or [Task([])]

    def _may_hold(self, entry: Found) -> bool:
        values = {
            column.name: column.value(text).as_py()
            for column, (_, text) in zip(self._folders, entry.folders, strict=True)
        }
        return all(may_hold(condition, values) for condition in self._filters)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._tasks.read(partition)


class _Pushdown:
    """Reader.pushFilters, as a callable. Spark refuses to plan a reader that overrides the method
    while spark.sql.python.filterPushdown.enabled is false (the default); it examines `__func__`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.__func__ = getattr(DataSourceReader, "pushFilters", None)  # Spark 4.0 has none

    def __call__(self, filters: Iterable[Any]) -> list[Any]:
        return self._reader.keep_filters(filters)
