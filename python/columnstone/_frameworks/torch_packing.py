"""Packs PyTorch tensors into one block of memory, and unpacks them.

A layout describes the content of a block. It is the same for all batches with the same keys and
kinds of tensors. It is a tuple:

    ("numbers", dtype of numpy, dtype of torch if numpy has no such one)
    ("strings",)
    ("value",)                  what is not in the block: the next one of the values beside it
    ("dict", names, layouts)
    ("jagged", values, number, *layouts)
                                a jagged tensor with offsets of that number in the block: those of
                                the layouts (with the shortest and the longest row), or without
                                these the offsets of another one before it
    (maker, *layouts)           what one of _MAKERS makes of its parts

The places, as pack_arrays returns them, have the position and the shape of each array.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .._core import Tensor, pack_arrays
from .._tensor.conversion import like
from .._tensor.tensor import RaggedTensor, SparseTensor
from .torch_tensors import Offsets, StringTensor, jagged, sparse_coo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    Layout: TypeAlias = tuple[Any, ...]
    Places: TypeAlias = list[tuple[int, tuple[int, ...], int]]

_STRINGS = ("strings",)
_VALUE = ("value",)


class Packer:
    """Finds the arrays in a value, and copies them into a block."""

    def __init__(self, jagged: bool = True) -> None:
        self._jagged = jagged
        self._arrays: list[Any] = []
        self._offsets = Offsets()
        self._num_offsets = 0  # that are in the block
        self.values: list[Any] = []  # what pickles alone

    def pack(self, room: Callable[[int], Any]) -> Places:
        """Copies all arrays into the memory that room(size) returns."""
        return pack_arrays(tuple(self._arrays), room)

    def add(self, value: Any) -> Layout:
        """The layout of tensors: torch tensors, or dense and ragged tensors of this package, which
        are unpacked as to_torch converts them."""
        if isinstance(value, Tensor):
            strings = value.dtype == "bytes"
            return self._array(value, _STRINGS if strings else _numbers_of(value.dtype))
        if isinstance(value, StringTensor):
            content = value.content
            joined = (*content, value.shape) if isinstance(content, tuple) else content
            return self._array(joined, _STRINGS)
        if isinstance(value, dict):
            return ("dict", tuple(value), tuple(map(self.add, value.values())))
        if isinstance(value, RaggedTensor):
            return self._add_ragged(value)
        if isinstance(value, SparseTensor):
            return ("sparse", *map(self.add, (value.indices, value.values, value.dense_shape)))
        if isinstance(value, torch.Tensor) and value.device.type == "cpu":
            return self._add_tensor(value)
        return self._alone(value)

    def _add_ragged(self, tensor: RaggedTensor) -> Layout:
        values, splits = tensor.values, tensor.row_splits
        is_numbers = isinstance(values, Tensor) and values.dtype != "bytes"
        if is_numbers and len(splits) == 1 and self._jagged:
            return self._add_jagged(values, torch.from_dlpack(splits[0]))
        return ("ragged", *map(self.add, (values, *splits)))

    def _add_jagged(self, values: Any, own_offsets: Any) -> Layout:
        offsets, shortest, longest, number = self._offsets.shared(own_offsets)
        layout = ("jagged", self.add(values), number)
        if number < self._num_offsets:
            return layout
        self._num_offsets += 1
        return (*layout, self.add(offsets), *map(self._alone, (shortest, longest)))

    def _add_tensor(self, tensor: Any) -> Layout:
        if tensor.is_nested and tensor.layout == torch.jagged:
            return self._add_jagged(tensor.values(), tensor.offsets())
        if tensor.layout == torch.sparse_coo:
            parts = map(self.add, (tensor._indices().T, tensor._values()))
            rest = (tuple(tensor.shape), tensor.is_coalesced())
            return ("sparse_coo", *parts, *map(self._alone, rest))
        if tensor.is_nested or tensor.layout != torch.strided or tensor.requires_grad:
            return self._alone(tensor)
        if tensor.is_quantized or tensor.is_conj() or tensor.is_neg():
            return self._alone(tensor)
        layout = _numbers_of(tensor.dtype)
        values = tensor.contiguous()
        if layout[2] is not None:
            values = values.view(_BITS[tensor.dtype.itemsize])
        return self._array(values.numpy(), layout)

    def _array(self, array: Any, layout: Layout) -> Layout:
        self._arrays.append(array)
        return layout

    def _alone(self, value: Any) -> Layout:
        self.values.append(value)
        return _VALUE


_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@functools.cache
def _numbers_of(dtype: Any) -> Layout:
    """The layout of numbers with a dtype, which is torch's, or a name of this package."""
    if isinstance(dtype, str):
        return ("numbers", np.dtype(dtype), None)
    try:
        return ("numbers", torch.empty(0, dtype=dtype).numpy().dtype, None)
    except TypeError:
        return ("numbers", torch.empty(0, dtype=_BITS[dtype.itemsize]).numpy().dtype, dtype)


def unpacked(block: Any, layout: Layout, places: Places, values: Iterable[Any]) -> Any:
    """The packed value, with arrays inside the block: a writable buffer or a torch tensor."""
    raw = block.numpy() if isinstance(block, torch.Tensor) else block
    return Reader(memoryview(raw), places, values).read(layout)


class Reader:
    """Makes what a layout describes, of memory of the host."""

    def __init__(self, memory: memoryview, places: Places, values: Iterable[Any]) -> None:
        self._memory = memory
        self._places = iter(places)
        self._values = iter(values)
        self._offsets: list[list[Any]] = []  # by number: offsets, the shortest and the longest row

    def read(self, layout: Layout) -> Any:
        kind = layout[0]
        if kind == "strings":
            return self._strings()
        if kind == "numbers":
            return self._numbers(*layout[1:])
        if kind == "dict":
            return dict(zip(layout[1], map(self.read, layout[2]), strict=True))
        if kind == "value":
            return next(self._values)
        if kind == "jagged":
            return self._jagged(*layout[1:])
        return _MAKERS[kind](*map(self.read, layout[1:]))

    def _jagged(self, values: Layout, number: int, *offsets: Layout) -> Any:
        made = self.read(values)
        if offsets:
            self._offsets.append(list(map(self.read, offsets)))
        return jagged(made, *self._offsets[number])

    def _strings(self) -> StringTensor:
        begin, shape, size = next(self._places)
        data = begin + 8 * math.prod(shape)  # after the lengths
        return StringTensor((self._memory[data : data + size], self._memory[begin:data]), shape)

    def _numbers(self, dtype: Any, torch_dtype: Any) -> Any:
        begin, shape, _ = next(self._places)
        array: Any = np.ndarray(shape, dtype, self._memory, begin)
        tensor = torch.from_numpy(array)
        return tensor if torch_dtype is None else tensor.view(torch_dtype)


def _ragged_of(values: Any, *splits: Any) -> RaggedTensor:
    return RaggedTensor(values, list(splits))


def _like(made: dict[str, Any], given: Any) -> Any:
    return like(given, made)


def _tuple_of(*parts: Any) -> tuple[Any, ...]:
    return parts


def _list_of(*parts: Any) -> list[Any]:
    return list(parts)


_MAKERS: dict[str, Callable[..., Any]] = {
    "like": _like,
    "list": _list_of,
    "ragged": _ragged_of,
    "sparse": SparseTensor,
    "sparse_coo": sparse_coo,
    "tuple": _tuple_of,
}
