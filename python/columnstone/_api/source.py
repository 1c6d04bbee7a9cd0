"""Source: opened inputs, as batches, tensors and rows, and for training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from .._base.arguments import positive
from .._base.public import public
from .._source.base import SourceBase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Literal, Unpack

    from .._core import RecordBatch
    from .._dataset.arguments import BucketBy, Shuffle
    from .._dataset.batch import Batch
    from .._dataset.dataset import Dataset, Labelled
    from .._dataset.rows import Rows
    from .._source.accumulate import AnyAccumulator, Found
    from .._statistics.statistics import Statistics
    from .._struct.tensor import StructuredTensor
    from .._tensor.adapter import PadsLike
    from .._types import DatasetOptions, TorchRows


@public
class Source(SourceBase):
    """Opened files: iterate it for record batches, call tensors() for tensors, or hand it to
    pyarrow, Polars or DuckDB.

    Each iter() and each __arrow_c_stream__() is a new and independent pass over the files; an input
    that can be read only once, such as a pipe, raises StateError on the second. Passes may run at
    once, in threads as well. A Source is a context manager, and pickles by its paths and options
    (not with file objects or Arrow objects); threads start with the first batch, so it may be sent
    to worker processes.

    Plain TFRecord files are read at random, too: len(source) is the number of *rows* (while
    iterating gives batches), source[i] the batch of one row, source[[3, 5]] that of several,
    source[a:b] a Source of these rows. An index file beside the data (`Index.build`) is used if
    there is one; without it the files' frames are read once, when they are first needed.

    >>> src = cst.open("trips.tfrecord", schema="trips.pbtxt")
    >>> src.column_names
    ['company', 'fare', 'zones']
    >>> src[[3, 0]].to_pydict()["fare"]
    [[30.0], [9.5]]
    >>> next(iter(src.tensors()))["zones"].to_list()
    [[1, 2], [3], [], [2, 4, 5]]
    """

    __slots__ = ()

    def structured(self) -> Iterator[StructuredTensor]:
        """One pass as structured tensors of rank 1: each batch with its columns as fields, without
        a copy.

        >>> src = cst.open("trips.tfrecord")
        >>> [st["zones"].to_py() for st in src.structured()]
        [[[1, 2], [3], [], [2, 4, 5]]]
        """
        from .._struct.batches import structured_pass

        return structured_pass(iter(self))

    @overload
    def accumulate(
        self,
        accumulator: str,
        *,
        progress: Callable[[int, int], bool | None] | None = None,
        **options: Any,
    ) -> RecordBatch: ...
    @overload
    def accumulate(
        self,
        accumulator: AnyAccumulator[Found],
        *,
        progress: Callable[[int, int], bool | None] | None = None,
    ) -> Found: ...
    def accumulate(
        self,
        accumulator: str | AnyAccumulator[Any],
        *,
        progress: Callable[[int, int], bool | None] | None = None,
        **options: Any,
    ) -> Any:
        """Reads all rows once, with all threads, and gives what an accumulator finds in them. All
        columns are looked at, whatever `columns` say.

        accumulator: the name of one (columnstone.accumulate.accumulators lists them), with its
            options; or one that is there already, to which the rows are added.
        progress: called now and then with the bytes and records read so far; False stops.

        >>> src = cst.open("trips.tfrecord")
        >>> found = src.accumulate("lengths", columns=["zones"])
        >>> found.column_names[:4]
        ['path', 'level', 'nulls', 'lists']
        """
        from .._source.accumulate import made_of

        one = made_of(accumulator, options)
        self._core.accumulate(one._handle, progress)
        return one.finish()

    def statistics(
        self,
        *,
        columns: Sequence[str] | None = None,
        by: Sequence[str] | None = None,
        weight: str | None = None,
        threads: int | None = None,
        progress: Callable[[int, int], bool | None] | None = None,
        **options: Any,
    ) -> Statistics:
        """Reads all rows once, and gives their statistics. The arguments are those of Statistics,
        the progress that of `accumulate`, and threads that of `open` (None: what it said there).

        >>> stats = cst.open("trips.tfrecord").statistics(by=["company"])
        >>> stats["fare"].mean
        14.6875
        >>> stats.slice(company="Blue")["fare"].mean
        8.375
        """
        from .._statistics.statistics import Statistics

        made = Statistics(columns=columns, by=by, weight=weight, **options)
        if threads is None:
            return self.accumulate(made, progress=progress)
        with self._opened_with(threads=positive("threads", threads)) as source:
            return source.accumulate(made, progress=progress)

    @overload
    def dataset(
        self,
        batch_size: int | None = None,
        shuffle: Shuffle = False,
        seed: int = 0,
        epochs: int | None = 1,
        drop_last: bool = False,
        shard: tuple[int, int] = (0, 1),
        *,
        label: None = None,
        as_batches: Literal[False] = False,
        **options: Unpack[DatasetOptions],
    ) -> Dataset[Batch]: ...

    @overload
    def dataset(
        self,
        batch_size: int | None = None,
        shuffle: Shuffle = False,
        seed: int = 0,
        epochs: int | None = 1,
        drop_last: bool = False,
        shard: tuple[int, int] = (0, 1),
        *,
        label: str,
        as_batches: Literal[False] = False,
        **options: Unpack[DatasetOptions],
    ) -> Dataset[Labelled]: ...

    @overload
    def dataset(
        self,
        batch_size: int | None = None,
        shuffle: Shuffle = False,
        seed: int = 0,
        epochs: int | None = 1,
        drop_last: bool = False,
        shard: tuple[int, int] = (0, 1),
        *,
        label: None = None,
        as_batches: Literal[True],
        **options: Unpack[DatasetOptions],
    ) -> Dataset[RecordBatch]: ...

    @overload
    def dataset(
        self,
        batch_size: int | None = None,
        shuffle: Shuffle = False,
        seed: int = 0,
        epochs: int | None = 1,
        drop_last: bool = False,
        shard: tuple[int, int] = (0, 1),
        *,
        label: str | None = None,
        as_batches: bool = False,
        **options: Unpack[DatasetOptions],
    ) -> Dataset[Any]: ...

    def dataset(
        self,
        batch_size: int | None = None,
        shuffle: Shuffle = False,
        seed: int = 0,
        epochs: int | None = 1,
        drop_last: bool = False,
        shard: tuple[int, int] = (0, 1),
        *,
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
    ) -> Dataset[Any]:
        """Batches of tensors for training: shuffled, in epochs, divided among shards and workers,
        and exactly resumable.

        batch_size: rows of every batch but the short one at the end of an epoch; the source's by
            default.
        shuffle: "global" permutes all rows of the plain TFRecord files; "window" the rows of each
            window of `window` rows, and where rows can be reached one by one the windows too, else
            the files; True is global for plain files on disk and windows for everything else
            (compressed files, other formats, file objects, sources that skip damaged records).
        interleave: files that a window order reads at once, so that each window mixes their rows;
            of plain TFRecord files on disk the places that a window has its rows of. None: 16; 1:
            one file after the other.
        seed: every seed has orders of its own, one per epoch, the same for ever.
        epochs: how often an iteration goes over the data; None: without end.
        drop_last: leave out the short batch, and what would make some shards longer than others.
        shard: (i, n): of the batches of each epoch those with the numbers k % n == i.
        label: the name of the tensor that is given beside the others: items are (features, label).
        pad: as for `tensors`.
        bucket_by: the name of a tensor (of a column, with as_batches): batches have rows of similar
            length, so that little is padded. The rows of 64 batches that follow each other are
            sorted by length and cut into batches again; ("tokens", 200) says how many. The length
            is the number of values, or the bytes of a single string, or a single integer itself.
        prefetch: batches that threads make ahead; 0: the caller makes them, without threads.
        threads: that make them; the batches and their order are the same for every number.
        memory_budget: plain TFRecord files on disk that have no more bytes stay in memory once they
            were read, for all datasets of the source; 0: none do.
        as_batches: give RecordBatch objects instead of tensors.
        ids: two dense tensors (or columns) more, "__file__" and "__record__", or of these two
            names: the number of the file, for `Dataset.files`, and of the record or row in it, that
            each row comes from; -1 where it is not known.
        consumed: begin after so many batches, counted over the epochs.

        >>> src = cst.open("trips.tfrecord", schema="trips.pbtxt")
        >>> trips = src.dataset(batch_size=2, shuffle=True, seed=1)
        >>> [batch["fare"].tolist() for batch in trips]
        [[12.0, 30.0], [7.25, 9.5]]
        >>> for features, fare in src.dataset(4, label="fare"):
        ...     print(sorted(features), fare.shape)
        ['company', 'zones'] (4,)
        """
        from .._dataset.dataset import Dataset

        return Dataset(
            self,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            epochs=epochs,
            drop_last=drop_last,
            shard=shard,
            window=window,
            interleave=interleave,
            label=label,
            pad=pad,
            bucket_by=bucket_by,
            prefetch=prefetch,
            threads=threads,
            memory_budget=memory_budget,
            as_batches=as_batches,
            ids=ids,
            consumed=consumed,
        )

    def grain(self, label: str | None = None, pad: PadsLike = None) -> Rows:
        """The rows of plain TFRecord files by number, as dicts of numpy arrays: a
        RandomAccessDataSource for grain.DataLoader and grain.MapDataset.source. With a label, rows
        are (features, label). pad as for `tensors`.

        >>> src = cst.open("trips.tfrecord", schema="trips.pbtxt")
        >>> rows = src.grain(label="fare")
        >>> len(rows), float(rows[2][1])
        (4, 7.25)
        """
        from .._dataset.rows import Rows

        return Rows(self, label, pad)

    def torch_map(
        self, label: str | None = None, pad: PadsLike = None, *, jagged: bool = True
    ) -> TorchRows:
        """The same as dicts of torch tensors: a map-style torch.utils.data.Dataset, for samplers
        of one's own. Its `collate` is the collate_fn for tensors that are not dense; jagged: as
        for to_torch."""
        from .._tensor.conversion import framework

        rows = self.grain(label, pad)
        made: TorchRows = framework("torch", "torch", "PyTorch").TorchRows(rows, jagged)
        return made
