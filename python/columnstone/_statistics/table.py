"""The table of features at one time, and the sketches that it was computed from."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .._base.errors import StateError, argument_error

if TYPE_CHECKING:
    from .. import _core


class Table:
    """The table of statistics, valid until rows are added."""

    batch: _core.RecordBatch
    totals: dict[str, int]

    def __init__(self, found: _core.Findings, handle: _core.Accumulator | None) -> None:
        self.batch, self.totals = found
        self._handle = handle
        self._is_current = True

    @property
    def has_sketches(self) -> bool:
        return self._handle is not None

    def sketched(self) -> _core.Accumulator:
        """The accumulator with the sketches of the rows."""
        if self._handle is None:
            raise argument_error("statistics that were read from a table have no sketches")
        if not self._is_current:
            raise StateError("the statistics have changed: get the feature from them again")
        return self._handle

    def outdate(self) -> None:
        self._is_current = False

    @functools.cached_property
    def rows(self) -> list[dict[str, Any]]:
        columns = self.batch.to_pydict()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    @functools.cached_property
    def places(self) -> dict[tuple[tuple[str, str], ...], dict[str, int]]:
        """Row numbers by slice, with sorted features, and by path."""
        found: dict[tuple[tuple[str, str], ...], dict[str, int]] = {(): {}}
        for number, row in enumerate(self.rows):
            key = tuple(sorted((part["path"], part["value"]) for part in row["slice"]))
            found.setdefault(key, {})[row["path"]] = number
        return found
