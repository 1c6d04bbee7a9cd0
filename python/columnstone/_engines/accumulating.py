"""Accumulators in engines: each worker looks at its batches and sends what it has found, in bytes,
which the driver merges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._source.accumulate import AnyAccumulator, empty_of

if TYPE_CHECKING:
    from collections.abc import Iterable


class Look:
    """What a worker does with its batches. It pickles small."""

    def __init__(self, accumulator: str | AnyAccumulator[Any], options: dict[str, Any]) -> None:
        self._empty: AnyAccumulator[Any] = empty_of(accumulator, options)

    def __call__(self, batches: Iterable[Any]) -> bytes:
        """The state of batches, or tables, that follow each other."""
        found = self._empty._empty()
        for batch in batches:
            found.add(batch)
        return found._handle.save()

    def merge(self, states: Iterable[bytes]) -> Any:
        """What is found in all of them, whose rows follow each other."""
        merged = self._empty._empty()
        for state in states:
            merged.merge(self._empty._loaded(state))
        return merged.finish()
