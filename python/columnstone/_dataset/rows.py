"""Rows by number, as numpy arrays, for custom samplers and Grain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from .._arrow.table import concat
from .._base.errors import NotFoundError
from .._base.public import public
from .._tensor.adapter import TensorAdapter
from .._tensor.conversion import to_numpy
from .._tensor.tensor import RaggedTensor, SparseTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core import RecordBatch
    from .._source.base import SourceBase
    from .._tensor.adapter import PadsLike


@public
class Rows(Sequence[Any]):
    """The rows of a source by number, as dicts of numpy arrays; a RandomAccessDataSource of Grain.

    The row of a dense tensor is an array with its shape without the first dimension (a scalar if
    nothing is left); that of a varlen tensor, or of a ragged tensor with one level, the array of
    its values; that of a deeper ragged tensor a RaggedTensor; that of any other sparse tensor a
    SparseTensor. Strings are bytes objects; several strings are an array of objects. With a label,
    a row is (features, label).

    Several threads may use it at the same time. It pickles as its source does.
    """

    def __init__(self, source: SourceBase, label: str | None = None, pad: PadsLike = None) -> None:
        self._source = source
        self._count = source._count()
        self._label = label
        specs = source.tensor_representations()
        self._adapter = TensorAdapter(source.arrow_schema, specs, pad=pad)
        if label is not None and label not in specs:
            raise NotFoundError(f"there is no tensor {label!r}", path=label)
        self._varlen = frozenset(n for n, spec in specs.items() if spec.kind == "varlen_sparse")

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, row: int) -> Any: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[Any]: ...

    def __getitem__(self, row: int | slice) -> Any:
        if isinstance(row, slice):
            return self.__getitems__(range(*row.indices(self._count)))
        return self.__getitems__((row,))[0]

    def __getitems__(self, rows: Sequence[int]) -> Fetched:
        """Several rows, read together."""
        return self.fetch(rows)

    _getitems = __getitems__  # Grain's name

    def fetch(self, rows: Sequence[int], convert: Callable[[Any], Any] | None = None) -> Fetched:
        """Several rows, each converted when it is accessed."""
        return Fetched(self, self.tensors(rows), len(rows), convert)

    def tensors(self, rows: Sequence[int]) -> Any:
        """Several rows as one batch of cst tensors."""
        if len(rows) == 0:
            raise IndexError("a batch has at least one row")
        return self.converted([self._source.take(rows)])

    def alone(self, row: int) -> RecordBatch:
        """A row as a record batch."""
        return self._source.take((row,))

    def converted(self, batches: Sequence[RecordBatch]) -> Any:
        """Record batches as one batch of cst tensors."""
        features = self._adapter.convert(batches[0] if len(batches) == 1 else concat(batches))
        if self._label is None:
            return features
        label = features.pop(self._label)
        return features, label

    def row_of(self, arrays: Any, i: int) -> Any:
        """Row i of a batch of numpy tensors."""
        if isinstance(arrays, tuple):
            return tuple(self.row_of(part, i) for part in arrays)
        if isinstance(arrays, dict):
            return {name: self._cell(name, tensor, i) for name, tensor in arrays.items()}
        return self._cell(self._label or "", arrays, i)

    def _cell(self, name: str, tensor: Any, i: int) -> Any:
        if isinstance(tensor, dict):
            return {key: self._cell(f"{name}.{key}", field, i) for key, field in tensor.items()}
        if isinstance(tensor, RaggedTensor):
            return _ragged_row(tensor.values, tensor.row_splits, i)
        if isinstance(tensor, SparseTensor):
            return _sparse_row(tensor, i, name in self._varlen)
        return tensor[i]


class Fetched(Sequence[Any]):
    """Rows that were read together; each is converted when it is accessed."""

    def __init__(
        self, rows: Rows, tensors: Any, count: int, convert: Callable[[Any], Any] | None = None
    ) -> None:
        self.tensors = tensors
        self._convert = convert
        self._rows = rows
        self._count = count
        self._arrays: Any = None

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, i: int) -> Any: ...

    @overload
    def __getitem__(self, i: slice) -> Sequence[Any]: ...

    def __getitem__(self, i: int | slice) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(self._count))]
        if not -self._count <= i < self._count:
            raise IndexError(f"row {i} of {self._count}")
        if self._arrays is None:
            self._arrays = to_numpy(self.tensors)
        row = self._rows.row_of(self._arrays, i % self._count)
        return row if self._convert is None else self._convert(row)


def _ragged_row(values: Any, splits: Sequence[Any], i: int) -> Any:
    begin, end = int(splits[0][i]), int(splits[0][i + 1])
    inner = []
    for level in splits[1:]:
        level = level[begin : end + 1]
        begin, end = int(level[0]), int(level[-1])
        inner.append(level - level[0])
    values = values[begin:end]
    return RaggedTensor(values, inner) if inner else values


def _sparse_row(tensor: Any, i: int, varlen: bool) -> Any:
    rows = tensor.indices[:, 0]
    begin, end = rows.searchsorted(i, "left"), rows.searchsorted(i, "right")
    values = tensor.values[begin:end]
    if varlen:
        return values
    return SparseTensor(tensor.indices[begin:end, 1:], values, tensor.dense_shape[1:])
