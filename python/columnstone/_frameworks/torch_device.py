"""Copies batches to a PyTorch device while the loop computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch.utils.data import get_worker_info

from .._base.errors import StateError, UnsupportedError
from .._core import Tensor
from .._dataset.device import prefetch_to_device
from .._tensor.conversion import converted, ragged_parts, sparse_parts
from .._tensor.tensor import RaggedTensor, SparseTensor
from .torch import Item, TorchDataset, to_torch
from .torch_block import HostBlock
from .torch_tensors import Offsets, StringTensor, jagged, sparse_coo

if TYPE_CHECKING:
    from .._dataset.dataset import Dataset


class _Begun(NamedTuple):
    """An item that is being copied."""

    item: Any
    block: Any  # that the stream of the copies has made
    done: Any  # an event of it


class TorchDeviceDataset(TorchDataset[Item]):
    """A dataset of torch's whose batches are on a device when the loop gets them. Iterate over it
    in the process that trains."""

    def __init__(self, dataset: Dataset[Any], jagged: bool, device: Any) -> None:
        super().__init__(dataset, jagged)
        self._device = checked(device)

    def __iter__(self) -> Any:
        if get_worker_info() is not None:
            hint = "prefetch_to_device(DataLoader(ds.torch(), batch_size=None, ...), device)"
            raise StateError(
                f"a dataset for the device {self._device} was given to workers ({hint})", hint=hint
            )
        return prefetch_to_device(super().__iter__(), self._device)


def checked(device: Any) -> Any:
    """The torch.device; UnsupportedError without CUDA, if it is one of CUDA's."""
    made = torch.device(device)
    if made.type == "cuda" and not torch.cuda.is_available():
        raise UnsupportedError(f"CUDA is not available for the device {made}")
    return made


class TorchMover:
    """Copies to one device. With CUDA, an item is one block: it is packed into pinned memory, and
    one copy in a stream of its own brings it to the device, so that computations in other streams
    continue meanwhile. The tensors are views of the block there."""

    def __init__(self, device: Any) -> None:
        self._device = checked(device)
        self._stream: Any = None
        if self._device.type == "cuda":
            self._stream = torch.cuda.Stream(self._device)

    def begin(self, item: Any) -> _Begun:
        if self._stream is None:
            return _Begun(_Walk(self._copy).walk(item), None, None)
        callers = torch.cuda.current_stream(self._device)
        host = HostBlock(item, pinned=True)
        with torch.cuda.stream(self._stream):
            # Torch does not reuse pinned memory before the copy out of it is done.
            block = host.block.to(self._device, non_blocking=True)
            item = host.unpacked(block, lambda tensor: self._copy_alone(tensor, callers))
            return _Begun(item, block, self._stream.record_event())

    def end(self, begun: _Begun) -> Any:
        """Makes the caller's stream wait for the copy. The copying stream reuses its memory only
        when the caller's stream has finished its present work."""
        if self._stream is not None:
            stream = torch.cuda.current_stream(self._device)
            stream.wait_event(begun.done)
            begun.block.record_stream(stream)
        return begun.item

    def _copy(self, tensor: Any) -> Any:
        return tensor.to(self._device)

    def _copy_alone(self, tensor: Any, callers: Any) -> Any:
        """What a block does not hold. Results of a function on a device are ready only in the
        caller's stream."""
        with torch.cuda.stream(callers):
            return tensor.to(self._device)


class _Walk:
    """Converts the tensors of an item to torch tensors. Jagged tensors that share one tensor of
    offsets share one on the device as well, because torch only adds such tensors."""

    def __init__(self, copy: Any) -> None:
        self._copy = copy
        self._offsets = Offsets()
        self._copied: dict[int, Any] = {}  # offsets by number

    def walk(self, item: Any) -> Any:
        if isinstance(item, list):
            return [self.walk(part) for part in item]
        return converted(item, self._dense, self._sparse, self._ragged)

    def _dense(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            value = to_torch(value)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
            value = torch.tensor(value)  # a copy, because many cannot be written to
        if not isinstance(value, torch.Tensor):
            return value
        if value.layout == torch.jagged and value.lengths() is None and value._ragged_idx == 1:
            return self._jagged(value.values(), value.offsets())
        if value.layout == torch.sparse_coo:
            parts = self._copy(value._indices().T), self._copy(value._values())
            return sparse_coo(*parts, value.shape, value.is_coalesced())
        return self._copy(value)

    def _sparse(self, tensor: SparseTensor) -> Any:
        if isinstance(tensor.indices, Tensor):
            made = to_torch(tensor)
            if isinstance(made, torch.Tensor):
                return self._dense(made)
        return sparse_parts(tensor, self._dense)

    def _ragged(self, tensor: RaggedTensor) -> Any:
        if not isinstance(tensor.row_splits[0], Tensor):
            return ragged_parts(tensor, self._dense)
        parts = to_torch(tensor, jagged=False)
        if len(parts.row_splits) == 1 and not isinstance(parts.values, StringTensor):
            return self._jagged(parts.values, parts.row_splits[0])
        return ragged_parts(parts, self._dense)

    def _jagged(self, values: Any, offsets: Any) -> Any:
        offsets, shortest, longest, number = self._offsets.shared(offsets)
        if number not in self._copied:
            self._copied[number] = self._copy(offsets)
        return jagged(self._copy(values), self._copied[number], shortest, longest)
