"""Packed batches: the lists of many rows, one after the other, in rows of a fixed length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._base.errors import Error, NotFoundError, argument_error
from .._tensor.adapter import Pad, core_pads
from .._tensor.encoder import core_tensors
from .batch import Batch, Position

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self, TypeAlias

    from .._core import Loader
    from .._tensor.adapter import CorePad, PadLike

    ListsLike: TypeAlias = Mapping[str, int | PadLike]
    # Opens the rows of an epoch: (epoch, batch, file, rows before it).
    OpenRows: TypeAlias = Callable[[int, int, int, int], Loader]


class Packing(NamedTuple):
    """The lists to pack, and the options of packing."""

    pads: tuple[CorePad, ...]
    split: bool
    before: tuple[Callable[[Any], Any], ...]  # functions on the batches of rows

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of the tensors of a list."""
        return "", "_segment_ids", "_positions"

    @property
    def names(self) -> list[str]:
        """The names of the tensors of a packed batch."""
        return [name + suffix for name, *_ in self.pads for suffix in self.suffixes]

    @property
    def lengths(self) -> dict[str, Any]:
        """The lengths of the packed rows, by list."""
        return {name: lengths[0] for name, _, lengths, _ in self.pads if lengths is not None}

    @property
    def text(self) -> str:
        """The packing as it is saved in states."""
        lists = ", ".join(f"{name}: {length}" for name, length in self.lengths.items())
        return lists + (", split" if self.split else "")


def packing_of(
    lists: ListsLike,
    split: bool,
    representations: Mapping[str, Any],
    before: tuple[Callable[[Any], Any], ...],
) -> Packing:
    """Checks the lists to pack. If functions run before it, lists may have any name."""
    if not isinstance(lists, Mapping):
        raise TypeError(f"pack takes a dict by tensor name, not {type(lists).__name__}")
    given = {name: Pad(0, of) if isinstance(of, int) else of for name, of in lists.items()}
    known = {name: representations[name] for name in given if name in representations}
    if not before:
        for name in given.keys() - known.keys():
            raise NotFoundError(f"there is no tensor {name!r} to pack", path=name)
    for tensor in known.values():
        _check_list(tensor)
    pads = core_pads(given, known, unknown=bool(before))
    for name, _, lengths, _ in pads:
        if lengths is None or len(lengths) != 1 or isinstance(lengths[0], tuple) or lengths[0] < 1:
            raise argument_error(f"pack[{name!r}]: the length is an int above 0")
    _core.Packer(pads, 1, bool(split))  # which checks them against each other
    return Packing(pads, bool(split), before)


def _check_list(tensor: Any) -> None:
    if tensor.dtype == "bytes":
        raise argument_error(f"pack[{tensor.name!r}]: strings cannot be packed")
    is_list = {
        "dense": len(tensor.shape) == 1,
        "varlen_sparse": True,
        "ragged": not tensor.partitions,
    }
    if not is_list.get(tensor.kind, False):
        hint = (
            "name a ragged tensor with one level, a varlen tensor or a dense tensor with one "
            "dimension"
        )
        raise argument_error(f"pack[{tensor.name!r}]: its rows are not lists of values", hint)


class PackedBatches:
    """An iterator over the packed batches of an epoch after a position: dicts of Tensors, each with
    its position. tell is called after each batch of rows.

    A position names the row, and the value in it, where the next batch begins, by its place in the
    batches of rows of the dataset's shard. A position without them (all 0) is found by packing
    everything that comes before it. After an error, every further call raises it again.
    """

    __slots__ = (
        "_after",
        "_batch",
        "_drop_last",
        "_failure",
        "_given",
        "_loader",
        "_number",
        "_packer",
        "_packing",
        "_place",
        "_rows",
        "_skip",
        "_tell",
    )

    def __init__(
        self,
        packing: Packing,
        open_rows: OpenRows,
        after: Position,
        rows: int,
        drop_last: bool,
        tell: Callable[[Loader], None],
    ) -> None:
        begin = (after.source_batch, after.source_row, after.source_value)
        self._packing = packing
        self._packer = _core.Packer(packing.pads, rows, packing.split)
        self._rows = rows
        self._drop_last = drop_last
        self._after = after
        self._skip = after.batch + 1 if begin == (0, 0, 0) else 0
        self._number = after.batch + 1 - self._skip
        self._batch = Position(after.epoch, after.source_batch, after.file, after.rows_before)
        self._place = begin[1:]  # row and value of the batch of rows
        self._given: Any = None  # the rest of which is to be packed
        self._failure: BaseException | None = None
        self._tell = tell
        self._loader = open_rows(after.epoch, *self._batch[1:4])

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[dict[str, Any], Position]:
        if self._failure is not None:
            raise self._failure
        try:
            return self._next()
        except StopIteration:
            raise
        except BaseException as error:
            self._failure = error
            raise

    def _next(self) -> tuple[dict[str, Any], Position]:
        while True:
            is_full = self._fill()
            made = self._packer.take()
            if made is None or (not is_full and self._drop_last and self._is_short(made)):
                raise StopIteration
            self._number += 1
            if self._number > self._skip:
                return made, self._position()

    def _is_short(self, made: Mapping[str, Any]) -> bool:
        rows: int = made[self._packing.pads[0][0]].shape[0]
        return rows < self._rows

    def _position(self) -> Position:
        at = self._batch
        where = Position(at.epoch, self._number - 1, at.file, at.rows_before)
        row, value = self._place
        return where._replace(source_batch=at.batch, source_row=row, source_value=value)

    def _fill(self) -> bool:
        """Packs until a batch is full, or until the rows end."""
        while self._given is not None or self._read():
            row, value, is_full = self._add()
            self._place = (row, value)
            if is_full:
                return True
            self._given = None
            self._batch = self._batch._replace(batch=self._batch.batch + 1)
            self._place = (0, 0)
        return False

    def _add(self) -> tuple[int, int, bool]:
        try:
            return self._packer.add(self._given, *self._place)
        except Error as error:
            if error.record is not None:
                at = self._batch
                error.add_note(
                    f"in a row of batch {at.batch} of epoch {at.epoch}, counted before packing"
                )
            raise

    def _read(self) -> bool:
        """Takes the next batch of rows, and describes its lists."""
        try:
            made = next(self._loader, None)
        finally:
            self._tell(self._loader)
        if made is None:
            return False
        content, *place = made
        self._batch = Position(*place)
        self._given = core_tensors(self._lists_of(Batch(content, self._batch)))
        return True

    def _lists_of(self, batch: Any) -> dict[str, Any]:
        for fn in self._packing.before:
            batch = fn(batch)
        names = [name for name, *_ in self._packing.pads]
        for name in names:
            if name not in batch:
                raise argument_error(f"a function of map dropped the list {name!r}")
        return {name: batch[name] for name in names}

    def close(self) -> None:
        """Stops the threads that read rows."""
        self._loader.close()
