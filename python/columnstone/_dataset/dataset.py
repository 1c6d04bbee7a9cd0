"""Datasets for training: shuffled batches of tensors that can be resumed at any batch."""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, NoReturn, overload

from .. import _core
from .._base.errors import NotFoundError, StateError, UnsupportedError, argument_error
from .._base.markup import facts, or_text, titled
from .._base.public import public
from .._dataset import arguments
from .._source.fingerprint import fingerprint
from .._source.workers import reporter_in
from .._struct.batches import structured_of
from .._tensor.conversion import framework, register_with_jax, to_jax, to_numpy
from .batch import PLACE, Batch, Position
from .iteration import Iteration, Progress
from .mixture import Mixture
from .packing import packing_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self, TypeAlias

    from typing_extensions import TypeVar

    from .._source.base import SourceBase
    from .._struct.tensor import StructuredTensor
    from .._tensor.adapter import PadsLike
    from .._types import (
        AnyTensor,
        JaxTensor,
        NumpyTensor,
        TorchBatch,
        TorchDataset,
        TorchTensor,
    )
    from .arguments import BucketBy, Shuffle
    from .packing import ListsLike, Packing

    # The type of the items: a Batch, (Batch, tensor) with a label, a RecordBatch with as_batches.
    Item = TypeVar("Item", default=Any, covariant=True)

    Labelled: TypeAlias = tuple[Batch, AnyTensor]
else:
    from typing import TypeVar

    Item = TypeVar("Item", covariant=True)

_STATE_VERSION = 2
_OPTIONAL = ("bucket_by", "bucket_batches", "pack")  # in states of datasets that have them only
_OF_ONE_SHARD = ("shard", "num_shards")  # a state is one of the whole epoch: any others may load it
_PACKED, _WHOLE = "the position is within a packed batch", "keep the position after a batch"
_BY_POSITION = "pass a Position to load_state_dict, which loads it unchecked"


_SHUFFLES = {
    _core.SHUFFLE_NONE: "no",
    _core.SHUFFLE_GLOBAL: "global",
    _core.SHUFFLE_WINDOW: "window",
}


@public
class Dataset(Generic[Item]):
    """Batches of a source for training. `Source.dataset` creates it; iterate it.

    Batch k of an epoch depends only on the data, the seed, the epoch, the batch size, the shuffling
    and the shard. It does not depend on threads, on workers, or on where the iteration began. Each
    iter() is independent. It begins with the first batch of the first epoch, or once after the
    state given to `load_state_dict`. A dataset pickles as its source does, without running
    iterations.

    >>> src = cst.open("trips.tfrecord", schema="trips.pbtxt")
    >>> trips = src.dataset(batch_size=2, shuffle=True, seed=1, epochs=2)
    >>> batches = iter(trips)
    >>> first = next(batches)
    >>> state = trips.state_of(first.position)  # resumes after this batch
    >>> len(trips), first.position
    (2, Position(epoch=0, batch=0))
    """

    __slots__ = (
        "__weakref__",
        "_core",
        "_epochs",
        "_fingerprint",
        "_first_epoch",
        "_label",
        "_latest",
        "_loaded",
        "_loads",
        "_maps",
        "_options",
        "_packing",
        "_pad",
        "_process",
        "_report_place",
        "_rows_only",
        "_shared",
        "_source",
        "_told",
    )

    def __init__(
        self,
        source: SourceBase,
        *,
        batch_size: int | None = None,
        shuffle: Shuffle = False,
        seed: int = 0,
        epochs: int | None = 1,
        drop_last: bool = False,
        shard: tuple[int, int] = (0, 1),
        window: int = 65536,
        interleave: int | None = None,
        label: str | None = None,
        pad: PadsLike = None,
        bucket_by: BucketBy = None,
        prefetch: int = 2,
        threads: int = 1,
        memory_budget: int = 256 << 20,
        as_batches: bool = False,
        ids: bool | tuple[str, str] = False,
        consumed: int = 0,
    ) -> None:
        number, count = arguments.as_shard(shard)
        names = arguments.as_ids(ids)
        self._source: SourceBase | Mixture = source if names is None else source._with_ids(names)
        self._label = arguments.as_label(label, as_batches)
        self._pad = arguments.as_pad(pad)
        self._rows_only = bool(as_batches)
        self._maps: tuple[Callable[[Any], Any], ...] = ()
        self._packing: Packing | None = None
        self._epochs = None if epochs is None else arguments.count("epochs", epochs)
        self._first_epoch = 0
        self._loaded: Position | None = None
        self._loads = 0  # states that were loaded, so that workers of many loaders take each once
        self._latest: Progress | None = None
        self._fingerprint: dict[str, str] | None = None  # of the source, once a state asked for it
        self._told = 0  # how often it was said with what further iterations begin
        self._shared: Any = None  # with worker processes, see _torch
        self._process = os.getpid()  # that made it
        self._report_place = self._source._reported()
        self._options: dict[str, Any] = {
            "batch_size": source.batch_size
            if batch_size is None
            else arguments.count("batch_size", batch_size),
            "shuffle": arguments.as_shuffle(shuffle),
            "window": arguments.count("window", window),
            "interleave": arguments.as_interleave(interleave),
            "seed": arguments.number("seed", seed, 0, 2**64 - 1),
            "drop_last": bool(drop_last),
            "shard": number,
            "num_shards": count,
            "prefetch": arguments.number("prefetch", prefetch, 0, 4096),
            "threads": arguments.number("threads", threads, 1, 1024),
            "memory_budget": arguments.number("memory_budget", memory_budget, 0, 2**63 - 1),
            "bucket_by": arguments.as_bucket(bucket_by, source, self._rows_only),
        }
        self._begin()
        self._check_label()
        if consumed != 0:
            self._consume(arguments.number("consumed", consumed, 0, 2**63 - 1))

    def _begin(self) -> None:
        """Opens the dataset with self._options. The thread that reads reports dropped records; it
        has to be the caller's."""
        register_with_jax()
        if isinstance(self._source, Mixture):
            self._core = self._source.open(self._options, self._packing is not None)
            return
        options = {**self._options, "pads": ()}
        bucket: arguments.Bucket | None = options.pop("bucket_by")
        options["bucket_by"] = None if bucket is None else bucket.path
        options["bucket_by_value"] = bucket is not None and bucket.by_value
        options["bucket_batches"] = 0 if bucket is None else bucket.batches
        if self._pad:
            from .._tensor.adapter import core_pads

            options["pads"] = core_pads(self._pad, self._source.tensor_representations())
        if self._packing is not None:
            options["drop_last"] = False  # of rows: packed batches are left out by themselves
        if self._source._options["on_error"] is not None:
            options["prefetch"] = 0
        self._core = _core.Dataset(self._source._core, **options)

    def _make_in_turn(self) -> None:
        """From now on, one thread is enough: batches are made by the thread that asks for them."""
        if self._options["threads"] == 1 and self._options["prefetch"] > 0:
            self._options = {**self._options, "prefetch": 0}
            self._begin()

    # Properties

    @property
    def source(self) -> SourceBase:
        """The source; for a mix, the source of its first dataset."""
        return self._source.first if isinstance(self._source, Mixture) else self._source

    @property
    def files(self) -> list[str]:
        """The files, numbered as in the column that `ids` adds."""
        if isinstance(self._source, Mixture):
            return self._source.files
        return self._source._core.opened()

    @property
    def batch_size(self) -> int:
        """The number of rows of each batch; only the last batch of an epoch may have fewer."""
        size: int = self._options["batch_size"]
        return size

    @property
    def epochs(self) -> int | None:
        """How often an iteration repeats the data; None: forever."""
        return self._epochs

    @property
    def label(self) -> str | None:
        """The name of the tensor that is returned separately."""
        return self._label

    @property
    def shuffle(self) -> str:
        """The order of the rows: "none", "global" or "window"; "mixed" for a mix of datasets that
        differ. To choose between the last two, shuffle=True may read the record lengths of files
        without an index."""
        return arguments.SHUFFLE_NAMES[self._core.shuffle()]

    @property
    def num_rows(self) -> int:
        """The number of rows of an epoch, over all shards. Reads the input if it is unknown, as
        `Source.num_rows` does."""
        return self._core.num_rows()

    @property
    def num_batches(self) -> int:
        """The number of batches of an epoch, in this shard. Reads the input if needed, as
        `num_rows` does. UnsupportedError for packed batches, whose number depends on the order of
        the rows."""
        if self._packing is not None:
            hint = "count them while you iterate"
            raise UnsupportedError(
                f"the number of packed batches is known only at the end ({hint})"
            )
        return self._core.num_batches()

    def __len__(self) -> int:
        """Batches of *one* epoch (of this shard) of plain TFRecord files. TypeError for sources
        that would have to be read first: use num_batches for these."""
        if self._packing is not None or not self._is_direct():
            raise TypeError(
                "the length of this dataset is not known without reading: use num_batches (a "
                "DataLoader takes ds.torch(), and batch_size=None)"
            )
        return self._core.num_batches()

    def __getitem__(self, index: Any) -> NoReturn:
        """TypeError: a DataLoader over the dataset itself would end up here."""
        refuse_index()

    def __bool__(self) -> bool:
        return True

    def _check_label(self) -> None:
        if self._label is not None and self._label not in self._source.tensor_representations():
            raise NotFoundError(f"label: there is no tensor {self._label!r}", path=self._label)

    def _is_direct(self) -> bool:
        """True if each row can be reached directly; for a mix, if it has an end and this is true
        for all of its datasets."""
        if isinstance(self._source, Mixture):
            return not self._source.is_endless and all(one._is_direct() for one in self._source)
        try:
            self._core.order(0, 0, 0)
        except UnsupportedError:
            return False
        return True

    def order(self, epoch: int = 0, begin: int = 0, end: int | None = None) -> array[int]:
        """The row numbers at positions [begin, end) of an epoch, over all shards, as an array of
        unsigned 64-bit integers, for your own samplers. UnsupportedError unless the rows have
        random access (`Source.take`)."""
        count = self.num_rows
        first, last, _ = slice(begin, end).indices(count)
        rows = array("Q")
        rows.frombytes(self._core.order(epoch, first, max(last - first, 0)))
        return rows

    def map(self, fn: Callable[[Any], Any]) -> Dataset[Item]:
        """Returns the same dataset with fn(batch) instead of each batch. Several functions are
        called in the order in which they were added. The order of the batches, positions and states
        do not change.

        fn gets a batch in the form that the loop uses: a dict of cst tensors by name, of torch
        tensors with .torch(), or of arrays with .numpy() and .jax(), including the label; a
        RecordBatch with as_batches. It may change the dict, and must return it or another one; the
        result becomes a Batch with the same position. The label is separated afterwards.

        fn runs where the batch is used: in the workers of a DataLoader (if workers are
        spawned, fn must pickle), otherwise in the thread that iterates.
        """
        if not callable(fn):
            raise TypeError(f"map takes a function, not {type(fn).__name__}")
        made = self._restore(self._source, self._parts())
        made._maps = (*self._maps, fn)
        return made

    def pack(self, lists: ListsLike, *, split: bool = False) -> Dataset[Item]:
        """Returns the same dataset with packed rows: batches of `batch_size` rows of fixed length,
        each of which contains the lists of several rows one after the other.

        lists: name -> length of a packed row, or (value, length), or Pad (which may truncate longer
            lists). The value fills empty places. Other tensors are dropped.
        split: False: lists stay whole. The lists of a row go into the first packed row of the batch
            that has room for all of them; the batch is complete when the lists of the next row fit
            nowhere. A list longer than the length is a SchemaError, unless it is truncated. True:
            rows follow each other without gaps and continue in the next packed row. In this case,
            all lists of a row must have the same length, and so must the packed rows.

        A batch has dense tensors of shape [batch_size, length]: `name`; `name_segment_ids`, which
        numbers the rows in a packed row from 1 on (0: empty); `name_positions`, the position of a
        value in its row, or in this part of the row. Functions added with `map` before pack get
        rows (as cst tensors); functions added after it get packed batches.

        A batch still depends only on (data, seed, epoch, number, shard), and states say where the
        rows continue. The rows are divided among shards, in batches of batch_size rows, before they
        are packed. Therefore shards may have different numbers of packed batches, and a state is
        valid only for its shard. The number of batches is known only at the end.
        """
        if self._packing is not None:
            raise argument_error("the rows are packed already")
        if self._pad or self._rows_only:
            what = "pad" if self._pad else "as_batches"
            raise argument_error(f"pack sets the length of its tensors itself: leave {what} out")
        if self._loaded is not None:
            raise StateError("a state was loaded before pack() (load it after pack())")
        tensors = self._source.tensor_representations()
        packing = packing_of(lists, split, tensors, self._maps)
        if self._label is not None and self._label not in packing.names:
            raise NotFoundError(
                f"the label {self._label!r} is not one of the packed tensors", path=self._label
            )
        made = self._restore(self._source, self._parts())
        made._packing, made._maps = packing, ()
        made._begin()
        return made

    # Iterating

    def __iter__(self) -> Iteration[Item]:
        self._check_worker()
        return self.iterate()

    def _check_worker(self) -> None:
        """StateError in one of several workers of a DataLoader, because each of them would return
        all rows. A worker that created the dataset for a shard may have divided the rows itself."""
        data = sys.modules.get("torch.utils.data")
        worker = None if data is None else data.get_worker_info()
        divides = self._process == os.getpid() and self._options["num_shards"] > 1
        if worker is not None and worker.num_workers > 1 and not divides:
            hint = "iterate ds.torch(), or ds.iterate(worker, num_workers) for one worker's part"
            raise StateError(
                f"the dataset is iterated in worker {worker.id} of {worker.num_workers} of a "
                f"DataLoader, and every worker would return every row ({hint})",
                hint=hint,
            )

    def iterate(
        self,
        worker: int = 0,
        num_workers: int = 1,
        start: Position | Mapping[str, Any] | None = None,
    ) -> Iteration[Item]:
        """Returns the batches of worker `worker` of `num_workers`: every num_workers-th batch from
        the start, over all epochs. Taken in turn, the workers give exactly the batches of one
        iteration without workers, whatever their number.

        start: a position or state to begin after, instead of the one given to load_state_dict.
        """
        return self._iterate(worker, num_workers, start)

    def _iterate(
        self,
        worker: int = 0,
        num_workers: int = 1,
        start: Position | Mapping[str, Any] | None = None,
        convert: Callable[[Batch], Batch[Any]] | None = None,
        epochs_before: int = 0,
    ) -> Iteration[Any]:
        """Like iterate, for batches that are converted first. Starts this many epochs later if
        neither start nor a state sets the position."""
        workers = arguments.number("num_workers", num_workers, 1, 2**31 - 1)
        number = arguments.number("worker", worker, 0, workers - 1)
        first = self._first_epoch
        if start is None:
            after = self._loaded
            self._loaded = None
            first += epochs_before if after is None else 0
        else:
            after = self._position_of(start)
            first = self._first_epoch_of(start)
        made = Iteration(self, after, first, number, workers, convert)
        made.reporter = reporter_in(self._report_place)
        self._latest = made._progress
        return made

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch in which the next iterations begin, for loops that iterate once per epoch.
        A loaded state stays valid if it belongs to this epoch."""
        self._first_epoch = arguments.number("epoch", epoch, 0, 2**63 - 1)
        if self._loaded is not None and self._loaded.epoch != epoch:
            self._loaded = None
        self._tell()

    # State

    def state_dict(self) -> dict[str, Any]:
        """The state after the last batch that the latest iteration delivered, as numbers and
        strings only. It also contains everything the order depends on, and the view, stages,
        columns and schema of the batches, so that a different dataset refuses it."""
        if self._loaded is None and self._latest is not None:
            return self._state(self._latest.position, self._latest.first_epoch)
        return self.state_of(self._loaded)

    def state_of(self, position: Position | None, row: int | None = None) -> dict[str, Any]:
        """The state after the batch of a position (None: at the beginning), or after one row of
        that batch: the remaining rows then come first, as a batch of their own. Rows are numbered
        as they were delivered."""
        if row is not None:
            if position is None:
                raise argument_error("row is given without position")
            if self._packing is not None:
                raise argument_error(_PACKED, _WHOLE)
            most = self.batch_size - 1 - position.first_row
            position = position.within(arguments.number("row", row, 0, most))
        return self._state(position, self._first_epoch)

    def _state(self, position: Position | None, first_epoch: int) -> dict[str, Any]:
        at = Position(first_epoch, -1) if position is None else position
        return {**at._asdict(), "first_epoch": first_epoch, **self._print()}

    def _print(self) -> dict[str, Any]:
        """Everything that the order and the content of the batches depend on."""
        if isinstance(self._source, Mixture):
            text = None if self._packing is None else self._packing.text
            return self._source.printed([one._print() for one in self._source], text)
        options = self._options
        direct = self._is_direct()
        size = self.num_rows if direct else (self._source.total_bytes or 0)
        made: dict[str, Any] = {
            "version": _STATE_VERSION,
            "seed": options["seed"],
            "shuffle": self.shuffle,
            "batch_size": options["batch_size"],
            "drop_last": options["drop_last"],
            **{name: options[name] for name in _OF_ONE_SHARD},
            "rows" if direct else "bytes": size,
        }
        if made["shuffle"] == "window":
            made["window"] = options["window"]
            made["interleave"] = options["interleave"] or _core.INTERLEAVE
        bucket: arguments.Bucket | None = options["bucket_by"]
        if bucket is not None:
            made["bucket_by"], made["bucket_batches"] = bucket.text, bucket.batches
        if self._packing is not None:
            made["pack"] = self._packing.text
        if self._fingerprint is None:
            self._fingerprint = fingerprint(self._source)
        return {**made, **self._fingerprint}

    def load_state_dict(self, state: Mapping[str, Any] | Position | Batch[Any]) -> None:
        """Makes the next iteration begin after this state, or after the batch of this position,
        with any number of workers, threads and shards. StateError if the state belongs to a dataset
        with other batches.

        The state of one shard is valid for all shards, because all have delivered the same number
        of batches. With another number of shards, the rest of the epoch is divided among them: each
        remaining row comes once. Give all shards the same state.
        """
        position, first_epoch = self._position_of(state), self._first_epoch_of(state)
        self._loaded, self._first_epoch = position, first_epoch
        self._loads += 1
        self._tell()

    def _tell(self) -> None:
        """Tells workers where further iterations begin."""
        self._told += 1
        if self._shared is not None:
            self._shared.tell(self)

    def _first_epoch_of(self, state: Mapping[str, Any] | Position | Batch[Any]) -> int:
        """A position alone does not tell in which epoch its iteration began."""
        if isinstance(state, tuple | Batch):
            return self._first_epoch
        return arguments.part_of_state("first_epoch", state.get("first_epoch", self._first_epoch))

    def _position_of(self, state: Mapping[str, Any] | Position | Batch[Any]) -> Position:
        if isinstance(state, Batch):
            if state.position is None:
                raise argument_error(
                    "this batch was not delivered by a dataset: it has no position"
                )
            return state.position
        if isinstance(state, tuple) and 2 <= len(state) <= len(Position._fields):
            given = dict(zip(Position._fields, state, strict=False))
        elif isinstance(state, Mapping):
            self._compare(state)
            given = {name: state[name] for name in Position._fields if name in state}
            given = self._divided(given, arguments.count("num_shards", state["num_shards"]))
        else:
            kind = type(state).__name__
            raise TypeError(f"a state must be a dict of state_dict(), or a Position, not {kind}")
        parts = {name: arguments.part_of_state(name, value) for name, value in given.items()}
        position = Position(**parts)
        if position.row != -1 and self._packing is not None:
            raise argument_error(_PACKED, _WHOLE)
        return position

    def _divided(self, place: dict[str, Any], num_shards: int) -> dict[str, Any]:
        """The position of a state with this number of shards, as a position of this dataset. If the
        number of shards differs, the epoch is divided again after the batch that each of them had
        delivered."""
        if num_shards == self._options["num_shards"]:
            return place
        if self._packing is not None:
            hint = "use the same number of shards, or start at an epoch"
            raise StateError(
                f"the state is of one of {num_shards} shards, and packed rows cannot be "
                f"divided again ({hint})",
                hint=hint,
            )
        batch, origin = (arguments.part_of_state(name, place[name]) for name in ("batch", "origin"))
        if place.get("row", -1) != -1:
            hint = "use the same number of shards, or keep the state after a whole batch"
            raise StateError(
                f"the state is within a batch of one of {num_shards} shards; this dataset has "
                f"{self._options['num_shards']} ({hint})",
                hint=hint,
            )
        return {**place, "batch": -1, "origin": origin + (batch + 1) * num_shards}

    def _compare(self, state: Mapping[str, Any]) -> None:
        version = state.get("version")
        if version != _STATE_VERSION:
            what = "no version" if version is None else f"version {version!r}"
            raise StateError(
                f"the state has {what}, expected version {_STATE_VERSION}: it does not belong to "
                f"a dataset, or was made by another release ({_BY_POSITION})",
                hint=_BY_POSITION,
            )
        own = self._print()
        wanted = (*PLACE, *own)
        missing = [name for name in wanted if name not in state and name not in _OPTIONAL]
        if missing:
            raise StateError(
                f"the state has no {missing[0]!r}: it does not belong to a dataset like this one"
            )
        for name in _OPTIONAL:
            own.setdefault(name, None)
        for name, value in own.items():
            if name in _OF_ONE_SHARD:
                continue
            # A loop that failed at a record has delivered only valid ones.
            theirs = state.get(name)
            if theirs != value and (name, theirs) != ("on_error", "raise"):
                raise StateError(
                    f"the state belongs to a dataset with {name} {theirs!r}, but this one has "
                    f"{value!r} (create the dataset with the same arguments and data, or "
                    f"{_BY_POSITION})",
                    hint=f"create the dataset with the same arguments and data, or {_BY_POSITION}",
                )

    def _consume(self, consumed: int) -> None:
        """Begins after this many batches, counted over the epochs."""
        try:
            batches = self.num_batches
        except UnsupportedError:  # it can be read only once: one epoch
            batches = consumed
        if batches > 0 and consumed > 0:
            epoch, batch = divmod(consumed - 1, batches)
            self._loaded = Position(epoch, batch)

    def structured(self) -> Dataset[StructuredTensor]:
        """Returns the same dataset with each batch as a StructuredTensor of rank 1 whose fields are
        the columns. Nothing is copied. Functions added with `map` get this tensor and may return
        any Arrow data. ArgumentError with a label or with pad, which need tensors. The batches have
        no `position`: save `state_dict()` of the iteration to resume."""
        if self._label is not None or self._pad or self._packing is not None:
            raise argument_error("structured() does not support label, pad and pack")
        made: Dataset[Any] = self._restore(self._source, self._parts())
        made._rows_only = True
        return made.map(structured_of)

    # Frameworks

    @overload
    def numpy(self: Dataset[Batch]) -> Converted[Batch[NumpyTensor]]: ...

    @overload
    def numpy(self: Dataset[Labelled]) -> Converted[tuple[Batch[NumpyTensor], NumpyTensor]]: ...

    def numpy(self) -> Converted[Any]:
        """Returns an iterable of the batches as numpy arrays, as `to_numpy` makes them."""
        return self._converted(to_numpy)

    @overload
    def jax(self: Dataset[Batch]) -> Converted[Batch[JaxTensor]]: ...

    @overload
    def jax(self: Dataset[Labelled]) -> Converted[tuple[Batch[JaxTensor], JaxTensor]]: ...

    def jax(self) -> Converted[Any]:
        """Returns an iterable of the batches as JAX arrays, as `to_jax` makes them."""
        framework("jax", "jax", "JAX")
        return self._converted(to_jax)

    def _converted(self, convert: Callable[[Any], Any]) -> Converted[Any]:
        if self._rows_only:
            raise argument_error("a dataset with as_batches has no tensors")
        return Converted(self, convert)

    @overload
    def torch(
        self: Dataset[Batch], *, jagged: bool = True, device: Any = None
    ) -> TorchDataset[TorchBatch]: ...

    @overload
    def torch(
        self: Dataset[Labelled], *, jagged: bool = True, device: Any = None
    ) -> TorchDataset[tuple[TorchBatch, TorchTensor]]: ...

    def torch(self, *, jagged: bool = True, device: Any = None) -> Any:
        """Returns a torch.utils.data.IterableDataset that returns each batch as a Batch of torch
        tensors. See `to_torch`, also for jagged.

        DataLoader(ds.torch(), batch_size=None, num_workers=n) gives the same batches in the same
        order for every n. To resume, save ds.state_of(batch.position); torchdata's
        StatefulDataLoader saves the state itself.

        device: a torch.device or its name, such as "cuda": the batches are on it when the loop gets
            them, and the next one is copied meanwhile, as prefetch_to_device does. It is not for
            the workers of a DataLoader: call prefetch_to_device with the loader.
        """
        made = framework("torch", "torch", "PyTorch").TorchDataset
        if device is None:
            return made(self, jagged)
        made = framework("torch_device", "torch", "PyTorch").TorchDeviceDataset
        return made(self, jagged, device)

    def tf(self) -> Any:
        """Returns a tf.data.Dataset of the batches, in order; see `to_tf`. Its element_spec is
        known before the first batch, with the batch size if drop_last is set. Its cardinality is
        known if len(dataset) is.

        Each further iteration, such as by repeat() or an epoch of Keras, continues with the next
        epochs, in another order. set_epoch and load_state_dict set where the next iteration begins.
        """
        return framework("tf", "tensorflow", "TensorFlow").dataset_of(self)

    # Copying and pickling

    def __reduce__(self) -> tuple[Callable[..., Dataset[Any]], tuple[Any, ...]]:
        return type(self)._restore, (self._source, self._parts())

    def _parts(self) -> tuple[Any, ...]:
        """The arguments from which _restore creates the dataset."""
        return (
            self._options,
            self._epochs,
            self._first_epoch,
            self._label,
            self._pad,
            self._rows_only,
            self._loaded,
            self._loads,
            self._maps,
            self._packing,
            self._process,
            self._report_place,
        )

    @classmethod
    def _restore(cls, source: SourceBase | Mixture, state: tuple[Any, ...]) -> Self:
        """Unpickles a dataset."""
        made = object.__new__(cls)
        made._source = source
        made._latest = None
        made._told = 0
        made._fingerprint = None
        made._shared = None
        (
            made._options,
            made._epochs,
            made._first_epoch,
            made._label,
            made._pad,
            made._rows_only,
            made._loaded,
            made._loads,
            made._maps,
            made._packing,
            made._process,
            made._report_place,
        ) = state
        made._begin()
        return made

    def __repr__(self) -> str:
        size = self._options["batch_size"]
        name = self._source._name(self._source.files)
        packed = "" if self._packing is None else " packed rows"
        return f"<columnstone.Dataset of {name} in batches of {size}{packed}>"

    @or_text
    def _repr_html_(self) -> str:
        told = self._options
        known: list[tuple[str, object]] = [
            ("source", self._source._name(self._source.files)),
            ("batch size", told["batch_size"]),
            ("shuffle", _SHUFFLES.get(self._core.shuffle())),
            ("seed", told["seed"]),
            ("epochs", "without end" if self._epochs is None else self._epochs),
            ("shard", f"{told['shard']} of {told['num_shards']}"),
            ("label", self._label),
            ("packed", None if self._packing is None else "yes"),
        ]
        return titled("Dataset", facts(known))


def refuse_index() -> NoReturn:
    """Raises: datasets have batches in order, and no rows by number."""
    raise TypeError(
        "a dataset cannot be indexed: iterate over it; in PyTorch, use DataLoader(ds.torch(), "
        "batch_size=None), or src.torch_map() for rows by number"
    )


class Converted(Generic[Item]):
    """A dataset whose batches are converted one by one. It can be iterated as often as the
    dataset."""

    def __init__(self, dataset: Dataset[Any], convert: Callable[[Any], Any]) -> None:
        self._dataset = dataset
        self._convert = convert

    def __iter__(self) -> Iterator[Item]:
        self._dataset._check_worker()
        return self._dataset._iterate(convert=self._convert)

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, index: Any) -> NoReturn:
        """As that of the dataset."""
        refuse_index()

    def __bool__(self) -> bool:
        return True
