"""Copies batches to a PyTorch device while the loop computes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from .._base.errors import UnsupportedError
from .._core import Tensor
from .._tensor.conversion import converted, ragged_parts, sparse_parts
from .._tensor.tensor import RaggedTensor, SparseTensor
from .torch import to_torch
from .torch_tensors import Offsets, StringTensor, jagged, sparse_coo


class _Begun(NamedTuple):
    """An item that is being copied."""

    item: Any
    tensors: list[Any]  # that the stream of the copies has made
    done: Any  # an event of it


class TorchMover:
    """Copies to one device. With CUDA, it uses a stream of its own and pinned memory, so that
    computations in other streams continue meanwhile."""

    def __init__(self, device: Any) -> None:
        self._device = torch.device(device)
        self._stream: Any = None
        if self._device.type == "cuda":
            if not torch.cuda.is_available():
                raise UnsupportedError(f"CUDA is not available for the device {self._device}")
            self._stream = torch.cuda.Stream(self._device)

    def begin(self, item: Any) -> _Begun:
        if self._stream is None:
            return _Begun(_Walk(self._copy).walk(item), [], None)
        made: list[Any] = []
        callers = torch.cuda.current_stream(self._device)
        with torch.cuda.stream(self._stream):
            item = _Walk(lambda tensor: self._copy_in_stream(tensor, callers, made)).walk(item)
            return _Begun(item, made, self._stream.record_event())

    def end(self, begun: _Begun) -> Any:
        """Makes the caller's stream wait for the copies. The copying stream reuses their memory
        only when the caller's stream has finished its present work."""
        if self._stream is not None:
            stream = torch.cuda.current_stream(self._device)
            stream.wait_event(begun.done)
            for tensor in begun.tensors:
                tensor.record_stream(stream)
        return begun.item

    def _copy(self, tensor: Any) -> Any:
        return tensor.to(self._device)

    def _copy_in_stream(self, tensor: Any, callers: Any, made: list[Any]) -> Any:
        is_plain = tensor.layout == torch.strided and not tensor.is_nested
        if tensor.device.type != "cpu" or not is_plain:
            # Results of a function on a device are ready only in the caller's stream.
            with torch.cuda.stream(callers):
                return tensor.to(self._device)
        # Torch does not reuse pinned memory before the copy out of it is done.
        pinned = tensor if tensor.is_pinned() else tensor.pin_memory()
        copy = pinned.to(self._device, non_blocking=True)
        made.append(copy)
        return copy


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
