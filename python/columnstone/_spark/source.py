"""The data source `columnstone`: which class does what. Loaded by Spark and its workers only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from .writer import BatchWriter, StreamWriter


class ColumnstoneSource(DataSource):  # type: ignore[misc]
    """`self.options` are Spark's: names in lower case, values texts."""

    @classmethod
    def name(cls) -> str:
        return "columnstone"

    def writer(self, schema: StructType, overwrite: bool) -> BatchWriter:
        from .writer import BatchWriter

        return BatchWriter(self.options, schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> StreamWriter:
        from .writer import StreamWriter

        return StreamWriter(self.options, schema, overwrite)
