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
    """Opened input files. Iterate a source to get record batches, call `tensors` to get tensors, or
    pass it to pyarrow, Polars or DuckDB.

    Each iter() and each __arrow_c_stream__() starts a new, independent pass over the files. Several
    passes can run at the same time, in several threads. An input that can be read only once, such
    as a pipe, raises StateError on the second pass.

    A source is a context manager. It pickles by its paths and options, but not with file objects or
    Arrow objects. Its threads start with the first batch, so you can send a source to worker
    processes.

    Uncompressed TFRecord files also allow random access: len(source) is the number of *rows*
    (iteration gives batches), source[i] is the batch of one row, source[[3, 5]] the batch of
    several, and source[a:b] a Source of those rows. An index file next to the data (`Index.build`)
    is used if there is one; without it, the record lengths are read once, on first use.

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
        """Reads all rows as structured tensors of rank 1: one for each batch, with the columns as
        fields. Nothing is copied.

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
        """Reads all rows once, with all threads, and returns what an accumulator computes from
        them. It sees all columns, even those that `columns` leaves out.

        accumulator: a name (columnstone.accumulate.accumulators lists them) with its options, or an
            existing accumulator, to which the rows are added.
        progress: a function that is called from time to time with the bytes and records read so
            far; it stops the pass by returning False.

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
        """Reads all rows once and returns their statistics. The arguments are those of
        `Statistics`; progress is the one of `accumulate`, and threads the one of `open` (None: as
        given there).

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
        """Creates batches of tensors for training: shuffled, repeated for several epochs, divided
        among shards and workers, and exactly resumable.

        batch_size: rows of each batch; only the last batch of an epoch may have fewer. By default,
            that of the source.
        shuffle: "global" permutes all rows of uncompressed TFRecord files. "window" permutes the
            rows of each window of `window` rows, and also the order of the windows (or of the
            files, where rows have no random access). True uses "global" for uncompressed files on
            disk and "window" for everything else: compressed files, other formats, file objects,
            and sources that skip damaged records.
        interleave: how many files a window order reads at the same time, so that each window mixes
            their rows; for uncompressed TFRecord files on disk, how many positions a window takes
            its rows from. None: 16; 1: one file after the other.
        seed: each seed has its own order for each epoch. It never changes.
        epochs: how often an iteration repeats the data; None: forever.
        drop_last: leave out the short last batch, and any batch that would make one shard longer
            than another.
        shard: (i, n): take only every n-th batch of each epoch, beginning with batch i.
        label: the name of the tensor to return separately: items are (features, label).
        pad: as for `tensors`.
        bucket_by: a tensor (with as_batches, a column) by whose length rows are grouped, so that
            batches need little padding. The rows of 64 consecutive batches are sorted by length and
            cut into batches again; ("tokens", 200) uses 200 batches. The length is the number of
            values, the number of bytes of a single string, or a single integer itself.
        prefetch: how many batches threads prepare in advance; 0: no threads, the caller prepares
            each batch.
        threads: how many threads prepare batches. The batches and their order do not depend on it.
        memory_budget: uncompressed TFRecord files on disk of at most this many bytes stay in memory
            after the first read, shared by all datasets of the source; 0: never.
        as_batches: return RecordBatch objects instead of tensors.
        ids: add two dense tensors (or columns), "__file__" and "__record__" or two names of your
            own, that say where each row comes from: the number of its file in `Dataset.files`, and
            of its record or row in that file; -1 if unknown.
        consumed: start after this many batches, counted over all epochs.

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
        """The rows of uncompressed TFRecord files by number, as dicts of numpy arrays: a
        RandomAccessDataSource for grain.DataLoader and grain.MapDataset.source. With a label, rows
        are (features, label). pad is the one of `tensors`.

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
        """The rows by number, as dicts of torch tensors: a map-style torch.utils.data.Dataset, for
        your own samplers. Use its `collate` as the collate_fn if any tensor is not dense; jagged is
        the one of `to_torch`."""
        from .._tensor.conversion import framework

        rows = self.grain(label, pad)
        made: TorchRows = framework("torch", "torch", "PyTorch").TorchRows(rows, jagged)
        return made
