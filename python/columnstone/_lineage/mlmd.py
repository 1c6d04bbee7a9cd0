"""Import from and export to stores of ML Metadata (MLMD)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .._base.public import public_in
from .store import Store
from .values import placed

if TYPE_CHECKING:
    from .. import _core


@public_in("columnstone.lineage")
def import_mlmd(path: str | os.PathLike[str], store: Store) -> dict[str, int]:
    """Imports an MLMD SQLite store, and returns the numbers of records of each kind ("artifacts",
    ...). Records that were imported before are not added again."""
    return _counts(_of(store)._connection.core.import_mlmd(placed(path)))


@public_in("columnstone.lineage")
def export_mlmd(
    store: Store, path: str | os.PathLike[str], *, overwrite: bool = False
) -> dict[str, int]:
    """Exports the store to a new MLMD SQLite store, and returns the numbers of records of each
    kind.

    overwrite: replace an existing file; without it, an existing file is a FileError.
    """
    return _counts(_of(store)._connection.core.export_mlmd(placed(path), bool(overwrite)))


def _of(store: Store) -> Store:
    if not isinstance(store, Store):
        raise TypeError(f"expected a Store, not {type(store).__name__}")
    return store


def _counts(found: _core.Findings) -> dict[str, int]:
    columns = found[0].to_pydict()
    return dict(zip(columns["kind"], columns["count"], strict=True))
