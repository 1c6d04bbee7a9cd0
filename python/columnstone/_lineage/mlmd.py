"""From and to stores of ML Metadata (MLMD)."""

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
    """Adds all of an MLMD SQLite store, and tells how many of each kind ("artifacts", ...). What
    was imported before is not added again."""
    return _counts(_of(store)._connection.core.import_mlmd(placed(path)))


@public_in("columnstone.lineage")
def export_mlmd(
    store: Store, path: str | os.PathLike[str], *, overwrite: bool = False
) -> dict[str, int]:
    """Writes a new MLMD SQLite store with all of this one, and tells how many of each kind.

    overwrite: a file that is there is replaced; without it that is a FileError.
    """
    return _counts(_of(store)._connection.core.export_mlmd(placed(path), bool(overwrite)))


def _of(store: Store) -> Store:
    if not isinstance(store, Store):
        raise TypeError(f"expected a Store, not {type(store).__name__}")
    return store


def _counts(found: _core.Findings) -> dict[str, int]:
    columns = found[0].to_pydict()
    return dict(zip(columns["kind"], columns["count"], strict=True))
