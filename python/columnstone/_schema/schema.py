"""Schema: the TensorFlow Metadata (TFMD) Schema, without protobuf."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, overload

from .. import _core
from .._arrow.pointers import exported
from .._base.errors import Error, NotFoundError, argument_error, name_file
from .._base.files import path_bytes
from .._base.markup import counted, or_text, table, titled
from .._base.public import public
from .._base.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Protocol, TypeAlias

    from .._core import ArrowSchemaExportable
    from .diff import SchemaChange
    from .spec import Feature, FeatureSpec, TensorRepresentation

    class Message(Protocol):
        """A protobuf message, such as tensorflow_metadata's Schema."""

        def SerializeToString(self) -> bytes: ...

    SchemaLike: TypeAlias = (
        "Schema | str | os.PathLike[str] | bytes | bytearray | memoryview | Message"
    )


@public
class Schema:
    """A TFMD schema: the features with their types and shapes. Schemas are immutable and pickle.
    Any number of threads can share one.

    Schema(x) accepts a Schema, a path, text, serialized bytes, or any object with
    SerializeToString. A string is a path if that file exists; otherwise it is text if it contains
    "{" or a newline. Unknown fields are preserved.

    Raises SchemaError with line and column, or with the path of the feature, if the schema is
    invalid, and NotFoundError if the file does not exist.

    >>> schema = cst.Schema("trips.pbtxt")
    >>> [feature.name for feature in schema.features]
    ['company', 'fare', 'zones']
    >>> schema.feature_spec()["fare"]
    FixedLen(shape=(), dtype='float32', default=None, key=None)
    """

    __slots__ = ("_handle",)
    _handle: _core.Schema

    def __init__(self, schema: SchemaLike) -> None:
        self._handle = _parse(schema)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Schema:
        """Reads a file of protobuf text or binary (at most 256 MiB)."""
        return cls._wrap(_read(path))

    @classmethod
    def from_text(cls, text: str | bytes) -> Schema:
        """Parses protobuf text (.pbtxt)."""
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        return cls._wrap(_core.Schema.parse(data, "text"))

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Schema:
        """Parses a serialized Schema message."""
        return cls._wrap(_core.Schema.parse(data, "binary"))

    @classmethod
    def _wrap(cls, core: _core.Schema) -> Schema:
        schema = object.__new__(cls)
        schema._handle = core
        return schema

    def to_text(self) -> str:
        """The schema as protobuf text, including unknown fields."""
        return self._handle.to_text()

    def to_bytes(self) -> bytes:
        """The schema as a serialized message, including unknown fields."""
        return self._handle.to_binary()

    SerializeToString = to_bytes

    @property
    def features(self) -> list[Feature]:
        """The features, in the order of the schema."""
        from .spec import feature_of

        return [feature_of(entry) for entry in self._handle.features()]

    def tensor_representations(
        self, group: str = "", legacy: bool = False, environment: str | None = None
    ) -> dict[str, TensorRepresentation]:
        """How each tensor is made, by name: the representations of the tensor_representation_group,
        and inferred ones for the features that these do not use.

        group: the tensor_representation_group.
        legacy: use the rules of generate_legacy_feature_spec, which depend on value_count and
            min_fraction.
        environment: leave out tensors of features outside this environment, such as the label when
            serving (default_environment, in_environment, not_in_environment); None: keep all.

        Raises NotFoundError for an unknown group or environment, SchemaError if a tensor cannot be
        made.

        >>> cst.Schema("trips.pbtxt").tensor_representations()["zones"].kind
        'ragged'
        """
        from .spec import representations_of

        return representations_of(self._handle.specs(group, legacy, environment))

    def with_tensor_representations(
        self,
        representations: Mapping[str, TensorRepresentation] | Iterable[TensorRepresentation],
        group: str = "",
    ) -> Schema:
        """Returns a schema with these representations as the tensor_representation_group of this
        name, replacing an existing one. Everything else stays the same. Columns that the schema
        lacks become features.

        Raises SchemaError for representations that are invalid or do not fit a feature, and
        UnsupportedError for what a schema cannot express: a path of several steps that is not
        ragged, or a structured tensor with fields that differ from what its features make.
        """
        from .spec import entries_of

        return Schema._wrap(self._handle.with_specs(entries_of(representations), group))

    @overload
    def feature_spec(
        self,
        group: str = "",
        legacy: bool = False,
        tensorflow: Literal[False] = False,
        environment: str | None = None,
    ) -> dict[str, FeatureSpec]: ...

    @overload
    def feature_spec(
        self,
        group: str = "",
        legacy: bool = False,
        *,
        tensorflow: Literal[True],
        environment: str | None = None,
    ) -> dict[str, Any]: ...

    def feature_spec(
        self,
        group: str = "",
        legacy: bool = False,
        tensorflow: bool = False,
        environment: str | None = None,
    ) -> dict[str, Any]:
        """The parsing spec: tensor name -> FixedLen, VarLen, Sparse or Ragged.

        tensorflow: True returns the tf.io objects for tf.io.parse_example (and imports TensorFlow).
            A tensor that tf.io cannot make, such as one of a struct field, raises UnsupportedError.
        """
        from .spec import feature_specs

        return feature_specs(self.tensor_representations(group, legacy, environment), tensorflow)

    def sequence_feature_spec(
        self,
        group: str = "",
        legacy: bool = False,
        tensorflow: bool = False,
        sequence_column: str = "##SEQUENCE##",
        environment: str | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The two parsing specs of tf.SequenceExamples: one for the context, one for the feature
        lists, which are the children of the struct `sequence_column`.

        With tensorflow=True, pass both to tf.io.parse_sequence_example.
        """
        from .spec import feature_specs

        tensors = self.tensor_representations(group, legacy, environment)
        is_step = {name: t.path[:1] == (sequence_column,) for name, t in tensors.items()}
        context = {name: t for name, t in tensors.items() if not is_step[name]}
        steps = {name: t for name, t in tensors.items() if is_step[name]}
        inside = (sequence_column,)
        return feature_specs(context, tensorflow), feature_specs(steps, tensorflow, inside)

    def diff(self, other: SchemaLike) -> list[SchemaChange]:
        """Lists the changes from this schema to the other one, in the order of this one. The list
        is empty if both mean the same. Features are compared by name, at any depth; the order of
        features and of domain values does not matter.

        `breaks` marks a change after which data that fits this schema may not fit the other one, or
        may give different tensors.

        >>> before = cst.Schema.from_text('feature { name: "a" type: INT }')
        >>> after = cst.Schema.from_text('feature { name: "a" type: FLOAT }')
        >>> print(*before.diff(after))
        changed a: type: INT -> FLOAT (breaks)
        """
        from .._arrow.findings import rows
        from .diff import SchemaChange

        batch, _ = self._handle.diff(_parse(other))
        return rows(batch, SchemaChange)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> tuple[Callable[[bytes], Schema], tuple[bytes]]:
        return Schema.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        names = [entry[0] for entry in self._handle.features()]
        more = ", ..." if len(names) > 8 else ""
        return f"<columnstone.Schema of {len(names)} features: {', '.join(names[:8])}{more}>"

    @or_text
    def _repr_html_(self) -> str:
        from .overview import overview

        rows = overview(self.features, lambda text: Schema.from_text(text).diff(self))
        names = ("feature", "type", "shape", "presence", "values", "domain", "else")
        return titled(
            f"Schema, {counted(len(self._handle.features()), 'feature')}", table(names, rows)
        )


def _read(file: object) -> _core.Schema:
    path = path_bytes(file)
    try:
        return _core.Schema.read(path)
    except Error as error:
        name_file(error, path)
        raise


def _parse(schema: object) -> _core.Schema:
    """The core of any object that represents a schema."""
    if isinstance(schema, Schema):
        return schema._handle
    if isinstance(schema, str):
        return _parse_string(schema)
    if isinstance(schema, os.PathLike):
        return _read(schema)
    if isinstance(schema, bytes | bytearray | memoryview):
        return _core.Schema.parse(schema, "auto")
    serialize = getattr(schema, "SerializeToString", None)
    if serialize is None and hasattr(schema, "__arrow_c_schema__"):
        raise TypeError("schema is a TFMD schema; for CSV and JSON, pass an Arrow schema as types=")
    if serialize is None:
        raise TypeError(
            "a schema is a columnstone.Schema, a path, text, bytes, or an object with "
            f"SerializeToString, not {type(schema).__name__}"
        )
    return _core.Schema.parse(serialize(), "binary")


def _parse_string(schema: str) -> _core.Schema:
    if "\0" not in schema and os.path.exists(schema):
        return _read(schema)
    if "{" in schema or "\n" in schema:
        return _core.Schema.parse(schema.encode("utf-8", "surrogateescape"), "text")
    path_bytes(schema)
    hint = "give the path of a .pbtxt or .pb file, or the schema's text"
    shown = printable(schema)
    raise NotFoundError(f"{shown}: there is no such schema file ({hint})", file=schema, hint=hint)


def as_core(schema: SchemaLike | None) -> _core.Schema | None:
    """The core of a schema argument; None stays None."""
    return None if schema is None else _parse(schema)


def as_columns(columns: object) -> tuple[str, ...] | None:
    """A columns argument as a tuple of str."""
    if columns is None:
        return None
    if isinstance(columns, str | bytes):
        raise TypeError(f"columns must be a list of names, not {type(columns).__name__}")
    names: tuple[str, ...] = tuple(columns)  # type: ignore[arg-type]
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"columns is a list of str, but contains {type(name).__name__}")
    return names


def as_types(types: ArrowSchemaExportable | None) -> _core.ArrowSchema | None:
    """An Arrow schema from any object that has one."""
    if types is None:
        return None
    types = exported(types)
    if not hasattr(types, "__arrow_c_schema__"):
        raise TypeError(
            "types must be an Arrow schema, an object with __arrow_c_schema__, not "
            f"{type(types).__name__}"
        )
    return _core.arrow_schema(types)


def as_column_flags(
    offsets: int, binary_views: bool, fixed_size: bool, nested: bool = False
) -> int:
    """The options about the layout of columns as flags."""
    return (
        (_core.COLUMNS_OFFSETS_32 if is_narrow(offsets) else 0)
        | (_core.COLUMNS_BINARY_VIEWS if binary_views else 0)
        | (_core.COLUMNS_FIXED_SIZE if fixed_size else 0)
        | (_core.COLUMNS_NESTED if nested else 0)
    )


def is_narrow(offsets: int) -> bool:
    """True for 32-bit offsets, False for 64-bit offsets."""
    if offsets not in (32, 64):
        raise argument_error(f"offsets is 64 or 32, not {offsets!r}")
    return offsets == 32
