"""accumulate: runs an accumulator over the rows of a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.optional import need
from .._base.public import public_in
from .._engines.accumulating import Look

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from .._source.accumulate import AnyAccumulator


@public_in("columnstone.spark")
def accumulate(frame: DataFrame, accumulator: str | AnyAccumulator[Any], **options: Any) -> Any:
    """Runs an accumulator over all rows of a data frame, once, where they are stored. Returns its
    result: a RecordBatch, or the result of a class of columnstone.accumulate.

    accumulator: the name of an accumulator, with its options (columnstone.accumulate.accumulators
        lists them), or an empty accumulator whose finish() gives the result, such as
        columnstone.accumulate.Validation(schema).

    Only the state of each partition, in bytes, is sent to the driver.

    >>> columnstone.spark.accumulate(frame, "lengths", columns=["tokens"]).to_pandas()
    """
    look = Look(accumulator, options)

    def look_at_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        arrow = need("pyarrow", "columnstone.spark")
        yield arrow.RecordBatch.from_pydict({"state": arrow.array([look(batches)], "binary")})

    states = frame.mapInArrow(look_at_partition, "state binary").collect()
    return look.merge(bytes(row.state) for row in states)
