"""Sparse and ragged tensors: named parts, each a Tensor."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic

from .._base.markup import or_text
from .._base.public import public_in

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from .._core import Tensor

    # The parts: Tensors, or the arrays that to_numpy and similar functions make from them.
    Part = TypeVar("Part", bound=Any, default=Tensor)
else:
    from typing import TypeVar

    Part = TypeVar("Part")


@public_in("columnstone.tensor")
class SparseTensor(Generic[Part]):
    """A tensor that stores only some of its values.

    indices: int64 [n, rank], the positions in row-major order
    values: [n], the value at each position
    dense_shape: int64 [rank], rows first

    In PyTorch: torch.sparse_coo_tensor(from_dlpack(t.indices).T, from_dlpack(t.values),
    t.dense_shape.tolist()).
    """

    __slots__ = ("dense_shape", "indices", "values")

    indices: Part
    values: Part
    dense_shape: Part

    def __init__(self, indices: Part, values: Part, dense_shape: Part) -> None:
        self.indices = indices
        self.values = values
        self.dense_shape = dense_shape

    @property
    def dtype(self) -> Any:
        """The type of the values, as in their own `dtype`; a str for a Tensor."""
        return self.values.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """dense_shape as a tuple of int."""
        return tuple(self.dense_shape.tolist())

    def __repr__(self) -> str:
        from .._arrow.show import sparse_text

        return sparse_text(self.indices, self.values, self.shape)

    @or_text
    def _repr_html_(self) -> str:
        from .._arrow.show import sparse_html

        return sparse_html(self.indices, self.values, self.shape)


@public_in("columnstone.tensor")
class RaggedTensor(Generic[Part]):
    """Rows of different lengths, nested to any depth.

    values: [n], or [n] + uniform inner dimensions: all values in order
    row_splits: outermost first; row i of a level is [splits[i], splits[i + 1]) of the level below

    >>> src = cst.open("trips.tfrecord", schema="trips.pbtxt")
    >>> zones = next(iter(src.tensors()))["zones"]
    >>> zones.to_list(), zones.row_splits[0].tolist()
    ([[1, 2], [3], [], [2, 4, 5]], [0, 2, 3, 3, 6])
    """

    __slots__ = ("row_splits", "values")

    values: Part
    row_splits: list[Part]

    def __init__(self, values: Part, row_splits: list[Part]) -> None:
        self.values = values
        self.row_splits = row_splits

    @property
    def dtype(self) -> Any:
        """The type of the values, as in their own `dtype`; a str for a Tensor."""
        return self.values.dtype

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(self.row_splits[0]) - 1

    def __len__(self) -> int:
        return self.num_rows

    def to_list(self) -> list[Any]:
        """The rows as nested lists of Python values."""
        rows: list[Any] = self.values.tolist()
        for splits in reversed(self.row_splits):
            bounds = splits.tolist()
            rows = [rows[a:b] for a, b in pairwise(bounds)]
        return rows

    def __repr__(self) -> str:
        from .._arrow.show import ragged_text

        return ragged_text(self.values, self.row_splits)

    @or_text
    def _repr_html_(self) -> str:
        from .._arrow.show import ragged_html

        return ragged_html(self.values, self.row_splits)
