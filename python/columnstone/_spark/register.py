"""register: for sessions that do not find the data source by themselves."""

from __future__ import annotations

from typing import Any

from .._base.optional import need
from .._base.public import public_in


@public_in("columnstone.spark")
def register(spark: Any) -> None:
    """Registers the data source `columnstone` with a session. Spark 4 finds it by itself where the
    driver's Python has this package; this is for where it came later, such as by addArtifacts."""
    need("pyspark", "columnstone.spark.register")
    from .source import ColumnstoneSource

    spark.dataSource.register(ColumnstoneSource)
