"""Datasource: planned splits as Ray's read tasks. Imported only with Ray."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import ray
import ray.data
from ray.data._internal.arrow_block import _BATCH_SIZE_PRESERVING_STUB_COL_NAME as _NO_COLUMN
from ray.data.block import BlockMetadata
from ray.data.datasource import ReadTask

from .._base.public import public_in
from .._engines.reading import BATCHES, Reading, disk_bytes, growth, read_by, splits_of, tasks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .._api.open import AnyInput
    from .._source.split import Split


@public_in("columnstone.ray")
class Datasource(ray.data.Datasource):  # type: ignore[misc]
    """Files as a data source of Ray Data: one read task for each planned task, one table for each
    batch.

    paths, options: those of `columnstone.open`. Everything that they leave to inference is
        determined here, on the driver; see sample_records. A batch has 16,384 rows, or 16 MiB.
    target_bytes: of a task, as for `columnstone.plan`.

    Unused columns are not decoded, because select_columns is pushed down to here.
    """

    def __init__(self, paths: AnyInput, *, target_bytes: int | None = None, **options: Any) -> None:
        super().__init__()
        self._projection_map: dict[str, str] | None = None
        self._reading = read_by(paths, {**BATCHES, **options})
        self._tasks = tasks_of(splits_of(paths, options, target_bytes, self._reading.is_numbered))
        self._growth: float | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns of the tables."""
        return self._reading.schema

    def get_name(self) -> str:
        return "Columnstone"

    def supports_projection_pushdown(self) -> bool:
        return True

    def apply_projection(self, projection_map: dict[str, str] | None) -> Datasource:
        some: Datasource = super().apply_projection(projection_map)
        columns = some._get_data_columns()
        if columns is not None:
            some._reading = self._reading.select(columns)
            some._growth = None
        return some

    def estimate_inmemory_data_size(self) -> int | None:
        return self._in_memory(*self._tasks)

    def get_read_tasks(
        self,
        parallelism: int,
        per_task_row_limit: int | None = None,
        data_context: object | None = None,
    ) -> list[ReadTask]:
        """One read task for each planned task, whatever the parallelism: use target_bytes to plan
        others.

        Everything that the tasks share is in Ray's object store once, because the columns of a wide
        schema are many times larger than the rest of a task. For the same reason only the first
        task has the schema; Ray takes the schema from the tasks that have one.
        """
        reading = ray.put(self._reading)
        return [
            ReadTask(
                _read(reading, splits),
                BlockMetadata(
                    num_rows=None,  # Ray takes a number for the truth
                    size_bytes=self._in_memory(splits),
                    input_files=list(dict.fromkeys(split.file for split in splits)),
                    exec_stats=None,
                ),
                schema=self._reading.schema if i == 0 else None,
                per_task_row_limit=per_task_row_limit,
            )
            for i, splits in enumerate(self._tasks)
        ]

    def _in_memory(self, *tasks: tuple[Split, ...]) -> int | None:
        on_disk = disk_bytes(split for splits in tasks for split in splits)
        if on_disk is None:
            return None
        if self._growth is None:
            self._growth = growth(self._reading, self._tasks[0][0]) if self._tasks else 1.0
        return math.ceil(on_disk * self._growth)


def _read(
    reading: ray.ObjectRef[Reading], splits: tuple[Split, ...]
) -> Callable[[], Iterator[pa.Table]]:
    """Called by a worker."""

    def read() -> Iterator[pa.Table]:
        return _tables(ray.get(reading), splits)

    return read


def _tables(reading: Reading, splits: tuple[Split, ...]) -> Iterator[pa.Table]:
    for batch in reading.batches(splits):
        table = pa.Table.from_batches([batch])
        # Ray counts rows by columns, so that a table without columns has this column instead.
        yield table if table.num_columns else table.append_column(_NO_COLUMN, pa.nulls(len(batch)))
