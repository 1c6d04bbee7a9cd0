"""Sink and TFRecordSink: write Ray's blocks to files. Imported only with Ray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ray.data import Datasink
from ray.data.block import BlockAccessor

from .._base.public import public_in
from .._engines.folder import Folder, Written

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from ray.data._internal.execution.interfaces import TaskContext
    from ray.data.datasource import WriteResult

    from .._engines.folder import Mode


@public_in("columnstone.ray")
class Sink(Datasink):  # type: ignore[misc]
    """A folder of files of any format: `dataset.write_datasink(Sink("out/", "parquet"))`.

    Each write task makes one file, under a name of its own, in a hidden folder inside `path`. When
    all tasks have ended, the files are renamed to "part-00000-<job>.<ending>". Before that, and
    after a failure, none of them is visible; repeated tasks leave no duplicates.

    path: of the folder, on a disk that all nodes share, or its URL.
    format, options: those of `columnstone.Writer`, such as compression and schema.
    mode: "append", "overwrite" (the old files are removed when the new ones are complete), or
        "error" (for a folder that contains files).
    min_rows_per_file: collect blocks until a file has this many rows. By default, a Ray task writes
        what it has: the output of one read task, or one block of a shuffled dataset.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        format: str,
        *,
        mode: Mode = "append",
        min_rows_per_file: int | None = None,
        **options: Any,
    ) -> None:
        self._folder = Folder(path, format, mode, options)
        self._min_rows = min_rows_per_file
        #: The names of the files of the last write.
        self.files: list[str] = []

    def get_name(self) -> str:
        return "Columnstone"

    @property
    def min_rows_per_write(self) -> int | None:
        return self._min_rows

    def on_write_start(self, schema: object | None = None) -> None:
        self._folder.begin()

    def write(self, blocks: Iterable[Any], ctx: TaskContext) -> Written | None:
        tables = (BlockAccessor.for_block(block).to_arrow() for block in blocks)
        return self._folder.write(ctx.task_idx, tables)

    def on_write_complete(self, write_result: WriteResult[Written | None]) -> None:
        written = [file for file in write_result.write_returns if file is not None]
        self.files = self._folder.commit(written)
        self._folder = self._folder.again()

    def on_write_failed(self, error: Exception) -> None:
        self._folder.abort()
        self._folder = self._folder.again()


@public_in("columnstone.ray")
class TFRecordSink(Sink):
    """A folder of TFRecord files.

    payload: the content of records: "example", "sequence_example", "message" or "raw".
    Other options are those of `Sink`.
    """

    def __init__(
        self, path: str | os.PathLike[str], payload: str = "example", **options: Any
    ) -> None:
        super().__init__(path, payload, **options)
