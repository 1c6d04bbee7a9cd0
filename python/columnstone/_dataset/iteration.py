"""An iteration over the batches of a dataset, epoch after epoch."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, Generic

from .. import _core
from .._base.errors import StateError, argument_error
from .batch import Batch, Position
from .packing import PackedBatches

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from typing_extensions import TypeVar

    from .._core import Loader
    from .._source.workers import Reporter

    Item = TypeVar("Item", default=Any, covariant=True)
else:
    from typing import TypeVar

    Item = TypeVar("Item", covariant=True)


class Progress:
    """The progress of an iteration. The dataset reads it without keeping the iteration alive."""

    __slots__ = ("first_epoch", "position")

    first_epoch: int
    position: Position | None

    def __init__(self, first_epoch: int, position: Position | None) -> None:
        self.first_epoch = first_epoch
        self.position = position


class Iteration(Generic[Item]):
    """The batches of a dataset in order: an iterator.

    Returns Batch objects, or (Batch, tensor) with a label, or RecordBatch objects. Threads start
    with the first next, and end with the iteration or with close(). Several Python threads may
    share one: each batch goes to one of them.
    """

    __slots__ = (
        "_after",
        "_batch",
        "_closed",
        "_convert",
        "_dataset",
        "_end",
        "_epoch",
        "_loader",
        "_lock",
        "_made_before",
        "_num_workers",
        "_origin",
        "_packed",
        "_place",
        "_process",
        "_progress",
        "_row",
        "_worker",
        "reporter",
    )

    def __init__(
        self,
        dataset: Any,  # a Dataset, whose module uses this one
        after: Position | None,
        first_epoch: int,
        worker: int,
        num_workers: int,
        convert: Callable[[Batch], Batch[Any]] | None = None,
    ) -> None:
        self._convert = convert
        self._progress = Progress(first_epoch, after)
        self._dataset = dataset
        self._worker = worker
        self._num_workers = num_workers
        epochs = dataset._epochs
        self._end = None if epochs is None else first_epoch + epochs
        at = Position(first_epoch, -1) if after is None else after
        self._epoch = at.epoch
        whole = at.batch < 0 or at.row in (-1, dataset.batch_size - 1)
        self._batch = at.batch + whole
        self._row = 0 if whole else at.row + 1  # of the batch, that come before what is next
        self._place = (at.file, at.rows_before)
        self._origin = at.origin
        self._made_before = 0  # batches of all workers, in the epochs before this one
        self._loader: Loader | None = None
        self._packed: PackedBatches | None = None
        self._after = at  # of packed batches: the last one that any worker makes
        self.reporter: Reporter | None = None  # in a worker: of what is dropped
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._closed = False

    @property
    def position(self) -> Position | None:
        """The position of the last delivered batch; None: no batch yet."""
        return self._progress.position

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Item:
        if self._process != os.getpid() and (self._loader or self._packed) is not None:
            raise StateError(
                "this iteration was created before a fork (iterate in the new process)",
                hint="iterate in the new process",
            )
        with self._lock:
            packs = self._dataset._packing is not None
            if self._closed:
                raise StateError("the iteration is closed", hint="iterate over the dataset again")
            content, position = self._next_packed() if packs else self._next()
        item: Item = self._item(content, position)
        return item

    def _next(self) -> tuple[Any, Position]:
        while self._loader is not None or self._has_epoch():
            if self._loader is None:
                self._loader = self._open()
            made = self._next_of(self._loader)
            if made is not None:
                content, *place = made
                position = Position(*place)
                self._progress.position = position
                return content, position
            self._loader = None
            self._next_epoch()
        raise StopIteration

    def _next_of(self, loader: Loader) -> tuple[Any, ...] | None:
        try:
            return next(loader, None)
        finally:
            self._tell(loader)

    def _tell(self, loader: Loader) -> None:
        if self.reporter is not None:
            self.reporter.tell(self._epoch, loader.dropped)

    def _next_packed(self) -> tuple[Any, Position]:
        while self._packed is not None or self._has_epoch():
            if self._packed is None:
                self._packed = self._open_packed()
            for content, position in self._packed:
                turn = self._made_before % self._num_workers
                self._made_before += 1
                self._after = position
                if turn == self._worker:
                    self._progress.position = position
                    return content, position
            if self._after == Position(self._epoch, -1):  # an epoch without any
                self._end = self._epoch
            self._packed = None
            self._epoch += 1
            self._after = Position(self._epoch, -1)
        raise StopIteration

    def _open_packed(self) -> PackedBatches:
        dataset = self._dataset
        assert dataset._packing is not None
        return PackedBatches(
            dataset._packing,
            self._open_rows,
            self._after,
            dataset.batch_size,
            dataset._options["drop_last"],
            self._tell,
        )

    def _open_rows(self, epoch: int, batch: int, file: int, rows_before: int) -> Loader:
        """All batches of rows of the shard, starting with this one."""
        from .._tensor.tensor import RaggedTensor, SparseTensor

        place = (epoch, batch, file, rows_before, 0, 0)
        made: Loader = self._dataset._core.loader(*place, 0, 1, SparseTensor, RaggedTensor)
        self._dataset._source._keep(made)
        return made

    def _has_epoch(self) -> bool:
        return self._end is None or self._epoch < self._end

    def _open(self) -> Loader:
        from .._tensor.tensor import RaggedTensor, SparseTensor

        dataset = self._dataset
        first = (self._worker - self._made_before) % self._num_workers
        classes = (None, None) if dataset._rows_only else (SparseTensor, RaggedTensor)
        made: Loader = dataset._core.loader(
            self._epoch,
            self._batch,
            *self._place,
            self._origin,
            self._row,
            first,
            self._num_workers,
            *classes,
        )
        dataset._source._keep(made)
        return made

    def _next_epoch(self) -> None:
        """Adds the batches of the epoch that has ended, if another one follows."""
        begun = (self._batch, self._origin, self._row)
        self._epoch += 1
        self._batch = self._origin = self._row = 0
        self._place = (0, 0)
        if self._has_epoch():
            core = self._dataset._core
            self._made_before += core.batches_left(*begun)
            if core.num_batches() == 0:
                self._end = self._epoch

    def _item(self, content: Any, position: Position) -> Any:
        """The item that the loop gets for a batch. Called without the lock, because it may take
        long."""
        dataset = self._dataset
        if dataset._rows_only:
            content.position = position
            for fn in dataset._maps:
                content = _mapped(fn, content, "__arrow_c_array__", "a record batch")
            if isinstance(content, _core.RecordBatch):
                content.position = position
            return content
        batch = Batch(content, position)
        if self._convert is not None:
            batch = self._convert(batch)
        for fn in dataset._maps:
            made = _mapped(fn, batch, "keys", "a dict of tensors")
            batch = made if type(made) is type(batch) else type(batch)(made)
            batch.position = position
        if dataset._label is None:
            return batch
        if dataset._label not in batch:
            raise argument_error(f"a function of map dropped the label {dataset._label!r}")
        return batch, batch.pop(dataset._label)

    def hand_on(self) -> Progress:
        """The progress for a consumer that takes batches ahead of the loop and updates the progress
        itself: from now on, it determines the state of the dataset."""
        made = Progress(self._progress.first_epoch, self._progress.position)
        self._dataset._latest = made
        return made

    def state_dict(self) -> dict[str, Any]:
        """As that of the dataset, for this iteration."""
        state: dict[str, Any] = self._dataset._state(self.position, self._progress.first_epoch)
        return state

    def close(self) -> None:
        """Stops the threads; a further next is a StateError."""
        self._closed = True
        for loader in (self._loader, self._packed):
            if loader is not None:
                loader.close()


def _mapped(fn: Callable[[Any], Any], batch: Any, attribute: str, what: str) -> Any:
    """The result of a function of map. A StopIteration raised by it would silently end the loop."""
    try:
        made = fn(batch)
    except StopIteration as error:
        raise RuntimeError("map: StopIteration was raised") from error
    if not hasattr(made, attribute):
        name = getattr(fn, "__name__", type(fn).__name__)
        raise TypeError(f"map: {name} returned {type(made).__name__}, expected {what}")
    return made
