"""The data source `columnstone`: its classes. It is imported by Spark and its workers, and by every
session that looks for data sources; therefore it imports nothing else until one is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from .reader import Reader
    from .reading import Table
    from .stream import StreamReader
    from .writer import BatchWriter, StreamWriter


class ColumnstoneSource(DataSource):  # type: ignore[misc]
    """`self.options` are Spark's: lower-case names, and texts as values. Spark makes one data
    source per load, asks it for the schema unless that was given, and pickles it to the processes
    that need the rest, together with what was inferred."""

    _table: Table | None = None

    @classmethod
    def name(cls) -> str:
        return "columnstone"

    def schema(self) -> StructType:
        from .reading import infer_table, parse_load

        load = parse_load(self.options, streams=True)
        self._table = infer_table(load, load.find())
        return self._table.schema()

    def reader(self, schema: StructType) -> Reader:
        from .reader import Reader
        from .reading import parse_load

        return Reader(parse_load(self.options), schema, self._table)

    def streamReader(self, schema: StructType) -> StreamReader:
        from .reading import parse_load
        from .stream import StreamReader

        return StreamReader(parse_load(self.options, streams=True), schema, self._table)

    def writer(self, schema: StructType, overwrite: bool) -> BatchWriter:
        from .writer import BatchWriter

        return BatchWriter(self.options, schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> StreamWriter:
        from .writer import StreamWriter

        return StreamWriter(self.options, schema, overwrite)
