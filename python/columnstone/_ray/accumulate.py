"""accumulate: runs an accumulator over the rows of a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.optional import need
from .._base.public import public_in
from .._engines.accumulating import Look

if TYPE_CHECKING:
    import pyarrow as pa
    import ray.data

    from .._source.accumulate import AnyAccumulator


@public_in("columnstone.ray")
def accumulate(
    dataset: ray.data.Dataset, accumulator: str | AnyAccumulator[Any], **options: Any
) -> Any:
    """Runs an accumulator over all rows of a dataset, once, where they are stored. Returns its
    result: a RecordBatch, or the result of a class of columnstone.accumulate.

    accumulator: the name of an accumulator, with its options (columnstone.accumulate.accumulators
        lists them), or an empty accumulator whose finish() gives the result, such as
        columnstone.accumulate.Validation(schema).

    Only the state of each block, in bytes, is sent to the driver. Ray returns the blocks in an
    unknown order. The result does not depend on it, except for the places that an anomaly names.

    >>> columnstone.ray.accumulate(dataset, "lengths", columns=["tokens"]).to_pandas()
    """
    look = Look(accumulator, options)

    def look_at_block(block: pa.Table) -> pa.Table:
        arrow = need("pyarrow", "columnstone.ray")
        return arrow.table({"state": arrow.array([look([block])], "binary")})

    states = dataset.map_batches(look_at_block, batch_format="pyarrow", batch_size=None)
    return look.merge(row["state"] for row in states.iter_rows())
