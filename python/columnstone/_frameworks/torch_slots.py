"""Memory in which workers hand over batches: shared once, and used again for batch after batch."""

from __future__ import annotations

import multiprocessing
import os
import uuid
import weakref
from typing import Any

import numpy as np
import torch

from .._base.public import public

# A worker has two batches on their way (its loader's prefetch_factor), one is made, the loop has
# one or two, and a thread that pins memory some more.
_COUNT = 8
_LARGEST = 32 << 20  # bytes of a slot: larger batches take memory of their own
_HEAD = 4096  # bytes before the first slot; the first _COUNT say which are in use
_ROOM = "/dev/shm"


@public
class Slots:
    """A worker's: slots of one size. It marks one as used, the process that trains as free; when
    none is free (the loop keeps its batches), batches take another way."""

    def __init__(self, size: int) -> None:
        self.size = -(-size * 5 // 4 // 4096) * 4096
        self.process = os.getpid()
        self._key = uuid.uuid4().int
        self._storage = torch.UntypedStorage._new_shared(_HEAD + _COUNT * self.size, device="cpu")
        self._raw = _raw_of(self._storage)
        self._told = False  # the other process has the memory

    def take(self, size: int) -> tuple[Any, tuple[Any, ...]] | None:
        """Room for so many bytes, and what says to `received` where it is; None: there is none."""
        free = np.flatnonzero(self._raw[:_COUNT] == 0)
        if size > self.size or len(free) == 0:
            return None
        number = int(free[0])
        self._raw[number] = 1
        begin = _HEAD + number * self.size
        storage = None if self._told else self._storage
        self._told = True
        place = (self._key, self.process, storage, number, begin, size)
        return self._raw[begin : begin + size], place


_own: Slots | None = None


def take_slot(size: int) -> tuple[Any, tuple[Any, ...]] | None:
    """Of this worker's slots, which are made for its first batch, and made anew for larger ones."""
    global _own
    if size > _LARGEST:
        return None
    if _own is None or _own.process != os.getpid() or size > _own.size:
        if not _has_room(_HEAD + 2 * _COUNT * size):
            return None
        _own = Slots(size)
    return _own.take(size)


def _has_room(size: int) -> bool:
    """Memory that a full file system does not give ends the process: containers may have little."""
    try:
        found = os.statvfs(_ROOM)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize > 2 * size


def _raw_of(storage: Any) -> Any:
    return torch.empty(0, dtype=torch.uint8).set_(storage).numpy()


# The process that trains

_received: dict[int, Any] = {}  # the memory of each worker, by key


class _Slot(np.ndarray):
    """The memory of one slot, which is free again when nothing points into it any more."""


def received(key: int, process: int, storage: Any, number: int, begin: int, size: int) -> Any:
    """The bytes that a worker has put into a slot, as a torch tensor."""
    if storage is not None:
        raw = _raw_of(storage)
        _keep(key, process, raw)
    elif key in _received:
        raw = _received[key]
    else:
        raise RuntimeError(f"worker {process} has ended, and with it the memory of its batches")
    slot = raw[begin : begin + size].view(_Slot)
    weakref.finalize(slot, _free, raw, number, os.getpid()).atexit = False
    return torch.from_numpy(slot)


def _keep(key: int, process: int, raw: Any) -> None:
    """For the worker's next batches, as long as its loader knows of it."""
    for child in multiprocessing.active_children():
        if child.pid == process:
            _received[key] = raw
            weakref.finalize(child, _received.pop, key, None).atexit = False


def _free(raw: Any, number: int, process: int) -> None:
    if os.getpid() == process:  # not in a worker that was forked later
        raw[number] = 0
