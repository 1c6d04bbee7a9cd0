"""Accumulators in engines: each worker adds its batches and sends the state, as bytes, to the
driver, which merges the states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._source.accumulate import AnyAccumulator, empty_of

if TYPE_CHECKING:
    from collections.abc import Iterable


class Look:
    """A worker's part of an accumulation. It pickles small."""

    def __init__(self, accumulator: str | AnyAccumulator[Any], options: dict[str, Any]) -> None:
        self._empty: AnyAccumulator[Any] = empty_of(accumulator, options)

    def __call__(self, batches: Iterable[Any]) -> bytes:
        """The state after a sequence of batches or tables."""
        found = self._empty._empty()
        for batch in batches:
            found.add(batch)
        return found._handle.save()

    def merge(self, states: Iterable[bytes]) -> Any:
        """The result of several states whose rows follow each other."""
        merged = self._empty._empty()
        for state in states:
            merged.merge(self._empty._loaded(state))
        return merged.finish()
