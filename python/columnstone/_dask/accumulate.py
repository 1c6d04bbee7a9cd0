"""accumulate: what an accumulator finds in the rows of a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.optional import need
from .._base.public import public_in
from .._engines.accumulating import Look

if TYPE_CHECKING:
    import dask.dataframe as dd
    import pandas as pd

    from .._source.accumulate import AnyAccumulator


@public_in("columnstone.dask")
def accumulate(frame: dd.DataFrame, accumulator: str | AnyAccumulator[Any], **options: Any) -> Any:
    """Looks at all rows of a data frame, once, where they are; gives what an accumulator finds: a
    RecordBatch, or what one of the classes of columnstone.accumulate finishes as.

    accumulator: the name of one, with its options (columnstone.accumulate.accumulators lists them),
        or one whose finish() is wanted, such as columnstone.accumulate.Validation(schema),
        and which has found nothing yet.

    Only what each partition has found, in bytes, comes to the caller. The index is no column.

    >>> columnstone.dask.accumulate(frame, "lengths", columns=["tokens"]).to_pandas()
    """
    dask = need("dask", "columnstone.dask")
    look = Look(accumulator, options)

    def look_at_partition(rows: pd.DataFrame) -> bytes:
        arrow = need("pyarrow", "columnstone.dask")
        return look([arrow.Table.from_pandas(rows, preserve_index=False)])

    states = dask.compute(*(dask.delayed(look_at_partition)(part) for part in frame.to_delayed()))
    return look.merge(states)
