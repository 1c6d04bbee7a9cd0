"""read: files as a data frame of Dask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.optional import need
from .._base.public import public_in
from .._engines.reading import BATCHES, Reading, read_by, splits_of, tasks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dask.dataframe as dd
    import pandas as pd

    from .._api.open import AnyInput
    from .._source.split import Split


@public_in("columnstone.dask")
def read(
    paths: AnyInput,
    format: str | None = None,
    *,
    target_bytes: int | None = None,
    **options: Any,
) -> dd.DataFrame:
    """Files of any format as a data frame of Dask: one partition for each planned task, with
    columns of Arrow types (pandas.ArrowDtype).

    paths, format, options: as for `columnstone.open`. flat=True gives plain values where the schema
        has exactly one value. Without schema or sample_records, all files may be read first for
        inference.
    target_bytes: of a partition on disk, as for `columnstone.plan`; 64 MiB by default.

    Unused columns are not decoded. The same files and options give the same partitions with the
    same keys.
    """
    dask = need("dask", "columnstone.dask")
    frames = need("dask.dataframe", "columnstone.dask")
    given = {"format": format, **options}
    reading = read_by(paths, {**BATCHES, **given})
    tasks = tasks_of(splits_of(paths, given, target_bytes, reading.is_numbered))
    partition = Partition(reading)
    with dask.config.set({"dataframe.convert-string": False}):  # strings have Arrow's type already
        return frames.from_map(partition, tasks, meta=partition(()), label="columnstone-read")


class Partition:
    """Called by a worker for each task."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def __call__(
        self, splits: Sequence[Split], columns: Sequence[str] | None = None
    ) -> pd.DataFrame:
        pa, pd = need("pyarrow", "columnstone.dask"), need("pandas", "columnstone.dask")
        reading = self._reading if columns is None else self._reading.select(columns)
        batches = reading.batches(splits) if splits else []
        table = pa.Table.from_batches(batches, reading.schema)
        return table.to_pandas(types_mapper=pd.ArrowDtype)

    def __dask_tokenize__(self) -> tuple[str, bytes]:
        """A token that is equal for equal readings, in other processes too."""
        return "columnstone", need("cloudpickle", "columnstone.dask").dumps(self._reading)
