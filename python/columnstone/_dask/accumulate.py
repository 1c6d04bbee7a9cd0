"""accumulate: runs an accumulator over the rows of a data frame."""

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
    """Runs an accumulator over all rows of a data frame, once, where they are stored. Returns its
    result: a RecordBatch, or the result of a class of columnstone.accumulate.

    accumulator: the name of an accumulator, with its options (columnstone.accumulate.accumulators
        lists them), or an empty accumulator whose finish() gives the result, such as
        columnstone.accumulate.Validation(schema).

    Only the state of each partition, in bytes, is sent to the caller. The index is not a column.

    >>> columnstone.dask.accumulate(frame, "lengths", columns=["tokens"]).to_pandas()
    """
    dask = need("dask", "columnstone.dask")
    look = Look(accumulator, options)

    def look_at_partition(rows: pd.DataFrame) -> bytes:
        arrow = need("pyarrow", "columnstone.dask")
        return look([arrow.Table.from_pandas(rows, preserve_index=False)])

    states = dask.compute(*(dask.delayed(look_at_partition)(part) for part in frame.to_delayed()))
    return look.merge(states)
