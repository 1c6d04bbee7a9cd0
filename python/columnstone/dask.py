"""Dask: data frames of files, and back.

frame = columnstone.dask.read("trips-*.tfrecord.gz", flat=True)
columnstone.dask.write(frame[frame.fare > 100], "out/", "parquet")
"""

from __future__ import annotations

from ._dask.accumulate import accumulate
from ._dask.read import read
from ._dask.write import write

__all__ = ["accumulate", "read", "write"]
