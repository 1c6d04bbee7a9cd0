"""Memory in which workers pass batches on: shared once, and reused for batch after batch."""

from __future__ import annotations

import multiprocessing
import os
import uuid
import weakref
from typing import Any, NamedTuple

import numpy as np
import torch

# A worker has two batches on their way (its loader's prefetch_factor), one in the making, one or
# two in use by the loop, and some more in a thread that pins memory.
_COUNT = 8
_LARGEST = 32 << 20  # bytes of a slot: larger batches take memory of their own
_HEAD = 4096  # bytes before the first slot; the first _COUNT say which are in use
_ROOM = "/dev/shm"


class Slots:
    """Slots of one size in a worker. The worker marks a slot as used, the process that trains marks
    it as free. When none is free (because the loop keeps its batches), batches are sent in another
    way."""

    def __init__(self, size: int) -> None:
        self.size = -(-size * 5 // 4 // 4096) * 4096
        self.process = os.getpid()
        self.key = uuid.uuid4().int
        self._storage = torch.UntypedStorage._new_shared(_HEAD + _COUNT * self.size, device="cpu")
        self._raw = _raw_of(self._storage)
        self._is_told = False  # the other process has the memory
        self._told: Any = None  # the layout that the other process has

    def take(self, size: int) -> Slot | None:
        """A slot for this many bytes; None: none is free."""
        number = bytes(self._raw[:_COUNT]).find(0)
        if size > self.size or number < 0:
            return None
        self._raw[number] = 1
        begin = _HEAD + number * self.size
        return Slot(self, number, begin, size, self._raw[begin : begin + size])

    def news(self, layout: Any) -> tuple[Any, Any]:
        """The memory and the layout, if they differ from those that the other process already has.
        It gets all batches in the order in which they are sent."""
        storage = None if self._is_told else self._storage
        self._is_told = True
        layout = None if layout == self._told else layout
        self._told = self._told if layout is None else layout
        return storage, layout


class Slot(NamedTuple):
    """Memory for one batch."""

    slots: Slots
    number: int
    begin: int
    size: int
    memory: Any

    def place(self, layout: Any) -> tuple[Any, ...]:
        """Tells `received` where the batch is, and what it contains."""
        slots = self.slots
        return slots.key, slots.process, self.number, self.begin, self.size, *slots.news(layout)


_own: Slots | None = None


def take_slot(size: int) -> Slot | None:
    """A slot of this worker. Slots are created for its first batch, and again for larger ones."""
    global _own
    if size > _LARGEST:
        return None
    if _own is None or _own.process != os.getpid() or size > _own.size:
        if not _has_room(_HEAD + 2 * _COUNT * size):
            return None
        _own = Slots(size)
    return _own.take(size)


def _has_room(size: int) -> bool:
    """If the file system is full, writing to unallocated memory would end the process: containers
    may have little."""
    try:
        found = os.statvfs(_ROOM)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize > 2 * size


def _raw_of(storage: Any) -> Any:
    return torch.empty(0, dtype=torch.uint8).set_(storage).numpy()


# In the process that trains


class _Slot(np.ndarray):
    """The memory of one slot, which becomes free when nothing references it any more. The memory of
    all slots has this class as well, so that arrays in a slot reference the slot itself; numpy
    would skip it if it had the arrays' own class."""


class _Memory:
    """The slots of a worker, and the layout of its last batch."""

    __slots__ = ("layout", "raw")

    def __init__(self, storage: Any) -> None:
        self.raw = _raw_of(storage).view(_Slot)
        self.layout: Any = None


_received: dict[int, _Memory] = {}  # by key


def received(
    key: int, process: int, number: int, begin: int, size: int, storage: Any, layout: Any
) -> tuple[memoryview, Any]:
    """The bytes that a worker has written into a slot, and their layout."""
    if storage is not None:
        memory = _Memory(storage)
        _keep(key, process, memory)
    elif key in _received:
        memory = _received[key]
    else:
        raise RuntimeError(f"worker {process} has ended, so its batches are gone")
    if layout is not None:
        memory.layout = layout
    slot = memory.raw[begin : begin + size]
    weakref.finalize(slot, _free, memory.raw, number, os.getpid()).atexit = False
    return memoryview(slot), memory.layout


def _keep(key: int, process: int, memory: _Memory) -> None:
    """Frees the slot for the worker's next batches, as long as its loader knows the slots."""
    for child in multiprocessing.active_children():
        if child.pid == process:
            _received[key] = memory
            weakref.finalize(child, _received.pop, key, None).atexit = False


def _free(raw: Any, number: int, process: int) -> None:
    if os.getpid() == process:  # not in a worker that was forked later
        raw[number] = 0
