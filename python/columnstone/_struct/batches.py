"""Batches of sources and datasets as structured tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._core import Pass, RecordBatch
    from .tensor import StructuredTensor


def structured_of(batch: RecordBatch) -> StructuredTensor:
    """The rows of a batch; no copy."""
    return cast("StructuredTensor", _core.structured(batch, False))


def structured_pass(batches: Pass[RecordBatch]) -> Iterator[StructuredTensor]:
    """The rest of a pass; closing the iterator closes the pass."""
    try:
        for batch in batches:
            yield structured_of(batch)
    finally:
        batches.close()
