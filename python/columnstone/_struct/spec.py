"""Specs: the types and shapes of structured tensors, without values, and their conversion from and
to Arrow."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from .. import _core
from .._arrow.pointers import exported
from .._base.errors import ArgumentError, UnsupportedError, argument_error
from .._base.public import public_in
from .._core import ArrowSchema, StructuredBase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .._core import ArrowSchemaExportable

    Shape: TypeAlias = "Iterable[int | None]"

Dims: TypeAlias = tuple[int | None, ...]
Spec: TypeAlias = "StructuredTensorSpec | LeafSpec"

_NULLABLE = 2  # ARROW_FLAG_NULLABLE

# ---- types of values ----

_FORMAT_OF = {
    "null": "n",
    "bool": "b",
    "int8": "c",
    "uint8": "C",
    "int16": "s",
    "uint16": "S",
    "int32": "i",
    "uint32": "I",
    "int64": "l",
    "uint64": "L",
    "float16": "e",
    "float32": "f",
    "float64": "g",
    "string": "U",
    "binary": "Z",
    "date32": "tdD",
    "date64": "tdm",
    "time32[s]": "tts",
    "time32[ms]": "ttm",
    "time64[us]": "ttu",
    "time64[ns]": "ttn",
}
_DTYPE_OF = {format: dtype for dtype, format in _FORMAT_OF.items()} | {
    layout: "string" if layout.endswith("u") else "binary" for layout in ("u", "vu", "z", "vz")
}
_OTHER_NAMES = {
    "str": "string",
    "large_string": "string",
    "string_view": "string",
    "utf8": "string",
    "bytes": "binary",
    "large_binary": "binary",
    "binary_view": "binary",
    "int": "int64",
    "float": "float64",
    "half": "float16",
    "double": "float64",
    "date": "date32",
    "date32[day]": "date32",
    "datetime": "timestamp[us]",
    "timedelta": "duration[us]",
}
_UNITS = {"s": "s", "ms": "m", "us": "u", "ns": "n"}
_UNIT_OF = {letter: unit for unit, letter in _UNITS.items()}


def _dtype_of_format(format: str) -> str | None:
    """None: the format is of nested data."""
    if format in _DTYPE_OF:
        return _DTYPE_OF[format]
    if match := re.fullmatch(r"ts([smun]):(.*)", format):
        zone = f", tz={match[2]}" if match[2] else ""
        return f"timestamp[{_UNIT_OF[match[1]]}{zone}]"
    if match := re.fullmatch(r"tD([smun])", format):
        return f"duration[{_UNIT_OF[match[1]]}]"
    if match := re.fullmatch(r"w:(\d+)", format):
        return f"fixed_size_binary[{match[1]}]"
    if match := re.fullmatch(r"d:(\d+),(-?\d+)(?:,(\d+))?", format):
        return f"decimal{match[3] or 128}({match[1]}, {match[2]})"
    return None if format.startswith("+") else repr(format)


def _format_of_dtype(dtype: str) -> str:
    if dtype in _FORMAT_OF:
        return _FORMAT_OF[dtype]
    if match := re.fullmatch(r"timestamp\[([mun]?s)(?:, tz=(.+))?\]", dtype):
        return f"ts{_UNITS[match[1]]}:{match[2] or ''}"
    if match := re.fullmatch(r"duration\[([mun]?s)\]", dtype):
        return f"tD{_UNITS[match[1]]}"
    if match := re.fullmatch(r"fixed_size_binary\[(\d+)\]", dtype):
        return f"w:{match[1]}"
    if match := re.fullmatch(r"decimal(\d+)\((\d+), (-?\d+)\)", dtype):
        return f"d:{match[2]},{match[3]}" + (f",{match[1]}" if match[1] != "128" else "")
    if match := re.fullmatch(r"'(\w.*)'", dtype):
        return match[1]
    raise ArgumentError(
        f"dtype {dtype[:40]!r} is unknown (such as 'int64', 'float32', 'string', 'timestamp[us]')"
    )


def _dtype(dtype: Any) -> str:
    """The name of a value type: from a name, a type of numpy or TensorFlow, a Python class, or an
    Arrow type."""
    dtype = exported(dtype)
    if hasattr(dtype, "__arrow_c_schema__"):
        schema = _core.arrow_schema(dtype)
        _, _, _, _, _, dictionary = schema.__reduce__()[1][0]
        found = _dtype_of_format(dictionary[0].decode() if dictionary else schema.format)
        if found is None:
            raise ArgumentError(
                f"dtype is the nested Arrow type {schema}, expected a type of plain values"
            )
        return found
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    if not isinstance(name, str):
        name = getattr(dtype, "__name__", str(dtype).removeprefix("torch."))
    if not isinstance(name, str):
        raise TypeError(f"dtype must be a name or a type, not {type(dtype).__name__}")
    if match := re.fullmatch(r"(datetime|timedelta)64\[(\w+)\]", name):
        kind = "timestamp" if match[1] == "datetime" else "duration"
        name = "date32" if match[2] == "D" else f"{kind}[{match[2]}]"
    if re.fullmatch(r"(str|bytes)(_|\d+)|bool_", name):  # numpy's
        name = name.rstrip("_0123456789")
    name = _OTHER_NAMES.get(name, name)
    return cast("str", _dtype_of_format(_format_of_dtype(name)))


# ---- dimensions ----


def as_dims(shape: Shape) -> Dims:
    """A shape as a tuple; a negative number is an unknown length, as in other libraries."""
    if isinstance(shape, int | str) or not hasattr(shape, "__iter__"):
        raise TypeError(f"a shape must be a tuple of int and None, not {type(shape).__name__}")
    dims = []
    for dim in shape:
        value = getattr(dim, "value", dim)  # of a Dimension of TensorFlow
        if value is not None and (isinstance(value, bool) or not hasattr(value, "__index__")):
            raise TypeError(f"a dimension must be an int or None, not {type(value).__name__}")
        number = None if value is None else value.__index__()
        if number is not None and not -1 <= number < 2**31:
            raise argument_error(f"a dimension is {number}, expected 0 to 2**31 - 1, or None")
        dims.append(None if number == -1 else number)
    return tuple(dims)


def _agree(a: Dims, b: Dims) -> bool:
    """True if the shapes are compatible."""
    return len(a) == len(b) and all(
        x is None or y is None or x == y for x, y in zip(a, b, strict=True)
    )


def _known(a: Dims, b: Dims) -> Dims:
    """Combines what is known from either."""
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))


def dims_text(dims: Dims) -> str:
    """A shape in readable form."""
    return "[" + ", ".join(str(dim) for dim in dims) + "]"


def check_name(name: str) -> None:
    """An error for a field name that Arrow does not support; os.fsencode gives the bytes of the
    name."""
    if "\0" in name:
        raise argument_error("the name of a field contains a NUL", "rename it")
    if re.search("[\ud800-\udc7f\udd00-\udfff]", name):
        raise argument_error("the name of a field contains surrogates", "rename it")


# ---- specs ----


class StructuredSpec:
    """The common part of specs of structured tensors and leaf tensors."""

    __slots__ = ("nullable", "shape")

    shape: Dims
    nullable: bool

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable: create another one")

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def arrow_schema(self) -> ArrowSchema:
        """The Arrow type of an array with such a tensor: dimensions below the outermost are
        large_list, or fixed_size_list if their length is known."""
        return self._arrow(1)

    def __arrow_c_schema__(self) -> object:
        return self.arrow_schema.__arrow_c_schema__()

    def _arrow(self, first: int) -> ArrowSchema:
        """The Arrow type of the part below dimension `first`."""
        return ArrowSchema._of_tree(self._tree(first, ""))

    def _tree(self, first: int, name: str) -> tuple[Any, ...]:
        tree = self._element()
        for dim in reversed(self.shape[first:]):
            format = b"+L" if dim is None else b"+w:%d" % dim
            tree = (format, b"", _NULLABLE, None, ((tree[0], b"item", *tree[2:]),), None)
        return (tree[0], name.encode("utf-8", "surrogateescape"), *tree[2:])

    def _element(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _below(self, dims: Dims) -> Spec:
        """The same spec with other leading dimensions."""
        raise NotImplementedError

    def _lines(self, name: str, indent: str) -> list[str]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n".join(self._lines(type(self).__name__, ""))

    def is_compatible_with(self, value: object) -> bool:
        """True if a tensor, or the tensors that another spec describes, can have this spec. A
        dimension that one of them does not know fits any length; types must be the same, and a part
        that is not nullable must not contain nulls."""
        if isinstance(value, StructuredBase):
            return self._holds(value, 0)
        if not isinstance(value, StructuredSpec) or type(value) is not type(self):
            return False
        known_nulls = self.nullable or not value.nullable
        return known_nulls and _agree(self.shape, value.shape) and self._fits(value)

    def _holds(self, tensor: StructuredBase, hidden: int) -> bool:
        """`hidden`: elements that are null because a struct above them is."""
        if not _agree(self.shape, tensor.shape):
            return False
        return self.nullable or tensor.flat_values._array.null_count <= hidden

    def _fits(self, other: Any) -> bool:
        raise NotImplementedError


@public_in("columnstone.struct")
class LeafSpec(StructuredSpec):
    """The spec of a leaf tensor: its dimensions (None: unknown or ragged), the type of its values,
    and whether these may be null. Lists may always be null.

        cst.struct.LeafSpec([None, 3], "float32")

    dtype: a name ("bool", "int8" to "uint64", "float16" to "float64", "string", "binary", "date32",
        "timestamp[us]", "timestamp[us, tz=UTC]", "duration[us]", "decimal128(10, 2)", ...), or a
        type of numpy, pyarrow, TensorFlow or Python
    """

    __slots__ = ("dtype",)

    dtype: str

    def __init__(self, shape: Shape, dtype: Any, nullable: bool = True) -> None:
        self._set(shape=as_dims(shape), dtype=_dtype(dtype), nullable=bool(nullable))

    @classmethod
    def from_arrow(cls, type: ArrowSchemaExportable, is_row: bool = False) -> LeafSpec:
        """The spec for arrays of an Arrow type (anything with __arrow_c_schema__). is_row: for a
        tensor that is one row of such an array. Layouts of strings and lists do not matter."""
        spec = spec_of(_core.arrow_schema(exported(type)), is_row)
        if not isinstance(spec, LeafSpec):
            raise argument_error(
                "the Arrow type is a struct", "use StructuredTensorSpec.from_arrow"
            )
        return spec

    def _element(self) -> tuple[Any, ...]:
        flags = _NULLABLE if self.nullable else 0
        return (_format_of_dtype(self.dtype).encode(), b"", flags, None, (), None)

    def _below(self, dims: Dims) -> LeafSpec:
        whole = dims + self.shape[len(dims) :]
        return self if whole == self.shape else LeafSpec(whole, self.dtype, self.nullable)

    def _lines(self, name: str, indent: str) -> list[str]:
        end = "" if self.nullable else " not null"
        return [f"{indent}{name}: {self.dtype} {dims_text(self.shape)}{end}"]

    def _holds(self, tensor: StructuredBase, hidden: int) -> bool:
        found = spec_of(tensor.schema, tensor.is_row)
        is_same = isinstance(found, LeafSpec) and found.dtype == self.dtype
        return is_same and super()._holds(tensor, hidden)

    def _fits(self, other: LeafSpec) -> bool:
        return self.dtype == other.dtype

    def _key(self) -> tuple[object, ...]:
        return self.shape, self.dtype, self.nullable

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, LeafSpec) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Callable[..., LeafSpec], tuple[Any, ...]]:
        return LeafSpec, self._key()


@public_in("columnstone.struct")
class StructuredTensorSpec(StructuredSpec):
    """The spec of a structured tensor: its dimensions (None: unknown or ragged), and the spec of
    each field with its whole shape, which begins with the dimensions of the structs.

        cst.struct.StructuredTensorSpec([None], {
            "id": cst.struct.LeafSpec([None], "int64"),
            "tags": cst.struct.LeafSpec([None, None], "string"),
        })

    field_specs: name to spec; read-only. The order of the fields does not matter for equality
    nullable: whether structs may be null; lists may always be null
    """

    __slots__ = ("field_specs",)

    field_specs: Mapping[str, Spec]

    def __init__(
        self, shape: Shape, field_specs: Mapping[str, Spec], nullable: bool = True
    ) -> None:
        dims = as_dims(shape)
        for name, spec in field_specs.items():
            if not isinstance(name, str):
                raise TypeError(f"the name of a field must be a str, not {type(name).__name__}")
            check_name(name)
            if not isinstance(spec, StructuredSpec):
                raise TypeError(
                    f"field {name!r} is {type(spec).__name__}, expected a LeafSpec or a "
                    "StructuredTensorSpec"
                )
            if not _agree(dims, spec.shape[: len(dims)]):
                hint = "the shape of a field begins with the shape of the structs"
                raise ArgumentError(
                    f"field {name!r} has the shape {dims_text(spec.shape)}, expected "
                    f"{dims_text(dims)} at its beginning ({hint})",
                    path=name,
                    hint=hint,
                )
        for spec in field_specs.values():
            dims = _known(dims, spec.shape[: len(dims)])
        fields = {name: spec._below(dims) for name, spec in field_specs.items()}
        self._set(shape=dims, field_specs=MappingProxyType(fields), nullable=bool(nullable))

    @classmethod
    def from_arrow(cls, type: ArrowSchemaExportable, is_row: bool = False) -> StructuredTensorSpec:
        """The spec for arrays of an Arrow type (anything with __arrow_c_schema__, a pyarrow.Schema
        too). is_row: for a tensor that is one row of such an array, that is, a scalar. Layouts of
        strings and lists do not matter."""
        spec = spec_of(_core.arrow_schema(exported(type)), is_row)
        if not isinstance(spec, StructuredTensorSpec):
            raise argument_error("the Arrow type is not a struct", "use LeafSpec.from_arrow")
        return spec

    def field_names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(self.field_specs)

    def _element(self) -> tuple[Any, ...]:
        fields = tuple(spec._tree(self.rank, name) for name, spec in self.field_specs.items())
        return (b"+s", b"", _NULLABLE if self.nullable else 0, None, fields, None)

    def _below(self, dims: Dims) -> StructuredTensorSpec:
        whole = dims + self.shape[len(dims) :]
        if whole == self.shape:
            return self
        return StructuredTensorSpec(
            whole,
            {name: spec._below(whole) for name, spec in self.field_specs.items()},
            self.nullable,
        )

    def _lines(self, name: str, indent: str) -> list[str]:
        end = "" if self.nullable else " not null"
        lines = [f"{indent}{name}: struct {dims_text(self.shape)}{end}"]
        for field, spec in self.field_specs.items():
            lines += spec._lines(field, indent + "  ")
        return lines

    def _holds(self, tensor: StructuredBase, hidden: int) -> bool:
        if not is_struct(tensor) or set(tensor.field_names()) != set(self.field_specs):
            return False
        nulls = tensor.flat_values._array.null_count
        fields = self.field_specs.items()
        return super()._holds(tensor, hidden) and all(
            spec._holds(tensor[(name,)], nulls if spec.rank == self.rank else 0)
            for name, spec in fields
        )

    def _fits(self, other: StructuredTensorSpec) -> bool:
        return self.field_specs.keys() == other.field_specs.keys() and all(
            spec.is_compatible_with(other.field_specs[name])
            for name, spec in self.field_specs.items()
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StructuredTensorSpec):
            return NotImplemented
        same = self.shape == other.shape and self.nullable == other.nullable
        return same and dict(self.field_specs) == dict(other.field_specs)

    def __hash__(self) -> int:
        return hash((self.shape, self.nullable, frozenset(self.field_specs.items())))

    def __reduce__(self) -> tuple[Callable[..., StructuredTensorSpec], tuple[Any, ...]]:
        return StructuredTensorSpec, (self.shape, dict(self.field_specs), self.nullable)


# ---- from Arrow ----


def is_struct(tensor: StructuredBase) -> bool:
    """Whether the elements are structs."""
    schema = tensor.schema
    while schema.format.startswith("+") and schema.format != "+s":
        schema = schema.children[0]
    return schema.format == "+s"


def spec_of(schema: ArrowSchema, is_row: bool) -> Spec:
    """The spec of an array of the type, or of its single row. UnsupportedError, with the path, for
    unions and other types that structured tensors do not support."""
    return _spec(schema.__reduce__()[1][0], () if is_row else (None,), "")


def _spec(tree: tuple[Any, ...], dims: Dims, path: str) -> Spec:
    format, _, flags, _, children, dictionary = tree
    if dictionary is not None:
        return _spec((*dictionary[:2], flags, *dictionary[3:]), dims, path)
    text = format.decode()
    if text in ("+l", "+L", "+vl", "+vL", "+m"):
        return _spec(children[0], (*dims, None), path)
    if text.startswith("+w:"):
        return _spec(children[0], (*dims, int(text[3:])), path)
    nullable = bool(flags & _NULLABLE)
    if text == "+s":
        return StructuredTensorSpec(dims, _fields(children, dims, path), nullable)
    dtype = _dtype_of_format(text)
    if dtype is None:
        where = f"feature {path!r}: " if path else ""
        hint = "leave the field out, or cast it"
        raise UnsupportedError(
            f"{where}structured tensors do not support the Arrow type {text!r} ({hint})",
            path=path or None,
            hint=hint,
        )
    return LeafSpec(dims, dtype, nullable)


def _fields(children: tuple[Any, ...], dims: Dims, path: str) -> dict[str, Spec]:
    fields: dict[str, Spec] = {}
    for child in children:
        name = (child[1] or b"").decode("utf-8", "surrogateescape")
        below = f"{path}.{name}" if path else name
        if name in fields:
            raise ArgumentError(f"feature {below!r}: two fields have this name", path=below)
        fields[name] = _spec(child, dims, below)
    return fields


# ---- the RFC's names ----


class _View(type):
    """isinstance tests the spec, whatever its class."""

    _is_dense: bool

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, StructuredTensorSpec):
            return False
        return (None not in instance.shape[1:]) == cls._is_dense


@public_in("columnstone.struct")
class DenseStructuredTensorSpec(StructuredTensorSpec, metaclass=_View):
    """The RFC's name of a StructuredTensorSpec with known lengths in all dimensions below the
    outermost: isinstance tests for that, and the constructor returns a StructuredTensorSpec."""

    __slots__ = ()
    _is_dense = True

    def __new__(cls, shape: Shape, field_specs: Mapping[str, Spec]) -> Any:
        return StructuredTensorSpec(shape, field_specs)


@public_in("columnstone.struct")
class RaggedStructuredTensorSpec(StructuredTensorSpec, metaclass=_View):
    """The RFC's name of a StructuredTensorSpec with a dimension of unknown length below the
    outermost: isinstance tests for that, and the constructor returns a StructuredTensorSpec.

    shape: of the whole; values_spec: of all structs of the last dimensions, one after the other;
        row_splits_dtype: "int64", the type of all row_splits
    """

    __slots__ = ()
    _is_dense = False

    def __new__(
        cls, shape: Shape, values_spec: StructuredTensorSpec, row_splits_dtype: Any = "int64"
    ) -> Any:
        dims = as_dims(shape)
        if _dtype(row_splits_dtype) != "int64":
            raise argument_error(f"row_splits_dtype is {_dtype(row_splits_dtype)}, expected int64")
        if not isinstance(values_spec, StructuredTensorSpec):
            raise TypeError(
                f"values_spec must be a StructuredTensorSpec, not {type(values_spec).__name__}"
            )
        inner = values_spec.shape[1:]
        if len(dims) <= values_spec.rank or not _agree(dims[len(dims) - len(inner) :], inner):
            raise argument_error(
                f"the shape is {dims_text(dims)}, expected one or more dimensions above "
                f"{dims_text(values_spec.shape)}, that of the values"
            )
        return _raise_rank(values_spec, dims)


def _raise_rank(spec: StructuredTensorSpec, dims: Dims) -> StructuredTensorSpec:
    """The spec with these dimensions instead of its own."""
    fields: dict[str, Spec] = {}
    for name, field in spec.field_specs.items():
        whole = dims + field.shape[spec.rank :]
        if isinstance(field, StructuredTensorSpec):
            fields[name] = _raise_rank(field, whole)
        else:
            fields[name] = LeafSpec(whole, field.dtype, field.nullable)
    return StructuredTensorSpec(dims, fields, spec.nullable)
