"""TensorAdapter: converts record batches of any origin to tensors; and padding to dense tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import _core
from .._arrow.pointers import exported
from .._base.errors import NotFoundError, argument_error
from .._base.markup import ROWS, bounded, counted, table, titled
from .._base.public import public_in
from .._schema.schema import Schema
from .._schema.spec import TensorRepresentation, Value, entries_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from .._arrow.objects import Plain
    from .._core import ArrowArrayExportable, ArrowSchemaExportable, RecordBatch
    from .._schema.schema import SchemaLike
    from .._types import AnyTensor

Length: TypeAlias = int | Sequence[int] | None


@public_in("columnstone.tensor")
@dataclass(frozen=True)
class Pad:
    """Makes a ragged, varlen or sparse tensor dense.

    value: fills positions without a value.
    length: the length of each row; a tuple for tensors with several variable dimensions, outermost
        first. None is the longest row of each batch. A list of sizes, such as [128, 512], selects
        the smallest size that is long enough for the batch.
    truncate: cut longer rows; otherwise they are a SchemaError that names the row.
    """

    value: Value = 0
    length: Length | tuple[Length, ...] = None
    truncate: bool = False


PadLike: TypeAlias = "Pad | tuple[Value, Length | tuple[Length, ...]]"
PadsLike: TypeAlias = "Mapping[str, PadLike] | None"

# For the extension: name, value, lengths (-1: the longest; a tuple of sizes; None: all the
# longest), truncate.
CoreLength: TypeAlias = int | tuple[int, ...]
CorePad: TypeAlias = tuple[str, Value, tuple[CoreLength, ...] | None, bool]


def _pad_of(name: str, pad: PadLike) -> Pad:
    if isinstance(pad, Pad):
        return pad
    if isinstance(pad, tuple) and len(pad) == 2:
        return Pad(*pad)
    raise TypeError(
        f"pad[{name!r}] is a (value, length) tuple or a columnstone.tensor.Pad, "
        f"not {type(pad).__name__}"
    )


def _lengths_of(name: str, length: object) -> tuple[CoreLength, ...] | None:
    if length is None:
        return None
    lengths = length if isinstance(length, tuple) else (length,)
    return tuple(_length_of(name, one) for one in lengths)


def _length_of(name: str, length: object) -> CoreLength:
    if isinstance(length, list):
        sizes = tuple(_whole(name, size) for size in length)
        if not sizes or sizes[0] == 0 or any(a >= b for a, b in pairwise(sizes)):
            raise argument_error(
                f"pad[{name!r}]: sizes must be a list such as [128, 512], from the smallest to the "
                "largest, without a 0"
            )
        return sizes
    return -1 if length is None else _whole(name, length)


def _whole(name: str, length: object) -> int:
    if not isinstance(length, int) or isinstance(length, bool):
        raise TypeError(
            f"pad[{name!r}]: a length must be an int, a list of sizes or None, not "
            f"{type(length).__name__}"
        )
    if length < 0:
        raise argument_error(f"pad[{name!r}]: the length {length} is negative")
    if length >= 2**63:
        raise argument_error(f"pad[{name!r}]: the length {length} does not fit 64 bits")
    return length


def find_tensor(tensors: Iterable[TensorRepresentation], name: str) -> TensorRepresentation | None:
    """The tensor with that name; "a.b" is the field b of a."""
    known = {tensor.name: tensor for tensor in tensors}
    if name in known:
        return known[name]
    for outer, tensor in known.items():
        if tensor.kind == "structured" and name.startswith(outer + "."):
            found = find_tensor(tensor.fields, name[len(outer) + 1 :])
            if found is not None:
                return found
    return None


def _types_of(dtype: str) -> tuple[type, ...]:
    """The type of the padding value of a tensor."""
    if dtype == "none":
        return (int, float, bytes)
    return (bytes,) if dtype == "bytes" else (int, float) if dtype[0] == "f" else (int,)


def core_pads(
    pad: PadsLike, representations: Mapping[str, TensorRepresentation], unknown: bool = False
) -> tuple[CorePad, ...]:
    """The extension's tuples of a pad argument, checked against the tensors. unknown: there may be
    other tensors, of numbers."""
    entries: list[CorePad] = []
    if pad is not None and not isinstance(pad, Mapping):
        raise TypeError(f"pad must be a dict of tensor name to pad, not {type(pad).__name__}")
    for name, given in ({} if pad is None else pad).items():
        one = _pad_of(name, given)
        tensor = find_tensor(representations.values(), name)
        if tensor is None and not unknown:
            raise NotFoundError(f"there is no tensor {name!r} to pad", path=name)
        dtype = "float64" if tensor is None else tensor.dtype
        types = _types_of(dtype)
        is_bool = isinstance(one.value, bool) and dtype != "bool"
        if not isinstance(one.value, types) or is_bool:
            names = " or ".join(t.__name__ for t in types)
            raise TypeError(
                f"pad[{name!r}]: the padding of a tensor of {dtype} must be {names}, not "
                f"{type(one.value).__name__}"
            )
        fits = not isinstance(one.value, int) or -(2**63) <= one.value < 2**63
        if types == (int,) and not fits:
            raise argument_error(f"pad[{name!r}]: the value {one.value!r} does not fit 64 bits")
        entries.append((name, one.value, _lengths_of(name, one.length), bool(one.truncate)))
    return tuple(entries)


@public_in("columnstone.tensor")
class TensorAdapter:
    """Converts record batches of one Arrow schema to tensors. The batches can come from any
    library.

    arrow_schema: the schema of the batches: any object with __arrow_c_schema__.
    representations: the tensors to make: TensorRepresentations, as a dict by name or a list, or a
        schema (anything that `Schema` accepts), of which `group` is used.
    pad: makes ragged, varlen and sparse tensors dense: name -> (value, length) or Pad; name a field
        of a structured tensor "tensor.field".

    Raises SchemaError with tensor and column if the columns cannot make the tensors. Adapters
    pickle, and several threads can share one.

    >>> batch = cst.record_batch({"zones": [[1, 2], [3]]})
    >>> how = cst.schema.TensorRepresentation("zones", "ragged", "int64")
    >>> adapter = cst.tensor.TensorAdapter(batch.schema, [how])
    >>> adapter.convert(batch)["zones"].to_list()
    [[1, 2], [3]]
    """

    __slots__ = ("_arrow_schema", "_core", "_pads", "_representations", "convert")

    convert: Callable[[ArrowArrayExportable | Plain], dict[str, AnyTensor]]
    """The tensors of one batch by name: Tensor, SparseTensor, RaggedTensor, or a dict of the fields
    of a structured one.

    The batch is a columnstone.RecordBatch, or any object with __arrow_c_array__, such as pyarrow's;
    those of others are validated first (CorruptError). It has to have the adapter's Arrow schema,
    metadata aside. Numbers and 64-bit offsets are not copied where they lie one after the other.

    Raises SchemaError with row and tensor for a row that does not fit.
    """

    def __init__(
        self,
        arrow_schema: ArrowSchemaExportable,
        representations: (
            Mapping[str, TensorRepresentation] | Iterable[TensorRepresentation] | SchemaLike
        ),
        *,
        group: str = "",
        pad: PadsLike = None,
    ) -> None:
        arrow_schema = exported(arrow_schema)
        if not hasattr(arrow_schema, "__arrow_c_schema__"):
            raise TypeError(
                "arrow_schema must be an object with __arrow_c_schema__, not "
                f"{type(arrow_schema).__name__}"
            )
        tensors = representations_from(representations, group)
        self._make(_core.arrow_schema(arrow_schema), tensors, core_pads(pad, tensors))

    def _make(
        self,
        arrow_schema: _core.ArrowSchema,
        tensors: dict[str, TensorRepresentation],
        pads: tuple[CorePad, ...],
    ) -> None:
        from .tensor import RaggedTensor, SparseTensor

        self._arrow_schema = arrow_schema
        self._representations = tensors
        self._pads = pads
        self._core = _core.TensorAdapter(
            arrow_schema, entries_of(tensors), pads, SparseTensor, RaggedTensor
        )
        self.convert = self._core.convert

    @property
    def arrow_schema(self) -> _core.ArrowSchema:
        """The Arrow schema of the batches."""
        return self._arrow_schema

    @property
    def representations(self) -> dict[str, TensorRepresentation]:
        """How each tensor is made, by name, before padding."""
        return dict(self._representations)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._restore, (self._arrow_schema, self._representations, self._pads)

    @classmethod
    def _restore(
        cls,
        arrow_schema: _core.ArrowSchema,
        tensors: dict[str, TensorRepresentation],
        pads: tuple[CorePad, ...],
    ) -> Self:
        """Unpickles an adapter."""
        adapter = object.__new__(cls)
        adapter._make(arrow_schema, tensors, pads)
        return adapter

    @classmethod
    def _restore_tensor(cls, batch: RecordBatch, tensors: list[TensorRepresentation]) -> AnyTensor:
        """Unpickles a Tensor (pickling.py)."""
        return cls(batch.schema, tensors).convert(batch)["t"]

    def __repr__(self) -> str:
        names = ", ".join(list(self._representations)[:8])
        more = ", ..." if len(self._representations) > 8 else ""
        count = len(self._representations)
        return f"<columnstone.tensor.TensorAdapter of {count} tensors: {names}{more}>"

    def _repr_html_(self) -> str:
        return adapter_html(self._representations)


def adapter_html(tensors: Mapping[str, TensorRepresentation]) -> str:
    """An adapter as HTML: how it makes each tensor."""
    rows = [
        (name, one.kind, "" if one.dtype == "none" else one.dtype, _shape_text(one), _columns(one))
        for name, one in bounded(tensors.items())
    ]
    names = ("tensor", "kind", "values", "shape", "columns")
    head = f"TensorAdapter, {counted(len(tensors), 'tensor')}"
    return titled(head, table(names, rows, count=len(tensors)))


def _shape_text(tensor: TensorRepresentation) -> str:
    return str(list(tensor.shape)) if tensor.shape else ""


def _columns(tensor: TensorRepresentation) -> str:
    """The columns that a tensor is made of, as paths."""
    if tensor.fields:
        return ", ".join(_columns(one) for one in tensor.fields[:ROWS])
    return ", ".join([".".join(tensor.steps), *tensor.index_columns])


def representations_from(given: object, group: str) -> dict[str, TensorRepresentation]:
    """TensorRepresentations by name, from a dict, a list or a schema."""
    if isinstance(given, Mapping):
        given = given.values()
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | bytearray | memoryview):
        if group:
            raise argument_error(
                "group is the name of a group in the schema: leave it out with representations"
            )
        tensors: dict[str, TensorRepresentation] = {}
        for tensor in given:
            entries_of([tensor])  # which checks its type
            if tensor.name in tensors:
                raise argument_error(
                    f"two tensors have the name {tensor.name!r}", "rename one of them"
                )
            tensors[tensor.name] = tensor
        return tensors
    schema = given if isinstance(given, Schema) else Schema(given)  # type: ignore[arg-type]
    return schema.tensor_representations(group)
