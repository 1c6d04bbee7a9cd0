"""Leaf tensors as arrays and tensors of numbers: numpy, DLPack, cst.tensor.Tensor and
cst.tensor.RaggedTensor, and padding."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._arrow.objects import array_of
from .._arrow.table import _array_of_values, _batch_of, as_numpy, concat, take_or_null
from .._base.errors import ArgumentError, UnsupportedError
from .._base.optional import need
from .._schema.spec import TensorRepresentation
from .._tensor.adapter import TensorAdapter
from .._tensor.tensor import RaggedTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from .._core import AnyStructured, Array, StructuredBase, Tensor


def _named(path: str) -> str:
    return f"field {path!r}: " if path else ""


def _refuse(path: str, message: str, hint: str) -> ArgumentError:
    return ArgumentError(f"{_named(path)}{message} ({hint})", path=path or None, hint=hint)


# ---- nulls, which the targets of these conversions do not have ----


def _first_null(values: Array) -> int:
    return bytes(memoryview(cast("Any", values.null_mask()))).index(1)


def _row_of(tensor: StructuredBase, dim: int, place: int) -> str:
    """The indices, in all dimensions down to `dim`, of one position in it."""
    at = [place]
    for splits in reversed(tensor.row_splits[:dim]):
        offsets = memoryview(cast("Any", splits))
        row = bisect_right(offsets, at[0]) - 1
        at[0] -= offsets[row]
        at.insert(0, row)
    return f"[{', '.join(map(str, at))}]"


def refuse_null_lists(tensor: StructuredBase, path: str, wanted: str) -> None:
    """An error if a list in one of the dimensions is null: a target with rows of values only would
    take it for an empty one."""
    lists = tensor._array
    for dim in range(-1 if tensor.is_row else 0, tensor.rank - 1):
        if lists.null_count > 0:
            at = _row_of(tensor, dim, _first_null(lists)) if dim >= 0 else "the top"
            raise _refuse(
                path,
                f"{lists.null_count} of {len(lists)} lists are null, the first at {at}, which "
                f"{wanted} cannot hold",
                "fill_null([]) first",
            )
        lists = lists.flatten()


def refuse_nulls(tensor: StructuredBase, values: Array, path: str, wanted: str) -> None:
    """An error if one of the tensor's elements, which are `values`, is null."""
    if values.null_count > 0:
        at = _row_of(tensor, tensor.rank - 1, _first_null(values)) if tensor.rank > 0 else "the top"
        raise _refuse(
            path,
            f"{values.null_count} of {len(values)} values are null, the first at {at}, which "
            f"{wanted} cannot hold",
            "fill_null() first",
        )


# ---- parts ----


@dataclass(frozen=True)
class Parts:
    """A leaf tensor without nulls, in memory of its own or in that of the tensor.

    values: all values, [n] and uniform inner dimensions: a Tensor, or a numpy array for types that
        Tensor does not have (bool and float16)
    row_splits: of the dimensions outside, outermost first; empty: dense
    shape: of all dimensions, None for ragged ones
    """

    values: Tensor | npt.NDArray[Any]
    row_splits: list[Tensor]
    shape: tuple[int | None, ...]


_DTYPES = dict.fromkeys("cCsSiIlL", "int64") | dict.fromkeys("fg", "float32")
_DTYPES |= dict.fromkeys(("z", "Z", "u", "U", "vz", "vu"), "bytes")


def _tensor(values: Array, shape: tuple[int, ...]) -> Tensor:
    """Numbers or strings without nulls, of a type that Tensor supports. Numbers are not copied.

    If Arrow has the values as rows of a fixed size, they are treated as one row, so that no row
    needs to be checked."""
    count = len(values)
    dtype = cast("Any", _DTYPES[values.schema.format])
    inner = (count,) if 0 < count < 2**31 else ()
    if inner:
        values = _core.structured_partition(_core.structured(values, False), None, count)._array
    batch = _batch_of(["values"], [values], 1 if inner else count)
    spec = TensorRepresentation("values", "dense", dtype, ("values",), inner)
    made = TensorAdapter(batch.schema, [spec]).convert(batch)["values"]
    return cast("Tensor", made)._reshape(shape)


def _reshaped(values: Array, shape: tuple[int, ...], path: str, wanted: str) -> Any:
    format = values.schema.format
    if format in _DTYPES:
        return _tensor(values, shape)
    if format in "be":
        need("numpy", wanted)
        return as_numpy(values).reshape(shape)
    hint = "convert them to numbers with apply()" if format != "n" else "give it a type"
    raise UnsupportedError(
        f"{_named(path)}values of type {values.type}, which {wanted} cannot hold ({hint})",
        path=path or None,
        hint=hint,
    )


def num_ragged(shape: tuple[int | None, ...]) -> int:
    """The number of outer dimensions that need row splits: all outside of the uniform dimensions of
    the innermost values; 0 for a dense shape."""
    ragged = [dim for dim, size in enumerate(shape) if size is None]
    return ragged[-1] if ragged else 0


def parts_of(tensor: StructuredBase, path: str, wanted: str) -> Parts:
    """The parts of a leaf tensor. An error if any part is null, and for types that are neither
    numbers nor strings."""
    refuse_null_lists(tensor, path, wanted)
    values = tensor.flat_values._array
    refuse_nulls(tensor, values, path, wanted)
    shape = tensor.shape
    levels = num_ragged(shape)
    inner = cast("tuple[int, ...]", shape[levels + 1 :])
    if levels == 0:
        dense = cast("tuple[int, ...]", shape)
        return Parts(_reshaped(values, dense, path, wanted), [], shape)
    splits = [_tensor(level, (len(level),)) for level in tensor.row_splits[:levels]]
    count = memoryview(splits[-1])[-1]
    return Parts(_reshaped(values, (count, *inner), path, wanted), splits, shape)


def leaf_tensor(tensor: StructuredBase, path: str, wanted: str) -> Any:
    """A Tensor or a RaggedTensor, with numpy arrays as parts for types that Tensor does not
    have."""
    parts = parts_of(tensor, path, wanted)
    if not parts.row_splits:
        return parts.values
    return RaggedTensor(cast("Any", parts.values), parts.row_splits)


def to_tensor(tensor: StructuredBase) -> Tensor | RaggedTensor:
    """See LeafTensor.to_tensor."""
    made = leaf_tensor(tensor, "", "a columnstone.tensor.Tensor")
    values = made.values if isinstance(made, RaggedTensor) else made
    if not isinstance(values, _core.Tensor):
        hint = "use numpy(), to_torch() or another conversion"
        raise UnsupportedError(
            f"values of type {tensor.flat_values.arrow_type}, which a columnstone.tensor.Tensor "
            f"cannot hold ({hint})",
            hint=hint,
        )
    return cast("Tensor | RaggedTensor", made)


# ---- numpy and DLPack ----


def to_numpy(
    tensor: StructuredBase, dtype: Any = None, copy: bool | None = None
) -> npt.NDArray[Any]:
    """See LeafTensor.numpy."""
    np = need("numpy", "a numpy array of a LeafTensor")
    if dtype is not None and np.dtype(dtype) == np.dtype(object):
        if copy is False:
            raise ValueError("an array of objects is a copy, but copy=False was given")
        return _objects(tensor)
    refuse_null_lists(tensor, "", "a numpy array")
    shape = [_uniform(np, tensor, dim) for dim in range(tensor.rank)]
    values = tensor.flat_values._array
    if values.schema.format[0] not in "zZuUv":
        refuse_nulls(tensor, values, "", "a numpy array")
    return cast("npt.NDArray[Any]", as_numpy(values, dtype, copy).reshape(shape))


def _uniform(np: Any, tensor: StructuredBase, dim: int) -> int:
    """The size of a dimension; 0 if there are no lists."""
    size = tensor.shape[dim]
    if size is not None:
        return size
    lengths = np.diff(as_numpy(tensor.row_splits[dim - 1]))
    if len(lengths) == 0:
        return 0
    raise _refuse(
        "",
        f"dimension {dim} is ragged: {lengths.min()} to {lengths.max()} values, but a numpy array "
        "has rows of the same length",
        "to_padded(), to_tensor(), flat_values and row_splits, or dtype=object",
    )


def _objects(tensor: StructuredBase) -> npt.NDArray[Any]:
    """Python values: lists for ragged rows, and None for nulls."""
    import numpy as np

    shape = tensor.shape
    uniform = shape.index(None) if None in shape else len(shape)
    made: npt.NDArray[Any] = np.empty(cast("Any", shape[:uniform]), object)
    value = tensor.to_py()
    _put(made, value)
    return made


def _put(places: npt.NDArray[Any], value: Any) -> None:
    if places.ndim == 0:
        places[()] = value
    elif places.ndim == 1:
        for i, item in enumerate(value):
            places[i] = item
    else:
        for part, item in zip(places, value, strict=True):
            _put(part, item)


def to_dlpack(tensor: StructuredBase, **options: Any) -> Any:
    """See LeafTensor.__dlpack__."""
    if None in tensor.shape:
        raise BufferError("DLPack has no ragged tensors: use to_padded() or to_tensor()")
    values = parts_of(tensor, "", "DLPack").values
    if not isinstance(values, _core.Tensor) and options.get("max_version") is None:
        values = values.copy()  # that it is read-only could not be told
    return values.__dlpack__(**options)


# ---- padding ----


def to_padded(
    tensor: StructuredBase, value: Any = 0, shape: Sequence[int | None] | None = None
) -> AnyStructured:
    """See LeafTensor.to_padded."""
    np = need("numpy", "to_padded()")
    refuse_null_lists(tensor, "", "a padded tensor")
    sizes = _padded_sizes(tensor, shape)
    flat = tensor.flat_values._array
    places = _places(np, tensor, sizes)
    if value is not None and (places < 0).any():
        places[places < 0] = len(flat)
        flat = concat([flat, _one_value(flat, value)])
    column = take_or_null(_batch_of(["x"], [flat], len(flat)), places).column("x")
    made = _core.structured(column, False)
    for dim in reversed(range(1, len(sizes))):
        made = partitioned(made, prod(sizes[:dim]), sizes[dim])
    return made


def partitioned(tensor: StructuredBase, rows: int, size: int) -> AnyStructured:
    """The rows split into `rows` rows of `size` values each."""
    if size > 0:
        return _core.structured_partition(tensor, None, size)
    format, _, *item = tensor._array.schema.__reduce__()[1][0]  # no size tells how many rows
    type = _core.ArrowSchema._of_tree((b"+w:0", b"", 2, None, ((format, b"item", *item),), None))
    whole = (rows, 0, 0, (None,), (_core.array_dump(tensor._array),))
    return _core.structured(_core.Array._of_tree(type, whole), False)


def divided(tensor: StructuredBase, splits: npt.ArrayLike) -> AnyStructured:
    """The rows split at these positions."""
    import numpy as np

    return _core.structured_partition(tensor, np.ascontiguousarray(splits, np.int64), 0)


def _one_value(flat: Array, value: Any) -> Array:
    if flat.schema.format == "+s":
        raise _refuse("", "structs cannot be padded with a value", "value=None pads with nulls")
    if flat.schema.format not in ("z", "Z", "u", "U", "vz", "vu"):
        return _array_of_values(flat.schema, [value])
    if isinstance(value, int) and value == 0:
        value = ""
    if not isinstance(value, str | bytes):
        raise TypeError(
            f"the padding of strings must be a str or bytes, not {type(value).__name__}"
        )
    is_text = flat.schema.format in ("u", "U", "vu")
    return array_of([value if isinstance(value, str) == is_text else _other(value)])


def _other(text: str | bytes) -> str | bytes:
    return text.encode() if isinstance(text, str) else text.decode()


def _padded_sizes(tensor: StructuredBase, shape: Sequence[int | None] | None) -> list[int]:
    rank = tensor.rank
    if rank == 0:
        raise _refuse("", "a scalar has no dimensions to pad", "use it as it is")
    wanted = [None] * rank if shape is None else list(shape)
    if len(wanted) != rank:
        raise ArgumentError(f"a shape of {len(wanted)} dimensions, expected {rank}")
    sizes = []
    for dim, (size, own) in enumerate(zip(wanted, tensor.shape, strict=True)):
        if size is None:
            size = own if own is not None else _longest(tensor, dim)
        if size < 0:
            raise ArgumentError(f"dimension {dim} of the shape is {size}")
        sizes.append(size)
    if prod(sizes) >= 2**60:
        raise ArgumentError(f"a shape of {prod(sizes)} values does not fit in memory")
    return sizes


def _longest(tensor: StructuredBase, dim: int) -> int:
    import numpy as np

    return int(np.diff(as_numpy(tensor.row_splits[dim - 1])).max(initial=0))


def _places(np: Any, tensor: StructuredBase, sizes: list[int]) -> Any:
    """The number of the element at each position of the padded tensor; -1 for none."""
    places = _clipped(np, np.zeros(1, np.int64), np.array([0, len(tensor)]), sizes[0])
    for splits, size in zip(tensor.row_splits, sizes[1:], strict=True):
        places = _clipped(np, places, as_numpy(splits), size)
    return places


def _clipped(np: Any, rows: Any, splits: Any, size: int) -> Any:
    """The first `size` positions of each of these rows; those of row -1 are -1."""
    begins = np.where(rows < 0, 0, splits[rows])
    lengths = np.where(rows < 0, 0, splits[rows + 1] - begins)
    at = np.arange(size)
    return np.where(at < lengths[:, None], begins[:, None] + at, -1).reshape(-1)
