"""The data source `columnstone`: which class does what. Loaded by Spark and its workers only."""

from __future__ import annotations

from pyspark.sql.datasource import DataSource


class ColumnstoneSource(DataSource):  # type: ignore[misc]
    """`self.options` are Spark's: names in lower case, values texts."""

    @classmethod
    def name(cls) -> str:
        return "columnstone"
