"""Sparse and ragged tensors: named parts, each a Tensor."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .._base.public import public

if TYPE_CHECKING:
    from typing import TypeAlias

    from .._core import Tensor

    AnyTensor: TypeAlias = "Tensor | SparseTensor | RaggedTensor | dict[str, AnyTensor]"


@public
class SparseTensor:
    """A tensor of which only some places have a value.

    indices: int64 [n, rank], the places in row-major order
    values: [n], what stands there
    dense_shape: int64 [rank], rows first

    In PyTorch: torch.sparse_coo_tensor(from_dlpack(t.indices).T, from_dlpack(t.values),
    t.dense_shape.tolist()).
    """

    __slots__ = ("dense_shape", "indices", "values")

    indices: Tensor
    values: Tensor
    dense_shape: Tensor

    def __init__(self, indices: Tensor, values: Tensor, dense_shape: Tensor) -> None:
        self.indices = indices
        self.values = values
        self.dense_shape = dense_shape

    @property
    def dtype(self) -> str:
        """The type of the values."""
        return self.values.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """dense_shape as a tuple of int."""
        return tuple(self.dense_shape.tolist())

    def __repr__(self) -> str:
        return (
            f"<columnstone.SparseTensor {self.dtype} {self.shape} with {len(self.values)} values>"
        )


@public
class RaggedTensor:
    """Rows of differing lengths, to any depth.

    values: [n], or [n] + uniform inner dimensions: all values in order
    row_splits: outermost first; row i of a level is [splits[i], splits[i + 1]) of the level below
    """

    __slots__ = ("row_splits", "values")

    values: Tensor
    row_splits: list[Tensor]

    def __init__(self, values: Tensor, row_splits: list[Tensor]) -> None:
        self.values = values
        self.row_splits = row_splits

    @property
    def dtype(self) -> str:
        """The type of the values."""
        return self.values.dtype

    @property
    def num_rows(self) -> int:
        """Number of rows."""
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
        return (
            f"<columnstone.RaggedTensor {self.dtype} of {self.num_rows} rows, "
            f"{len(self.row_splits)} levels, {len(self.values)} values>"
        )
