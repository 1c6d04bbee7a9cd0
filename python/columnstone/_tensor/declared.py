"""Declared tensors: TensorSpec, and the columns of such tensors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from .._base.errors import SchemaError, UnsupportedError, argument_error
from .._base.public import public_in
from .._schema.spec import TensorRepresentation, UniformRowLength
from .conversion import framework

if TYPE_CHECKING:
    from .._schema.spec import Dtype, SplitsDtype

_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "bytes"),
)


@public_in("columnstone.tensor")
@dataclass(frozen=True)
class TensorSpec:
    """The declaration of a tensor, like tf.TensorSpec and related classes.

    dtype is the type of the values, such as "int32", "uint8" or "bytes". shape begins with the
    rows. None is an unknown size; the first ragged_rank sizes of a ragged tensor are all unknown.
    ragged_rank is the number of row splits, row_splits_dtype their type.
    """

    kind: Literal["dense", "sparse", "ragged"]
    dtype: Dtype
    shape: tuple[int | None, ...]
    ragged_rank: int = 0
    row_splits_dtype: SplitsDtype = "int64"

    @classmethod
    def of(cls, spec: Any) -> TensorSpec:
        """A TensorSpec unchanged; TensorFlow's TensorSpec, SparseTensorSpec and RaggedTensorSpec
        converted. Raises UnsupportedError for an unknown rank or an unsupported type."""
        if isinstance(spec, cls):
            return spec
        if type(spec).__module__.partition(".")[0] not in ("tensorflow", "tf_keras", "keras"):
            raise TypeError(f"cannot make a TensorSpec from {type(spec).__name__}")
        made: TensorSpec = framework("tf", "tensorflow", "TensorFlow").spec_of(spec)
        return made

    def takes(self, other: TensorSpec) -> bool:
        """Whether a tensor with the other spec also has this one: a size that this one leaves open
        can be any. The type of row splits does not matter."""
        return (
            (self.kind, self.dtype, self.ragged_rank)
            == (other.kind, other.dtype, other.ragged_rank)
            and len(self.shape) == len(other.shape)
            and all(
                size is None or found is None or size == found
                for size, found in zip(self.shape, other.shape, strict=True)
            )
        )

    def __str__(self) -> str:
        sizes = ", ".join("?" if size is None else str(size) for size in self.shape)
        rank = f", {self.ragged_rank} row splits" if self.kind == "ragged" else ""
        return f"{self.kind} {self.dtype} [{sizes}]{rank}"


def representation_of(
    name: str, spec: TensorSpec, coordinates: bool, value_column: str, index_column: str
) -> TensorRepresentation:
    """The columns of such tensors; coordinates: for a sparse tensor of rank 2, use index columns
    although it could be a varlen tensor."""
    if spec.dtype not in _DTYPES:
        hint = "cast it to integers, float32, float64 or bool"
        raise UnsupportedError(
            f"tensor {name!r}: columns cannot hold values of {spec.dtype} ({hint})",
            path=name,
            hint=hint,
        )
    if not spec.shape or spec.shape[0] is not None:
        raise _unfit(name, spec, "the first size, that of the rows, must be None")
    sizes = spec.shape[1:]
    if spec.kind == "dense":
        return _dense(name, spec, sizes)
    if spec.kind == "ragged":
        return _ragged(name, spec, sizes)
    if len(sizes) == 1 and sizes[0] is None and not coordinates:
        return TensorRepresentation(name, "varlen_sparse", spec.dtype, (name,))
    path = (value_column.format(name=name) if sizes else name,)
    indices = tuple(index_column.format(name=name, i=i) for i in range(len(sizes)))
    dims = tuple(-1 if size is None else size for size in sizes)
    return TensorRepresentation(name, "sparse", spec.dtype, path, dims, indices)


def _dense(name: str, spec: TensorSpec, sizes: tuple[int | None, ...]) -> TensorRepresentation:
    known = tuple(size for size in sizes if size is not None)
    if len(known) != len(sizes):
        raise _unfit(name, spec, "the sizes of a dense tensor must be known, except for the rows")
    return TensorRepresentation(name, "dense", spec.dtype, (name,), known)


def _ragged(name: str, spec: TensorSpec, sizes: tuple[int | None, ...]) -> TensorRepresentation:
    rank = spec.ragged_rank
    inner = tuple(UniformRowLength(size) for size in sizes[rank:] if size)
    if not 0 < rank <= len(sizes) or any(sizes[:rank]) or len(inner) != len(sizes) - rank:
        raise _unfit(
            name,
            spec,
            "the sizes of a ragged tensor must be None up to ragged_rank, and known after it",
        )
    return TensorRepresentation(
        name,
        "ragged",
        spec.dtype,
        (name,),
        partitions=inner,
        row_splits_dtype=spec.row_splits_dtype,
    )


def _unfit(name: str, spec: TensorSpec, rule: str) -> Exception:
    error = argument_error(f"tensor {name!r} is declared as {spec}: {rule}")
    error.path = name
    return error


# ---- tensors for the extension (encoder.py) ----


def check_declared(declared: dict[str, TensorSpec], tensors: tuple[Any, ...]) -> None:
    """Raises SchemaError for a tensor that does not match its declaration."""
    for name, kind, values, _, dense_shape, row_splits, _ in tensors:
        spec = declared.get(name)
        if spec is None:
            continue  # the extension says so
        found = _found(kind, values, dense_shape, row_splits)
        if not spec.takes(found):
            raise SchemaError(
                f"feature {name!r}: found {found}, expected {spec} as declared", path=name
            )


def _found(kind: Any, values: Any, dense_shape: Any, row_splits: tuple[Any, ...]) -> TensorSpec:
    if kind == "structured":
        return TensorSpec(kind, "none", ())  # type: ignore[arg-type]
    is_bytes = isinstance(values, tuple)
    shape = tuple(values[0] if is_bytes else values.shape)
    dtype: Any = "bytes" if is_bytes else str(values.dtype)
    found = TensorSpec(kind, dtype, shape)
    if kind == "sparse":
        return replace(found, shape=tuple(dense_shape.tolist()))
    if kind == "ragged":
        rank = len(row_splits)
        return replace(found, shape=(None,) * (rank + 1) + shape[1:], ragged_rank=rank)
    return found


def nothing_of(spec: TensorSpec) -> Any:
    """The extension's kind and arrays of a tensor without rows."""
    import numpy as np

    sizes = tuple(size or 0 for size in spec.shape)
    if spec.kind == "dense":
        shape = (0, *sizes[1:])
    else:
        shape = (0, *sizes[spec.ragged_rank + 1 :]) if spec.kind == "ragged" else (0,)
    is_bytes = spec.dtype == "bytes"
    values: Any = (shape, []) if is_bytes else np.empty(shape, spec.dtype)
    splits: Any = tuple(np.zeros(1, np.int64) for _ in range(spec.ragged_rank))
    if spec.kind != "sparse":
        return spec.kind, values, None, None, splits, ()
    indices: Any = np.empty((0, len(sizes)), np.int64)
    known = [-1 if size is None else size for size in spec.shape[1:]]
    dense_shape: Any = np.array([0, *known], np.int64)
    if len(known) == 1 and known[0] < 0:
        dense_shape[1] = 0
    return "sparse", values, indices, dense_shape, splits, ()


def in_order(tensor: tuple[Any, ...], varlen: bool) -> tuple[Any, ...]:
    """A sparse tensor with sorted indices; a varlen tensor with the values of each row at 0, 1, 2,
    ..., and a dense shape as wide as its longest row."""
    import numpy as np

    name, kind, values, indices, dense_shape, *rest = tensor
    places, shape = np.asarray(indices), np.asarray(dense_shape)
    if places.ndim != 2 or shape.shape != places.shape[1:] or (varlen and len(shape) != 2):
        return tensor  # the extension says what is wrong
    if not varlen:
        order = np.lexsort(places.T[::-1])
        if len(order) != len(values[1] if isinstance(values, tuple) else values):
            return tensor
        if np.array_equal(order, np.arange(len(order))):
            return tensor
        return name, kind, _chosen(values, order), places[order], dense_shape, *rest
    rows = np.ascontiguousarray(places[:, 0])
    at = np.arange(len(rows)) - np.searchsorted(rows, rows)
    width = int(at.max(initial=-1)) + 1
    moved = np.stack([rows, at], axis=1).astype(np.int64)
    return name, kind, values, moved, np.array([shape[0], width], np.int64), *rest


def _chosen(values: Any, order: Any) -> Any:
    import numpy as np

    if not isinstance(values, tuple):
        return np.asarray(values)[order]
    strings = values[1] if isinstance(values[1], list) else values[1].tolist()
    return values[0], [strings[i] for i in order.tolist()]
