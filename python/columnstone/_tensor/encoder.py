"""Converts tensors to record batches: tensors of this package, numpy, PyTorch, JAX and
TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from .. import _core
from .._arrow.pointers import exported
from .._arrow.table import array as _array
from .._base.errors import UnsupportedError, argument_error
from .._base.public import public_in
from .._schema.spec import entries_of, representations_of
from .adapter import representations_from
from .conversion import flat_tensors
from .declared import TensorSpec, check_declared, in_order, nothing_of, representation_of
from .tensor import RaggedTensor, SparseTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from .._schema.schema import SchemaLike
    from .._schema.spec import TensorRepresentation

# A buffer of numbers, or a shape and the strings.
CoreNdarray: TypeAlias = "Any | tuple[tuple[int, ...], list[bytes] | _core.Tensor]"
CoreTensor: TypeAlias = (
    "tuple[str, str, CoreNdarray, CoreNdarray, CoreNdarray, tuple[Any, ...], tuple[Any, ...]]"
)


@public_in("columnstone.tensor")
class TensorEncoder:
    """Converts tensors to record batches. A TensorAdapter with the same representations restores
    exactly the same tensors: every value, bit and position.

    representations: TensorRepresentations, as a dict by name or a list, or a schema (anything that
        columnstone.Schema accepts), of which `group` is used.
    relaxed: varlen tensors may have gaps, and a dense shape wider than the longest row. The values
        of a row keep their order, and are restored at 0, 1, 2, ... The indices of other sparse
        tensors may be in any order, and are sorted.

    A dense or varlen tensor becomes a large_list column with the values of each row. A sparse
    tensor becomes a column of values and an int64 column per index column or, with rank 1, a column
    of single values and nulls. A ragged tensor becomes nested large_lists, or values and row
    lengths if its partitions name columns; trailing uniform partitions are flat in the innermost
    lists. Paths of several steps become struct columns. Values keep their type.

    Raises SchemaError for representations of the same column. Encoders pickle, and several threads
    can share one.
    """

    __slots__ = ("_core", "_declared", "_relaxed")
    _declared: dict[str, TensorSpec]
    _relaxed: bool

    def __init__(
        self,
        representations: (
            Mapping[str, TensorRepresentation] | Iterable[TensorRepresentation] | SchemaLike
        ),
        *,
        group: str = "",
        relaxed: bool = False,
    ) -> None:
        tensors = representations_from(representations, group)
        self._core = _core.TensorEncoder.from_specs(entries_of(tensors))
        self._declared = {}
        self._relaxed = bool(relaxed)

    @classmethod
    def for_specs(
        cls,
        specs: Mapping[str, Any],
        *,
        coordinates: Collection[str] = (),
        value_column: str = "{name}$values",
        index_column: str = "{name}$index{i}",
        relaxed: bool = False,
    ) -> TensorEncoder:
        """An encoder for tensors that are declared in advance, so that arrow_schema is complete
        from the start, including the width of numbers and the number of list levels. Tensors must
        match their declaration.

        specs: by name, TensorSpecs or the tf.TypeSpecs of TensorFlow.
        coordinates: sparse tensors of rank 2 and unknown width that get index columns; the others
            are varlen ones.
        value_column, index_column: the names of the columns of other sparse tensors.
        relaxed: as above.

        Raises ArgumentError for a tensor that columns cannot hold, such as a dense one with two
        unknown sizes; UnsupportedError for a type that columns cannot hold; and SchemaError if two
        tensors need the same column.
        """
        declared = {name: TensorSpec.of(spec) for name, spec in specs.items()}
        for name in coordinates:
            if name not in declared:
                raise argument_error(f"coordinates: there is no tensor {name!r}")
        encoder = cls(
            [
                representation_of(name, spec, name in coordinates, value_column, index_column)
                for name, spec in declared.items()
            ],
            relaxed=relaxed,
        )
        encoder._declare(declared)
        return encoder

    def _declare(self, declared: dict[str, TensorSpec]) -> None:
        self._declared = declared
        if declared:  # the first batch says what the representations leave open
            self._core.encode(tuple((name, *nothing_of(spec)) for name, spec in declared.items()))

    @classmethod
    def of(cls, tensors: Mapping[str, Any]) -> TensorEncoder:
        """An encoder with representations chosen from the tensors: dense; varlen sparse if the
        positions of every row are 0, 1, 2, ... and the longest row fills the dense shape; otherwise
        sparse with the columns "name$values" and "name$index0", ... (with rank 1, a column with its
        name); ragged, with inner dimensions as uniform partitions; structured for a dict, in a
        struct column with its name."""
        encoder = object.__new__(cls)
        encoder._core = _core.TensorEncoder.of(core_tensors(tensors))
        encoder._declared = {}
        encoder._relaxed = False
        return encoder

    def encode(self, tensors: Mapping[str, Any]) -> _core.RecordBatch:
        """Encodes one batch of tensors, one for each representation, by name. Each is

        - a columnstone Tensor, SparseTensor or RaggedTensor;
        - a numpy array, or anything that exports a buffer, DLPack or __array__ (PyTorch and JAX on
          the CPU, TensorFlow); arrays of str, as of bytes, are strings (UTF-8);
        - a list of bytes or str, as one string per row;
        - a SparseTensor or RaggedTensor of TensorFlow, a sparse COO or nested tensor of PyTorch;
        - for a structured tensor, a dict of its fields, or a StructuredTensor, whose fields with
          several dimensions count as ragged or dense tensors, like a LeafTensor.

        Values are copied. The first batch determines what the representations leave open: the width
        of numbers, and the number of list levels.

        Raises SchemaError, with tensor and row, for a tensor that does not match its declaration,
        or that its representation cannot restore: another shape, a different number of rows than
        the other tensors, row splits or indices out of order, positions with gaps in a varlen
        tensor. UnsupportedError for types that are not integers, float32, float64, bools or
        strings.
        """
        given = core_tensors(tensors)
        check_declared(self._declared, given)
        return self._core.encode(self._in_order(given) if self._relaxed else given)

    def _in_order(self, tensors: tuple[CoreTensor, ...]) -> tuple[CoreTensor, ...]:
        kinds = {name: tensor.kind for name, tensor in self.representations.items()}
        return tuple(
            cast("CoreTensor", in_order(tensor, kinds.get(tensor[0]) == "varlen_sparse"))
            if tensor[1] == "sparse"
            else tensor
            for tensor in tensors
        )

    @property
    def arrow_schema(self) -> _core.ArrowSchema:
        """The Arrow schema of the batches; before the first batch, according to the
        representations."""
        return self._core.arrow_schema

    @property
    def specs(self) -> dict[str, TensorSpec]:
        """The tensors declared with for_specs, by name; otherwise empty."""
        return dict(self._declared)

    @property
    def representations(self) -> dict[str, TensorRepresentation]:
        """How each tensor is written, by name."""
        return representations_of(self._core.specs())

    def __reduce__(self) -> tuple[Callable[..., TensorEncoder], tuple[Any, ...]]:
        return type(self)._restore, (self.representations, self._declared, self._relaxed)

    @classmethod
    def _restore(
        cls,
        representations: dict[str, TensorRepresentation],
        declared: dict[str, TensorSpec],
        relaxed: bool,
    ) -> TensorEncoder:
        """Unpickles an encoder."""
        encoder = cls(representations, relaxed=relaxed)
        encoder._declare(declared)
        return encoder

    def __repr__(self) -> str:
        return f"<columnstone.tensor.TensorEncoder of {', '.join(self.representations)}>"


def core_tensors(tensors: Mapping[str, Any]) -> tuple[CoreTensor, ...]:
    if not isinstance(tensors, Mapping):
        raise TypeError(f"tensors must be a dict by name, not {type(tensors).__name__}")
    return tuple(_core_tensor(name, value) for name, value in tensors.items())


def _core_tensor(name: str, value: Any) -> CoreTensor:
    """The extension's tuple for a tensor of any library."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a tensor must be a str, not {type(name).__name__}")
    if isinstance(value, _core.StructuredBase):
        value = flat_tensors(value, name)
    if isinstance(value, Mapping):
        return name, "structured", None, None, None, (), core_tensors(value)
    sparse = _sparse_parts(value)
    if sparse is not None:
        indices, values, dense_shape = (_ndarray(name, part) for part in sparse)
        return name, "sparse", values, indices, dense_shape, (), ()
    ragged = _ragged_parts(name, value)
    if ragged is not None:
        flat, row_splits = ragged
        splits = tuple(_ndarray(name, part) for part in row_splits)
        return name, "ragged", _ndarray(name, flat), None, None, splits, ()
    return name, "dense", _ndarray(name, value), None, None, (), ()


# ---- kinds ----


def _sparse_parts(value: Any) -> tuple[Any, Any, Any] | None:
    """indices [n, rank], values [n] and dense_shape [rank]; None if it is not sparse."""
    if isinstance(value, SparseTensor) or _has(value, "indices", "values", "dense_shape"):
        return value.indices, value.values, value.dense_shape
    if getattr(value, "is_sparse", False) is True and hasattr(value, "coalesce"):
        return _torch_sparse_parts(value)
    return None


def _torch_sparse_parts(value: Any) -> tuple[Any, Any, Any]:
    import numpy as np

    if value.dense_dim() != 0:
        raise UnsupportedError(
            "hybrid sparse tensors are not supported (their values have dimensions)"
        )
    sorted_ = value.coalesce()
    if sorted_.values().shape[0] != value._nnz():
        raise UnsupportedError("the sparse tensor has several values with the same index")
    return sorted_.indices().T, sorted_.values(), np.array(tuple(value.shape), dtype=np.int64)


def _ragged_parts(name: str, value: Any) -> tuple[Any, list[Any]] | None:
    """The values and the row splits, outermost first; None if it is not ragged."""
    if isinstance(value, RaggedTensor):
        return value.values, list(value.row_splits)
    if _has(value, "flat_values", "nested_row_splits"):
        return value.flat_values, list(value.nested_row_splits)
    if getattr(value, "is_nested", False) is True and hasattr(value, "unbind"):
        return _torch_nested_parts(name, value)
    return None


def _torch_nested_parts(name: str, value: Any) -> tuple[Any, list[Any]]:
    """The values and row splits of a nested torch tensor. Its rows may differ only in their first
    dimension."""
    import numpy as np

    rows = [_numpy(row) for row in value.unbind()]
    if any(row.ndim == 0 or row.shape[1:] != rows[0].shape[1:] for row in rows):
        raise UnsupportedError(
            "the rows of the structured tensor differ in more than their first dimension", path=name
        )
    splits: Any = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=splits[1:])
    if not rows:
        return _numpy(value.new_empty(0)) if hasattr(value, "new_empty") else np.empty(0), [splits]
    return np.concatenate(rows), [splits]


def _has(value: Any, *names: str) -> bool:
    """True for an object with these attributes, none of which is a method."""
    return all(hasattr(value, name) and not callable(getattr(value, name)) for name in names)


# ---- arrays ----


def _ndarray(name: str, value: Any) -> CoreNdarray:
    """An array for the extension."""
    if isinstance(value, _core.Tensor):
        return (value.shape, value) if value.dtype == "bytes" else value
    if isinstance(value, list | tuple):
        return (len(value),), _all_bytes(name, list(value))
    if isinstance(value, str | bytes | bytearray) or value is None:
        raise TypeError(f"tensor {name!r} is {type(value).__name__}, which is not a tensor")
    array = _numpy(_without_nulls(name, value))
    if array.dtype.kind in "OSU":
        return array.shape, _all_bytes(name, array.ravel().tolist())
    if array.dtype.kind not in "iufb" or array.dtype.itemsize > 8 or array.dtype == "float16":
        hint = "cast it to integers, float32, float64 or bool"
        raise UnsupportedError(
            f"a tensor of {array.dtype} cannot be encoded ({hint})", path=name, hint=hint
        )
    return array


def _without_nulls(name: str, value: Any) -> Any:
    """Arrow data as an array of this package: in numpy, nulls would become NaN, and masks would be
    lost."""
    if hasattr(value, "mask") and hasattr(value, "filled"):
        raise UnsupportedError(
            "masked arrays are not supported (fill it first)", path=name, hint="fill it first"
        )
    given = exported(value)
    if not hasattr(given, "__arrow_c_array__") and not hasattr(given, "__arrow_c_stream__"):
        return value
    column = _array(given)
    if column.null_count > 0:
        hint = "fill the nulls, or encode a varlen tensor"
        raise UnsupportedError(f"the tensor has {column.null_count} nulls", path=name, hint=hint)
    return value


def _numpy(value: Any) -> Any:
    """A numpy array in row-major order, aligned, and in native byte order."""
    import numpy as np

    if hasattr(value, "detach"):
        value = value.detach()
    if hasattr(value, "__array__") or not hasattr(value, "__dlpack__"):
        array = np.asarray(value)
    else:
        array = np.from_dlpack(value)
    if array.dtype.kind in "OSU":
        return array
    return np.require(array, array.dtype.newbyteorder("="), ("C", "A"))


def _all_bytes(name: str, items: list[Any]) -> list[bytes]:
    if set(map(type, items)) <= {bytes}:
        return items
    return [_bytes_of(name, item) for item in items]


def _bytes_of(name: str, item: Any) -> bytes:
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, bytes):
        return item
    if isinstance(item, bytearray | memoryview):
        return bytes(item)
    hint = "make it a numpy array" if isinstance(item, int | float) else "use bytes or str"
    raise TypeError(f"tensor {name!r} has {type(item).__name__} among its strings ({hint})")
