"""PyTorch tensors that torch cannot create with one call, and strings, which it does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .._base.public import public
from .._core import join_strings, split_strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .._core import Tensor


def sparse_coo(indices: Any, values: Any, shape: Sequence[int], coalesced: bool) -> Any:
    """From indices [n, rank] that are known to be valid."""
    return torch.sparse_coo_tensor(
        indices.T, values, shape, is_coalesced=coalesced, check_invariants=False
    )


def lengths_of(offsets: Any) -> tuple[int, int]:
    """The lengths of the shortest and the longest row."""
    lengths = offsets.diff()
    return (int(lengths.min()), int(lengths.max())) if len(lengths) > 0 else (0, 0)


class Offsets:
    """The offsets of a batch's jagged tensors. Torch adds two of these only if they share one
    tensor of offsets, so that equal offsets are merged into one. The values of one list always have
    equal offsets, but in buffers of their own after rows were taken or columns were computed."""

    def __init__(self) -> None:
        self._found: dict[tuple[Any, int, int], list[tuple[Any, int, int, int]]] = {}
        self._count = 0

    def shared(self, offsets: Any) -> tuple[Any, int, int, int]:
        """The tensor for these offsets, the lengths of the shortest and the longest row, and its
        number: the number of different offsets before it."""
        total = int(offsets[-1]) if len(offsets) > 0 else 0
        found = self._found.setdefault((offsets.dtype, len(offsets), total), [])
        for one in found:
            if one[0] is offsets or torch.equal(one[0], offsets):
                return one
        found.append((offsets, *lengths_of(offsets), self._count))
        self._count += 1
        return found[-1]


def jagged(values: Any, offsets: Any, shortest: int, longest: int) -> Any:
    """A nested tensor with rows of `shortest` to `longest` values."""
    return torch.nested.nested_tensor_from_jagged(
        values, offsets, min_seqlen=shortest, max_seqlen=longest
    )


@public
class StringTensor:
    """The strings of a batch in PyTorch, which has no tensors of strings.

    Indexing, iterating, numpy(), tolist() and numpy.asarray return bytes objects, which are created
    when they are first needed. Until then it costs almost nothing, also on the way from a worker.
    """

    __slots__ = ("_array", "content", "shape")

    dtype = "bytes"
    shape: tuple[int, ...]

    def __init__(self, content: Tensor | tuple[Any, Any], shape: tuple[int, ...]) -> None:
        self.content = content  # or data and lengths, as join_strings gives them
        self._array: Any = None
        self.shape = shape

    def numpy(self) -> Any:
        """An array of bytes objects."""
        content = self.content
        if self._array is None and isinstance(content, tuple):
            values = split_strings(*content)
            self._array = np.fromiter(values, object, len(values)).reshape(self.shape)
        elif self._array is None and not isinstance(content, tuple):
            self._array = content.numpy()
        return self._array

    def tolist(self) -> Any:
        """Nested lists of bytes objects."""
        return self.numpy().tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.numpy(), dtype, copy=copy)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        return self.numpy()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.numpy())

    def __reduce__(self) -> tuple[Any, ...]:
        content = self.content
        if isinstance(content, tuple):
            data, lengths = content
            joined = bytes(data), bytes(lengths)
        else:
            joined = join_strings(content)
        return StringTensor, (joined, self.shape)

    def __repr__(self) -> str:
        return f"<columnstone.StringTensor {self.shape}>"
