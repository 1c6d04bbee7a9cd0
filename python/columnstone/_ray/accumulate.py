"""accumulate: what an accumulator finds in the rows of a dataset."""

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
    """Looks at all rows of a dataset, once, where they are; gives what an accumulator finds: a
    RecordBatch, or what one of the classes of columnstone.accumulate finishes as.

    accumulator: the name of one, with its options (columnstone.accumulate.accumulators lists them),
        or one whose finish() is wanted, such as columnstone.accumulate.Validation(schema),
        and which has found nothing yet.

    Only what each block has found, in bytes, comes to the driver. In what order Ray hands the
    blocks over is not known: results are the same in any, but for which places an anomaly names.

    >>> columnstone.ray.accumulate(dataset, "lengths", columns=["tokens"]).to_pandas()
    """
    look = Look(accumulator, options)

    def look_at_block(block: pa.Table) -> pa.Table:
        arrow = need("pyarrow", "columnstone.ray")
        return arrow.table({"state": arrow.array([look([block])], "binary")})

    states = dataset.map_batches(look_at_block, batch_format="pyarrow", batch_size=None)
    return look.merge(row["state"] for row in states.iter_rows())
