"""A batch of a dataset, and its position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .._base.markup import or_text, table, titled
from .._base.public import public_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Self

    from typing_extensions import TypeVar

    from .._types import AnyTensor

    Value = TypeVar("Value", default=AnyTensor)  # tensors of this package, or of a framework
else:
    from typing import TypeVar

    Value = TypeVar("Value")


@public_in("columnstone.dataset")
class Position(NamedTuple):
    """The position of a batch: number `batch` (from 0) of the shard's batches in an epoch.

    file and rows_before are for sources that are read in order: to resume at this batch, reading
    starts after this many files of the epoch's order, which have this many rows. origin: the number
    of batches of all shards that were delivered before the epoch was divided among the present
    number of shards; `batch` counts from there. It is 0 unless a state with another number of
    shards was loaded in this epoch. first_row: the first row of the batch that was delivered; 0,
    except for the first batch after a state within a batch. row: for a position within the batch,
    the number of the last delivered row; -1: all rows. The last three are for packed batches: the
    batch of rows in the shard's epoch, the row in it, and the value of that row that are packed
    next.
    """

    epoch: int
    batch: int
    file: int = 0
    rows_before: int = 0
    origin: int = 0
    first_row: int = 0
    row: int = -1
    source_batch: int = 0
    source_row: int = 0
    source_value: int = 0

    def within(self, row: int) -> Position:
        """The position after row `row` of the batch, counted from 0 in the delivered order."""
        return self._replace(row=self.first_row + row)

    def __repr__(self) -> str:
        rest = zip(self._fields[2:], self[2:], strict=True)
        more = [f", {name}={value}" for name, value in rest if value != self._field_defaults[name]]
        return f"Position(epoch={self.epoch}, batch={self.batch}{''.join(more)})"


PLACE = Position._fields[:5]  # what every state has


@public_in("columnstone.dataset")
class Batch(dict[str, Value]):
    """The tensors of a batch by name, with the batch's `position`.

    A dict like any other. Copies and pickles keep the position.
    """

    __slots__ = ("position",)

    position: Position | None

    def __init__(
        self,
        tensors: Mapping[str, Value] | Iterable[tuple[str, Value]] = (),
        position: Position | None = None,
    ) -> None:
        super().__init__(tensors)
        self.position = position

    def __copy__(self) -> Self:
        return type(self)(self, self.position)

    def copy(self) -> Self:
        """A batch with the same tensors and the same position."""
        return self.__copy__()

    def __reduce__(self) -> tuple[Callable[..., Batch[Any]], tuple[Any, ...]]:
        return type(self), (dict(self), self.position)

    def __repr__(self) -> str:
        where = "" if self.position is None else f", {self.position}"
        return f"Batch({dict(self)!r}{where})"

    @or_text
    def _repr_html_(self) -> str:
        rows = [
            (name, type(value).__name__, getattr(value, "dtype", None), _shape_of(value))
            for name, value in self.items()
        ]
        where = "" if self.position is None else f", {self.position}"
        return titled(f"Batch{where}", table(("name", "tensor", "values", "shape"), rows))


def _shape_of(value: object) -> str:
    rows = getattr(value, "num_rows", None)  # of ragged ones
    shape = getattr(value, "shape", None)
    if shape is None and rows is not None:
        return f"({rows}, None)"
    return "" if shape is None else str(tuple(shape))
