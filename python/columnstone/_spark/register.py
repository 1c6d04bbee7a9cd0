"""register: for sessions that do not find the data source by themselves."""

from __future__ import annotations

from typing import Any

from .._base.optional import need
from .._base.public import public_in


@public_in("columnstone.spark")
def register(spark: Any) -> None:
    """Registers the data source `columnstone` with a session. Spark 4 finds it by itself if the
    driver's Python has this package; call this if the package was added later, for example with
    addArtifacts."""
    need("pyspark", "columnstone.spark.register")
    from .source import ColumnstoneSource

    spark.dataSource.register(ColumnstoneSource)
