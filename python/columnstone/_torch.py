"""Tensors and datasets in PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.utils.data import Dataset as MapDataset
from torch.utils.data import IterableDataset, get_worker_info

from ._dataset import Batch
from ._frameworks import converted, ragged_parts, sparse_parts
from ._rows import Fetched, Rows
from ._tensor import RaggedTensor, SparseTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ._dataset import Dataset
    from ._open import Source

# Tensors


def to_torch(tensors: Any) -> Any:
    """See _frameworks.to_torch."""
    return converted(tensors, _dense, _sparse, _ragged)


def _dense(tensor: Any) -> Any:
    return tensor.numpy() if tensor.dtype == "bytes" else torch.from_dlpack(tensor)


def _sparse(tensor: SparseTensor) -> Any:
    if tensor.dtype == "bytes":
        return sparse_parts(tensor, _dense)
    indices = torch.from_dlpack(tensor.indices)
    shape = [
        int(indices[:, dim].max()) + 1 if size < 0 and len(indices) > 0 else max(size, 0)
        for dim, size in enumerate(tensor.shape)
    ]
    twice = bool((indices[1:] == indices[:-1]).all(1).any())
    return _sparse_coo(indices.T, torch.from_dlpack(tensor.values), shape, not twice)


def _sparse_coo(indices: Any, values: Any, shape: Sequence[int], coalesced: bool) -> Any:
    return torch.sparse_coo_tensor(
        indices, values, shape, is_coalesced=coalesced, check_invariants=False
    )


def _ragged(tensor: RaggedTensor) -> Any:
    if tensor.dtype == "bytes" or len(tensor.row_splits) > 1:
        return ragged_parts(tensor, _dense)
    return torch.nested.nested_tensor_from_jagged(
        torch.from_dlpack(tensor.values), torch.from_dlpack(tensor.row_splits[0])
    )


# Batches between processes


class TorchBatch(Batch):
    """A Batch of torch tensors. It pickles as one block of memory with views into it: a worker then
    hands one block of shared memory over for each batch, not one for each part of each tensor."""

    def __copy__(self) -> TorchBatch:
        return TorchBatch(self, self.position)

    def __reduce__(self) -> tuple[Callable[..., TorchBatch], tuple[Any, ...]]:
        packer = _Packer()
        layout = packer.add(dict(self))
        return _unpack, (packer.block(), layout, self.position)


class _Part(NamedTuple):
    """A strided tensor in a block."""

    offset: int
    dtype: Any
    shape: tuple[int, ...]


class _Made(NamedTuple):
    """A tensor of several parts, and what makes it of them."""

    make: Callable[..., Any]
    arguments: tuple[Any, ...]


class _Packer:
    """Finds the strided tensors in a batch, and puts them one behind the other."""

    def __init__(self) -> None:
        self._tensors: list[tuple[int, Any]] = []
        self._size = 0

    def add(self, value: Any) -> Any:
        """What stands for a value in the layout."""
        if isinstance(value, dict):
            return {name: self.add(part) for name, part in value.items()}
        if isinstance(value, RaggedTensor):
            splits = tuple(self.add(level) for level in value.row_splits)
            return _Made(_ragged_of, (self.add(value.values), *splits))
        if not isinstance(value, torch.Tensor) or value.device.type != "cpu":
            return value
        if value.is_nested and value.layout == torch.jagged:
            parts = (self.add(value.values()), self.add(value.offsets()))
            return _Made(torch.nested.nested_tensor_from_jagged, parts)
        if value.layout == torch.sparse_coo:
            parts = (self.add(value._indices().T), self.add(value._values()))
            return _Made(_sparse_of, (*parts, tuple(value.shape), value.is_coalesced()))
        if value.layout != torch.strided or value.is_nested or value.requires_grad:
            return value
        return self._part(value)

    def _part(self, tensor: Any) -> _Part:
        offset = self._size
        self._tensors.append((offset, tensor))
        self._size += -(-tensor.nbytes // 64) * 64
        return _Part(offset, tensor.dtype, tuple(tensor.shape))

    def block(self) -> Any:
        """The memory with copies of all tensors."""
        if get_worker_info() is None:
            block = torch.empty(self._size, dtype=torch.uint8)
        else:  # at once in memory that other processes see
            storage = torch.UntypedStorage._new_shared(self._size, device="cpu")
            block = torch.empty(0, dtype=torch.uint8).set_(storage)
        for offset, tensor in self._tensors:
            _view(block, _Part(offset, tensor.dtype, tuple(tensor.shape))).copy_(tensor)
        return block


def _view(block: Any, part: _Part) -> Any:
    count = 1
    for size in part.shape:
        count *= size
    return block[part.offset : part.offset + count * part.dtype.itemsize].view(part.dtype).view(part.shape)


def _unpack(block: Any, layout: dict[str, Any], position: Any) -> TorchBatch:
    def value_of(entry: Any) -> Any:
        if isinstance(entry, dict):
            return {name: value_of(part) for name, part in entry.items()}
        if isinstance(entry, _Part):
            return _view(block, entry)
        if isinstance(entry, _Made):
            return entry.make(*(value_of(a) for a in entry.arguments))
        return entry

    return TorchBatch({name: value_of(entry) for name, entry in layout.items()}, position)


def _ragged_of(values: Any, *splits: Any) -> RaggedTensor:
    return RaggedTensor(values, list(splits))


def _sparse_of(indices: Any, values: Any, shape: tuple[int, ...], coalesced: bool) -> Any:
    return _sparse_coo(indices.T, values, shape, coalesced)
