"""Batches that are copied to a device before the loop asks for them."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Generic, overload

from .._base.errors import StateError, argument_error
from .._base.public import public_in
from .._dataset import arguments
from .._tensor.conversion import framework
from .dataset import Dataset
from .iteration import Iteration

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol, Self

    from typing_extensions import TypeVar

    from .batch import Batch, Position
    from .dataset import Labelled
    from .iteration import Progress

    Item = TypeVar("Item", default=Any, covariant=True)

    class Mover(Protocol):
        """Copies tensors to a device in one framework."""

        def begin(self, item: Any) -> Any:
            """Starts to copy the tensors of an item."""

        def end(self, begun: Any) -> Any:
            """Returns the item after the copies; computations that the caller starts from now on
            may use it."""
else:
    from typing import TypeVar

    Item = TypeVar("Item", covariant=True)


@overload
def prefetch_to_device(
    batches: Dataset[Batch], device: Any, size: int = 2
) -> DeviceBatches[Batch[Any]]: ...


@overload
def prefetch_to_device(
    batches: Dataset[Labelled], device: Any, size: int = 2
) -> DeviceBatches[tuple[Batch[Any], Any]]: ...


@overload
def prefetch_to_device(
    batches: Iterable[Item], device: Any, size: int = 2
) -> DeviceBatches[Item]: ...


@public_in("columnstone.dataset")
def prefetch_to_device(batches: Any, device: Any, size: int = 2) -> DeviceBatches[Any]:
    """An iteration over batches that are already on a device when the loop gets them.

    batches: a dataset, one of its framework views (`ds.torch()`, `ds.jax()`), a DataLoader over it,
        or any iterable of such batches. Tensors of this package are converted to those of the
        device's framework, as to_torch and to_jax do. Strings stay on the host.
    device: a torch.device or its name, such as "cuda"; a jax.Device or a jax.sharding.Sharding.
    size: the number of batches on the device at the same time, including the one that the loop
        uses. 2: while the loop computes with one batch, the next is copied.

    There is no thread: each next starts copies, which the device makes in the background; with
    CUDA, in a stream of its own and from pinned memory. To prepare batches ahead on the host, use
    `prefetch` and `threads` of the dataset, or workers of the loader.

    The position and the states, including those of the dataset itself, belong to the batch that the
    loop has received. An error is raised after the batches before it.
    """
    return DeviceBatches(batches, device, size)


class DeviceBatches(Generic[Item]):
    """An iterator over the batches on their way to a device. Several Python threads may share
    it."""

    def __init__(self, batches: Any, device: Any, size: int) -> None:
        self._size = arguments.number("size", size, 1, 1024)
        self._mover = _mover_to(device)
        self._dataset = _dataset_of(batches)
        if self._dataset is not None and self._dataset._rows_only:
            raise argument_error("a dataset with as_batches has no tensors")
        self._batches: Any = iter(batches)
        made = getattr(self._batches, "_iteration", self._batches)  # in an iteration of torch's
        self._progress: Progress | None = None  # of the dataset, unless a loader iterates it
        if isinstance(made, Iteration):
            self._progress = made.hand_on()
        self._position = None if self._progress is None else self._progress.position
        self._begun: deque[Any] = deque()  # with their positions, and what came in place of more
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def position(self) -> Position | None:
        """The position of the last delivered batch; None: no batch yet, or it has no position."""
        return self._position

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Item:
        if self._process != os.getpid():
            hint = "call prefetch_to_device in the new process"
            raise StateError(f"this iteration was created before a fork ({hint})", hint=hint)
        with self._lock:
            if self._batches is None:
                raise StateError("the iteration is closed", hint="iterate over the dataset again")
            while len(self._begun) < self._size and not self._has_stopped():
                self._begun.append(self._begin())
            made, position = self._begun.popleft()
            if isinstance(made, Exception):
                raise made
            item: Item = self._mover.end(made)
            self._position = position
            if self._progress is not None:
                self._progress.position = position
            return item

    def _has_stopped(self) -> bool:
        """The iterator's exception comes after the copied batches; the next call asks the iterator
        again."""
        return len(self._begun) > 0 and isinstance(self._begun[-1][0], Exception)

    def _begin(self) -> tuple[Any, Position | None]:
        try:
            item = next(self._batches)
            head = item[0] if isinstance(item, tuple | list) and item else item
            return self._mover.begin(item), getattr(head, "position", None)
        except Exception as error:
            return error, None

    def state_dict(self) -> dict[str, Any]:
        """As that of the dataset, after the last batch that the loop received."""
        if self._dataset is None:
            hint = "keep ds.state_of(batch.position)"
            raise StateError(
                f"prefetch_to_device was called with neither a dataset nor its loader ({hint})",
                hint=hint,
            )
        if self._progress is not None:
            return self._dataset._state(self._position, self._progress.first_epoch)
        if self._position is None:
            hint = "keep the state that was loaded"
            raise StateError(f"the loader has delivered no batch yet ({hint})", hint=hint)
        return self._dataset.state_of(self._position)

    def close(self) -> None:
        """Releases the batches and stops their producers; a further next is a StateError."""
        with self._lock:
            batches, self._batches = self._batches, None
            self._begun.clear()
        if hasattr(batches, "close"):
            batches.close()


def _dataset_of(batches: Any) -> Dataset[Any] | None:
    """The iterated dataset, or the one that a loader or its iteration iterates."""
    found = getattr(batches, "dataset", batches)
    found = getattr(found, "_dataset", found)
    return found if isinstance(found, Dataset) else None


def _mover_to(device: Any) -> Mover:
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(device, jax.Device | jax.sharding.Sharding):
        made = framework("jax_device", "jax", "JAX").JaxMover(device)
    elif isinstance(device, str) or type(device).__module__ == "torch":
        made = framework("torch_device", "torch", "PyTorch").TorchMover(device)
    else:
        raise TypeError(
            "device must be a torch.device or its name, a jax.Device or a jax.sharding.Sharding, "
            f"not {type(device).__name__}"
        )
    mover: Mover = made
    return mover
