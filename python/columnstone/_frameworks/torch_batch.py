"""Batches of torch tensors, and how they get from a worker to the process that trains."""

from __future__ import annotations

import functools
import math
import os
from multiprocessing.reduction import ForkingPickler
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch.utils.data import get_worker_info

from .._base.public import public
from .._core import join_strings, split_strings
from .._dataset.batch import Batch
from .._tensor.tensor import RaggedTensor, SparseTensor
from .torch_slots import received, take_slot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from .._core import Tensor
    from .._dataset.batch import Position


# A pipe costs less than shared memory up to about these sizes: memory that is there already, and
# memory of a batch's own.
_PIPED = 1 << 15
_PIPED_ALONE = 1 << 20


@functools.cache
def end_with_parent() -> None:
    """For workers: when the process that trains was killed, multiprocessing would wait for ever for
    somebody to read the batches that are in the pipe."""
    parent = os.getppid()

    def leave() -> None:
        if os.getppid() != parent:
            os._exit(1)

    Finalize(None, leave, exitpriority=100)  # before the queues' own


def sparse_coo(indices: Any, values: Any, shape: Sequence[int], coalesced: bool) -> Any:
    """Of indices [n, rank] that are known to be right."""
    return torch.sparse_coo_tensor(
        indices.T, values, shape, is_coalesced=coalesced, check_invariants=False
    )


def lengths_of(offsets: Any) -> tuple[int, int]:
    """The shortest and the longest row."""
    lengths = offsets.diff()
    return (int(lengths.min()), int(lengths.max())) if len(lengths) > 0 else (0, 0)


def jagged(values: Any, offsets: Any, shortest: int, longest: int) -> Any:
    """A nested tensor whose rows have from `shortest` to `longest` values."""
    return torch.nested.nested_tensor_from_jagged(
        values, offsets, min_seqlen=shortest, max_seqlen=longest
    )


@public
class StringTensor:
    """The strings of a batch in PyTorch, which has no tensors of strings.

    Indexing, iterating, numpy(), tolist() and numpy.asarray give bytes objects, which are made when
    they are first asked for; until then it costs next to nothing, also on the way from a worker.
    """

    __slots__ = ("_array", "_content", "shape")

    dtype = "bytes"
    shape: tuple[int, ...]

    def __init__(self, content: Tensor | tuple[Any, Any], shape: tuple[int, ...]) -> None:
        self._content = content  # or data and lengths, as join_strings gives them
        self._array: Any = None
        self.shape = shape

    def joined(self) -> tuple[Any, Any]:
        """All bytes one after the other, and the length of each string as int64, in buffers."""
        content = self._content
        return content if isinstance(content, tuple) else join_strings(content)

    def numpy(self) -> Any:
        """An array of bytes objects."""
        content = self._content
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
        return StringTensor, (self.joined(), self.shape)

    def __repr__(self) -> str:
        return f"<columnstone.StringTensor {self.shape}>"


@public
class TorchBatch(Batch):
    """A Batch of torch tensors. It pickles as one block of memory with views into it: a worker
    hands over one piece for each batch, not one for each part of each tensor."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[..., Batch], tuple[Any, ...]]:
        packer = _Packer()
        layout = packer.add(dict(self))
        return TorchBatch._unpack, (packer.block(), layout, self.position)

    @classmethod
    def _unpack(cls, block: Any, layout: dict[str, Any], position: Position | None) -> Self:
        if isinstance(block, bytearray):
            block = torch.frombuffer(block, dtype=torch.uint8) if block else torch.empty(0).byte()
        return cls(_value_of(layout, block, block.numpy()), position)


def _value_of(entry: Any, block: Any, raw: Any) -> Any:
    """What an entry of a layout stands for."""
    if isinstance(entry, _Part):
        return _view(block, entry)
    if isinstance(entry, _Bytes):
        return raw[entry.offset : entry.offset + entry.nbytes]
    if isinstance(entry, _Made):
        arguments = (_value_of(argument, block, raw) for argument in entry.arguments)
        return _MAKERS[entry.maker](*arguments)
    if isinstance(entry, dict):
        return {name: _value_of(part, block, raw) for name, part in entry.items()}
    return entry


def _hand_over(batch: TorchBatch) -> tuple[Any, ...]:
    """How a batch is pickled for another process, which reads it once: in a slot, if there is one.
    Pickles and copies of other kinds may be read at any time, and have a block of their own."""
    packer = _Packer()
    layout = packer.add(dict(batch))
    wants_slot = packer.size > _PIPED and get_worker_info() is not None
    slot = take_slot(packer.size) if wants_slot else None
    if slot is None:
        return TorchBatch._unpack, (packer.block(), layout, batch.position)
    memory, place = slot
    packer.fill(memory)
    return _take_over, (place, layout, batch.position)


def _take_over(place: Any, layout: dict[str, Any], position: Position | None) -> TorchBatch:
    return TorchBatch._unpack(received(*place), layout, position)


ForkingPickler.register(TorchBatch, _hand_over)


@public
class _Part(NamedTuple):
    """A strided tensor in a block."""

    offset: int
    dtype: Any
    shape: tuple[int, ...]


@public
class _Bytes(NamedTuple):
    """Bytes in a block."""

    offset: int
    nbytes: int


@public
class _Made(NamedTuple):
    """A value of several parts, and which of _MAKERS makes it of them."""

    maker: str
    arguments: tuple[Any, ...]


class _Packer:
    """Finds the tensors in a batch, and puts them one after the other."""

    def __init__(self) -> None:
        self._values: list[tuple[int, Any]] = []
        self.size = 0

    def add(self, value: Any) -> Any:
        """What stands for a value in the layout; the value itself if it is to pickle alone."""
        if isinstance(value, dict):
            return {name: self.add(part) for name, part in value.items()}
        if isinstance(value, RaggedTensor):
            splits = (self.add(level) for level in value.row_splits)
            return _Made("ragged", (self.add(value.values), *splits))
        if isinstance(value, SparseTensor):
            parts = (value.indices, value.values, value.dense_shape)
            return _Made("sparse", tuple(self.add(part) for part in parts))
        if isinstance(value, StringTensor):
            blocks = [np.frombuffer(block, np.uint8) for block in value.joined()]
            places = [_Bytes(self._place(block), block.nbytes) for block in blocks]
            return _Made("strings", (_Made("pair", tuple(places)), value.shape))
        if isinstance(value, torch.Tensor) and value.device.type == "cpu":
            return self._add_tensor(value)
        return value

    def _add_tensor(self, tensor: Any) -> Any:
        if tensor.is_nested and tensor.layout == torch.jagged:
            parts = (self.add(tensor.values()), self.add(tensor.offsets()))
            return _Made("jagged", (*parts, *lengths_of(tensor.offsets())))
        if tensor.layout == torch.sparse_coo:
            parts = (self.add(tensor._indices().T), self.add(tensor._values()))
            return _Made("sparse_coo", (*parts, tuple(tensor.shape), tensor.is_coalesced()))
        if tensor.is_nested or tensor.layout != torch.strided or tensor.requires_grad:
            return tensor
        return _Part(self._place(tensor), tensor.dtype, tuple(tensor.shape))

    def _place(self, values: Any) -> int:
        """Where they will begin."""
        offset = self.size
        self._values.append((offset, values))
        self.size += -(-values.nbytes // 64) * 64
        return offset

    def block(self) -> Any:
        """The memory with copies of all: bytes for a pipe, or what other processes see."""
        if self.size <= _PIPED_ALONE or get_worker_info() is None:
            block: Any = bytearray(self.size)
            raw = np.frombuffer(block, np.uint8)
        else:
            storage = torch.UntypedStorage._new_shared(self.size, device="cpu")
            block = torch.empty(0, dtype=torch.uint8).set_(storage)
            raw = block.numpy()
        self.fill(raw)
        return block

    def fill(self, raw: Any) -> None:
        """Copies all into it."""
        for offset, values in self._values:
            place = raw[offset : offset + values.nbytes]
            if isinstance(values, torch.Tensor):
                values = values.contiguous().reshape(-1).view(torch.uint8).numpy()
            place[:] = values


def _view(block: Any, part: _Part) -> Any:
    size = math.prod(part.shape) * part.dtype.itemsize
    return block[part.offset : part.offset + size].view(part.dtype).view(part.shape)


def _ragged_of(values: Any, *splits: Any) -> RaggedTensor:
    return RaggedTensor(values, list(splits))


def _pair(data: Any, lengths: Any) -> tuple[Any, Any]:
    return data, lengths


_MAKERS: dict[str, Callable[..., Any]] = {
    "jagged": jagged,
    "pair": _pair,
    "ragged": _ragged_of,
    "sparse": SparseTensor,
    "sparse_coo": sparse_coo,
    "strings": StringTensor,
}
