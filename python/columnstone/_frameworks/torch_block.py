"""A batch as one block of memory: packed on the host, copied to a device at once, and unpacked
there as views of the copy."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .._core import StructuredBase, Tensor
from .._tensor.conversion import flat_tensors
from .._tensor.tensor import SparseTensor
from .torch import to_torch
from .torch_packing import Packer, Reader
from .torch_tensors import StringTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from .torch_packing import Layout


class HostBlock:
    """An item (a batch, or tuples, lists and dicts of tensors) whose numbers lie in one block.
    Strings, and what is neither numbers nor in the memory of the host, stay beside it."""

    def __init__(self, item: Any, pinned: bool) -> None:
        self._pinned = pinned
        packer = _ItemPacker()
        self._layout = packer.add(item)
        self.block: Any = None  # of bytes
        self._places = packer.pack(self._room)
        self._values = packer.values

    def _room(self, size: int) -> Any:
        self.block = torch.empty(size, dtype=torch.uint8, pin_memory=self._pinned)
        return self.block.numpy()

    def unpacked(self, block: Any, move: Callable[[Any], Any]) -> Any:
        """The item, with views of `block`, a copy of the block on any device, and with
        move(tensor) of each tensor that is not in it."""
        values = (move(v) if isinstance(v, torch.Tensor) else v for v in self._values)
        return _BlockReader(block, self._places, values).read(self._layout)


class _ItemPacker(Packer):
    """Takes whole items. Strings are not put into the block: a device has no use for them."""

    def add(self, value: Any) -> Layout:
        if isinstance(value, StructuredBase):
            value = flat_tensors(value)
        if isinstance(value, Mapping):
            made = ("dict", tuple(value), tuple(map(self.add, value.values())))
            return ("like", made, self._alone(value))
        if isinstance(value, tuple | list):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return (kind, *map(self.add, value))
        if isinstance(value, StringTensor):
            return self._alone(value)
        if isinstance(value, Tensor) and value.dtype == "bytes":
            return self._alone(to_torch(value))
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
            value = torch.tensor(value)  # a copy, because many cannot be written to
        if isinstance(value, SparseTensor) and isinstance(value.indices, Tensor):
            value = to_torch(value)
        return super().add(value)


class _BlockReader(Reader):
    """Makes views of a block on any device."""

    def __init__(self, block: Any, places: Any, values: Any) -> None:
        super().__init__(memoryview(b""), places, values)
        self._block = block

    def _numbers(self, dtype: Any, torch_dtype: Any) -> Any:
        begin, shape, _ = next(self._places)
        found = torch_dtype or _torch_dtype(dtype)
        size = math.prod(shape) * found.itemsize
        return self._block[begin : begin + size].view(found).view(shape)


@functools.cache
def _torch_dtype(dtype: Any) -> Any:
    return torch.from_numpy(np.empty(0, dtype)).dtype
