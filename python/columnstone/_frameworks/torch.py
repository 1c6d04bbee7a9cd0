"""Tensors and datasets in PyTorch."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

import numpy as np
import torch
from torch.utils.data import Dataset as MapDataset
from torch.utils.data import IterableDataset, get_worker_info
from torch.utils.data._utils.collate import default_collate_fn_map, default_convert

from .._base.errors import StateError, argument_error
from .._base.public import public
from .._core import Tensor
from .._dataset.batch import PLACE, Batch, Position
from .._dataset.dataset import Dataset
from .._dataset.rows import Fetched
from .._tensor.conversion import converted, ragged_parts, sparse_parts
from .._tensor.tensor import RaggedTensor, SparseTensor
from .torch_batch import Sealed, TorchBatch, end_with_parent
from .torch_tensors import Offsets, StringTensor, jagged, sparse_coo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import FrameType
    from typing import Self

    from .._core import RecordBatch
    from .._dataset.iteration import Iteration
    from .._dataset.rows import Rows

Item = TypeVar("Item", covariant=True)  # a TorchBatch, or (TorchBatch, tensor) with a label

# Tensors


def to_torch(tensors: Any, jagged: bool = True) -> Any:
    """See _tensor.conversion.to_torch."""
    if not jagged:
        return converted(tensors, _dense, _sparse)
    offsets = Offsets()
    return converted(tensors, _dense, _sparse, lambda tensor: _ragged(tensor, offsets))


def _dense(tensor: Any) -> Any:
    if tensor.dtype == "bytes":
        return StringTensor(tensor, tensor.shape)
    return torch.from_dlpack(tensor)


def _sparse(tensor: SparseTensor) -> Any:
    if tensor.dtype == "bytes":
        return sparse_parts(tensor, _dense)
    indices = torch.from_dlpack(tensor.indices)
    shape = [
        int(indices[:, dim].max()) + 1 if size < 0 and len(indices) > 0 else max(size, 0)
        for dim, size in enumerate(tensor.shape)
    ]
    twice = bool((indices[1:] == indices[:-1]).all(1).any())
    return sparse_coo(indices, torch.from_dlpack(tensor.values), shape, not twice)


def _ragged(tensor: RaggedTensor, offsets: Offsets) -> Any:
    if tensor.dtype == "bytes" or len(tensor.row_splits) > 1:
        return ragged_parts(tensor, _dense)
    shared, shortest, longest, _ = offsets.shared(torch.from_dlpack(tensor.row_splits[0]))
    return jagged(torch.from_dlpack(tensor.values), shared, shortest, longest)


# Datasets


@public
class TorchDataset(IterableDataset[Item], Generic[Item]):  # type: ignore[misc]
    """A dataset for PyTorch: pass it to DataLoader(..., batch_size=None) or to torchdata's
    StatefulDataLoader. The order is the same for any number of workers.

    Items are Batches of torch tensors, as to_torch makes them, with their position; with a label
    (Batch, tensor). With jagged=False, ragged tensors with one level are RaggedTensors of torch
    tensors, as deeper ones are.
    """

    def __init__(self, dataset: Dataset[Any], jagged: bool = True) -> None:
        super().__init__()
        if dataset._rows_only:
            raise argument_error(
                "a dataset with as_batches has no tensors: iterate over the dataset itself"
            )
        self._dataset = dataset
        self._jagged = bool(jagged)
        self._restored = False  # in this worker, by a StatefulDataLoader
        place = dataset._report_place
        if place is not None and place.process != os.getpid():
            dataset._report_place = dataset.source._reported()  # which is asked in this process
        self._shared = dataset._shared
        if self._shared is None:
            self._shared = dataset._shared = _Shared()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._dataset._shared = self._shared

    def __iter__(self) -> TorchIteration[Item]:
        worker = get_worker_info()
        if worker is None:
            return TorchIteration(self._dataset, self._jagged, 0, 1)
        sealed = _is_unseen(sys._getframe(1))
        if sealed and not self._dataset._maps:
            self._dataset._make_in_turn()  # the loader has batches made ahead, and there is no map
        end_with_parent()
        self._shared.follow(self._dataset)
        if not self._restored:
            self._shared.take(self._dataset, worker.seed - worker.id)
        self._restored = False
        return TorchIteration(self._dataset, self._jagged, worker.id, worker.num_workers, sealed)

    def __len__(self) -> int:
        """The number of batches of all epochs. TypeError if the dataset has no length or no end."""
        if self._dataset.epochs is None:
            raise TypeError("this dataset has no end")
        return self._dataset.epochs * len(self._dataset)

    def set_epoch(self, epoch: int) -> None:
        """As Dataset.set_epoch; call it before the loader's iter()."""
        self._dataset.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """As Dataset.state_dict, for loaders without workers. With workers, the loader is ahead of
        the loop: use Dataset.state_of(batch.position) instead."""
        return self._dataset.state_dict()

    def load_state_dict(self, state: Mapping[str, Any] | Position | Batch[Any]) -> None:
        """As Dataset.load_state_dict. It also accepts the state of a StatefulDataLoader, with any
        number of workers. (The loader's own load_state_dict needs the same number of workers.)"""
        if isinstance(state, Mapping) and not isinstance(state, Batch):
            state = _furthest(state)
        self._dataset.load_state_dict(state)
        self._restored = get_worker_info() is not None


@public
class _Shared:
    """State that the process that trains shares with its workers, in shared memory.

    A worker has a copy of the dataset. A persistent worker's copy is outdated when the next epoch
    begins, and the original does not notice that workers begin after a loaded state, which is valid
    for one iteration.
    """

    def __init__(self) -> None:
        self._seen = 0
        # version, first_epoch, loads, has a position, position
        self._numbers = torch.zeros(4 + len(Position._fields), dtype=torch.int64).share_memory_()
        self._taken = torch.tensor([-1, 0]).share_memory_()  # and by which loader

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._numbers.share_memory_()  # if they have come in a plain pickle
        self._taken.share_memory_()

    def tell(self, dataset: Dataset) -> None:
        """Sets where further iterations begin. In a worker, it affects only the worker."""
        if get_worker_info() is not None:
            return
        position = dataset._loaded
        where = (1, *position) if position is not None else (0,) * (1 + len(Position._fields))
        self._seen = int(self._numbers[0]) + 1
        self._numbers[:] = torch.tensor([self._seen, dataset._first_epoch, dataset._loads, *where])

    def follow(self, dataset: Dataset) -> None:
        """Takes over the changes since then."""
        told, first, loads, has, *position = self._numbers.tolist()
        if told != self._seen:
            self._seen = told
            dataset._first_epoch, dataset._loads = first, loads
            dataset._loaded = Position(*position) if has else None

    def take(self, dataset: Dataset, loader: int) -> None:
        """Discards a loaded state after which the workers of another loader have begun."""
        if dataset._loaded is None:
            return
        taken, by = self._taken.tolist()
        if taken != dataset._loads:
            self._taken[1] = loader
            self._taken[0] = dataset._loads
        elif by != loader:
            dataset._loaded = None


def _is_unseen(caller: FrameType) -> bool:
    """True in a DataLoader's worker that passes batches on unchanged: the fetcher of the worker
    calls, and there is no collate_fn. Any other caller gets torch tensors."""
    fetcher = caller.f_locals.get("self")
    return (
        type(fetcher).__module__ == "torch.utils.data._utils.fetch"
        and getattr(fetcher, "collate_fn", None) is default_convert
        and getattr(fetcher, "auto_collation", None) is False
    )


class TorchIteration(Generic[Item]):
    """One worker's part of a dataset. A StatefulDataLoader saves its state."""

    def __init__(
        self,
        dataset: Dataset,
        jagged: bool,
        worker: int,
        num_workers: int,
        sealed: bool = False,
    ) -> None:
        self._dataset = dataset
        self._jagged = jagged
        self._worker = worker
        self._num_workers = num_workers
        self._sealed = sealed
        self._iteration = self._iterate(None)

    def _iterate(self, start: Mapping[str, Any] | None) -> Iteration:
        plain = self._sealed and not self._dataset._maps  # functions get torch tensors
        convert = functools.partial(_batch_to_seal if plain else _batch, jagged=self._jagged)
        return self._dataset._iterate(self._worker, self._num_workers, start, convert)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Item:
        item: Any = next(self._iteration)
        self._worker = self._num_workers - 1  # counted from the batch after this one
        if self._sealed:
            parts = item if isinstance(item, tuple) else (item,)
            item = Sealed(*parts, jagged=self._jagged)
        made: Item = item
        return made

    def state_dict(self) -> dict[str, Any]:
        """The next batches: every num_workers-th batch after the position, starting with number
        `worker`."""
        state = self._iteration.state_dict()
        return {**state, "worker": self._worker, "num_workers": self._num_workers}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues there."""
        if state.get("num_shards") != self._dataset._options["num_shards"]:
            hint = "pass the state of the StatefulDataLoader to ds.torch().load_state_dict"
            raise StateError(
                f"the state of a worker needs the same number of shards ({hint})",
                hint=hint,
            )
        self._worker, self._num_workers = state["worker"], state["num_workers"]
        self._iteration = self._iterate(state)


def _batch(batch: Batch, jagged: bool) -> TorchBatch:
    return TorchBatch(to_torch(dict(batch), jagged), batch.position)


def _batch_to_seal(batch: Batch, jagged: bool) -> Batch:
    """As _batch, but values that can be packed unchanged are not converted."""
    plain = (Tensor, RaggedTensor)
    made = {n: t if isinstance(t, plain) else to_torch(t, jagged) for n, t in batch.items()}
    return Batch(made, batch.position)


def _refuse_collate(batches: list[TorchBatch], **_: Any) -> NoReturn:
    """Called by a DataLoader with a batch_size, which would make batches of batches."""
    hint = "DataLoader(ds.torch(), batch_size=None); the dataset has its own batch_size"
    raise argument_error(f"the DataLoader would stack {len(batches)} batches", hint)


default_collate_fn_map[TorchBatch] = _refuse_collate


def _furthest(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The state after the last delivered batch: of the workers' states, the one that is furthest
    ahead."""
    found = list(_states_in(state))
    if not found:
        raise StateError("the state contains no state of a dataset")
    last = max(found, key=_place_of)
    if state.get("_steps_since_snapshot", 0) > 0:
        hint = "make the StatefulDataLoader with snapshot_every_n_steps=1"
        raise StateError(f"the state is older than the last batch ({hint})", hint=hint)
    return last


def _place_of(state: Mapping[str, Any]) -> tuple[int, ...]:
    row = state.get("row", -1)  # of a batch; -1 is after all of them
    return state["epoch"], state["origin"], state["batch"], row == -1, row


def _states_in(state: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(state, Mapping):
        if "version" in state and all(name in state for name in PLACE):
            yield state
        else:
            for part in state.values():
                yield from _states_in(part)


# Rows


@public
class TorchRows(MapDataset[Any]):  # type: ignore[misc]
    """The rows of a source by number, as dicts of torch tensors: a map-style dataset, for custom
    samplers. Rows are like those of Rows: a ragged or varlen row is the tensor of its values;
    single strings are bytes.

    DataLoader(rows, batch_size=64, sampler=..., collate_fn=rows.collate) returns the same batches
    as TorchDataset; the default collate_fn works for dense tensors only.
    """

    def __init__(self, rows: Rows, jagged: bool = True) -> None:
        self._rows = rows
        self._jagged = bool(jagged)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, row: int) -> Any:
        batch = self._rows.alone(row)
        made = _row(Fetched(self._rows, self._rows.converted([batch]), 1)[0])
        if isinstance(made, tuple):
            return TorchRow(made[0], batch), *made[1:]
        return TorchRow(made, batch)

    def __getitems__(self, rows: Sequence[int]) -> Fetched:
        return self._rows.fetch(rows, _row)

    def collate(self, rows: Iterable[Any]) -> Any:
        """The batch of rows that were fetched together, or of single rows, as from a ConcatDataset
        of several such datasets."""
        if get_worker_info() is not None:
            end_with_parent()
        tensors = rows.tensors if isinstance(rows, Fetched) else self._joined(rows)
        made = to_torch(tensors, self._jagged)
        return (TorchBatch(made[0]), made[1]) if isinstance(made, tuple) else TorchBatch(made)

    def _joined(self, rows: Iterable[Any]) -> Any:
        heads = [row[0] if isinstance(row, tuple) else row for row in rows]
        if not heads or not all(isinstance(head, TorchRow) for head in heads):
            raise argument_error("collate needs the rows of torch_map()")
        return self._rows.converted([head.batch for head in heads])


class TorchRow(dict[str, Any]):
    """The tensors of a row by name, with the record batch that `collate` concatenates."""

    __slots__ = ("batch",)

    def __init__(self, tensors: Mapping[str, Any], batch: RecordBatch | None = None) -> None:
        super().__init__(tensors)
        self.batch = batch

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


def _row(row: Any) -> Any:
    if isinstance(row, tuple):
        return tuple(_row(part) for part in row)
    if isinstance(row, dict):
        return {name: _row(part) for name, part in row.items()}
    if isinstance(row, RaggedTensor):
        return ragged_parts(row, _cell)
    return sparse_parts(row, _cell) if isinstance(row, SparseTensor) else _cell(row)


def _cell(value: Any) -> Any:
    if isinstance(value, bytes) or value.dtype == object:
        return value
    return torch.from_numpy(np.array(value))  # a copy: rows are written to
