"""What makes `spark.read.format("columnstone")` work as it is: Spark looks into every package of a
name like this one for its DefaultSource."""

from columnstone._spark.source import ColumnstoneSource as DefaultSource

__all__ = ["DefaultSource"]
