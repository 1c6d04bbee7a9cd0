"""write: a data frame of Dask as files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.optional import need
from .._base.public import public_in
from .._engines.folder import Folder, Written

if TYPE_CHECKING:
    import os

    import dask.dataframe as dd
    import pandas as pd

    from .._engines.folder import Mode


@public_in("columnstone.dask")
def write(
    frame: dd.DataFrame,
    path: str | os.PathLike[str],
    format: str,
    *,
    mode: Mode = "append",
    **options: Any,
) -> list[str]:
    """Computes a data frame, writes each partition to a file, and returns the names of the files,
    "part-00000-<job>.<ending>", in the order of the partitions. A partition without rows has no
    file. A named index becomes the first column; an index without a name is not written.

    The files get their names when all partitions are written. Before that, and after a failure,
    none of them is visible; repeated tasks leave no duplicates.

    path: of a folder that all workers can access, or its URL.
    format, options: those of `columnstone.Writer`, such as compression and schema.
    mode: "append", "overwrite" (the old files are removed when the new ones are complete), or
        "error" (for a folder that contains files).
    """
    dask = need("dask", "columnstone.dask")
    folder = Folder(path, format, mode, options)
    folder.begin()
    write_part = dask.delayed(_write, pure=False)
    try:
        parts = [write_part(folder, i, part) for i, part in enumerate(frame.to_delayed())]
        written = dask.compute(*parts)
    except BaseException:
        folder.abort()
        raise
    return folder.commit(file for file in written if file is not None)


def _write(folder: Folder, number: int, part: pd.DataFrame) -> Written | None:
    """Called by a worker."""
    pa = need("pyarrow", "columnstone.dask")
    if any(name is not None for name in part.index.names):
        part = part.reset_index()
    return folder.write(number, [pa.Table.from_pandas(part, preserve_index=False)])
