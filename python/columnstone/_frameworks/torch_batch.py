"""Batches of torch tensors, and their way from a worker to the process that trains."""

from __future__ import annotations

import functools
import os
import threading
from multiprocessing import parent_process
from multiprocessing.reduction import ForkingPickler
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import get_worker_info

from .._base.public import public
from .._dataset.batch import Batch
from .torch_packing import Packer, unpacked
from .torch_slots import received, take_slot

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from .._dataset.batch import Position
    from .torch_packing import Layout, Places
    from .torch_slots import Slot


if TYPE_CHECKING:
    from .._types import TorchTensor

    _Batch = Batch[TorchTensor]
else:
    _Batch = Batch

# Below about these sizes, a pipe is cheaper than shared memory: memory that already exists, and
# memory created for the batch.
_PIPED = 1 << 15
_PIPED_ALONE = 1 << 20


@functools.cache
def end_with_parent() -> None:
    """In a worker: if the process that trains is killed, multiprocessing would wait forever for it
    to read the batches in the pipe."""
    parent = os.getppid()

    def leave() -> None:
        if os.getppid() != parent:
            os._exit(1)

    Finalize(None, leave, exitpriority=100)  # before the queues' own
    trainer = parent_process()
    if trainer is not None and trainer.pid != parent:
        # A fork server is the parent. It lives as long as its children, and these watch it.
        threading.Thread(target=_end_with, args=(trainer,), daemon=True).start()


def _end_with(trainer: Any) -> None:
    trainer.join()
    os._exit(1)


@public
class TorchBatch(_Batch):
    """A Batch of torch tensors. It pickles as one block of memory with views into it: a worker
    sends one object for each batch, instead of one for each part of each tensor."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[..., Batch], tuple[Any, ...]]:
        room = _Room()
        packer = Packer()
        layout = packer.add(self)
        places = packer.pack(room)
        return TorchBatch._unpack, (room.block, layout, places, packer.values, self.position)

    @classmethod
    def _unpack(
        cls,
        block: Any,
        layout: Layout,
        places: Places,
        values: list[Any],
        position: Position | None,
    ) -> Self:
        return cls(unpacked(block, layout, places, values), position)


class Sealed:
    """An item of a worker that nobody uses before it has reached the process that trains: a batch,
    or [batch, label], of torch tensors or of dense and ragged tensors of this package. All become
    torch tensors there, so that the worker need not create them. It is packed immediately, while
    its tensors are in the CPU cache. Its pickle is only for that process, which gets all items in
    the order of their creation."""

    __slots__ = ("_sent",)

    def __init__(self, batch: Batch, label: Any = None, *, jagged: bool = True) -> None:
        packer = Packer(jagged)
        layout = packer.add(batch)
        if label is not None:
            layout = ("list", layout, packer.add(label))
        self._sent = _sent(packer, layout, batch.position)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._sent


class _Room:
    """Memory for a batch: a block of its own, bytes for a pipe, or shared memory."""

    def __init__(self) -> None:
        self.block: Any = None

    def __call__(self, size: int) -> Any:
        if size <= _PIPED_ALONE or get_worker_info() is None:
            self.block = bytearray(size)
            return self.block
        storage = torch.UntypedStorage._new_shared(size, device="cpu")
        self.block = torch.empty(0, dtype=torch.uint8).set_(storage)
        return self.block.numpy()


class _SlotRoom(_Room):
    """A slot, if there is one."""

    def __init__(self) -> None:
        super().__init__()
        self.slot: Slot | None = None

    def __call__(self, size: int) -> Any:
        if size > _PIPED and get_worker_info() is not None:
            self.slot = take_slot(size)
        return super().__call__(size) if self.slot is None else self.slot.memory


def _hand_over(batch: TorchBatch) -> tuple[Any, ...]:
    """How a batch is pickled for another process that reads it once: in a slot, if one is free.
    Other pickles and copies may be read at any time, and get a block of their own."""
    packer = Packer()
    return _sent(packer, packer.add(batch), batch.position)


def _sent(packer: Packer, layout: Layout, position: Position | None) -> tuple[Any, ...]:
    room = _SlotRoom()
    places = packer.pack(room)
    rest = (places, packer.values, position)
    if room.slot is None:
        return _take_block, (room.block, layout, *rest)
    return _take_over, (room.slot.place(layout), *rest)


def _take_over(place: tuple[Any, ...], *rest: Any) -> Any:
    return _take_block(*received(*place), *rest)


def _take_block(
    block: Any, layout: Layout, places: Places, values: list[Any], position: Position | None
) -> Any:
    made = unpacked(block, layout, places, values)
    if isinstance(made, list):
        return [TorchBatch(made[0], position), *made[1:]]
    return TorchBatch(made, position)


ForkingPickler.register(TorchBatch, _hand_over)
