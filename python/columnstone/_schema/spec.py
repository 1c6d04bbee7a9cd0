"""How features of a schema become tensors: parsing specs and tensor representations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .._base.errors import ArgumentError, UnsupportedError
from .._base.optional import need
from .._base.public import public_in
from .protos import entry_of_message, message_of_entry

Dtype: TypeAlias = Literal[
    "int64",
    "float32",
    "bytes",
    "bool",
    "int8",
    "int16",
    "int32",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float64",
]
SplitsDtype: TypeAlias = Literal["int64", "int32"]
Kind: TypeAlias = Literal["dense", "varlen_sparse", "sparse", "ragged", "structured"]
Value: TypeAlias = int | float | bytes


@public_in("columnstone.schema")
@dataclass(frozen=True)
class Feature:
    """One feature of a schema.

    type is "bytes", "int64", "float32", "struct" or "unknown". shape is None unless it is fixed.
    in_use is False for deprecated features and for lifecycle stages that have no tensors. children
    are the features of a struct.
    """

    name: str
    type: str
    in_use: bool = True
    shape: tuple[int, ...] | None = None
    children: tuple[Feature, ...] = ()


@public_in("columnstone.schema")
@dataclass(frozen=True)
class FixedLen:
    """A dense tensor of [rows] + shape. `default` fills all positions of a row without the feature;
    without a default, such a row is an error. `key` is the feature's name if it differs from that
    of the tensor."""

    shape: tuple[int, ...]
    dtype: Dtype
    default: Value | None = None
    key: str | None = None


@public_in("columnstone.schema")
@dataclass(frozen=True)
class VarLen:
    """A sparse tensor of [rows, longest row]. `key` as for FixedLen."""

    dtype: Dtype
    key: str | None = None


@public_in("columnstone.schema")
@dataclass(frozen=True)
class Sparse:
    """A sparse tensor of [rows] + size from features with indices and one feature with values. A
    size of -1 is unknown. already_sorted: the indices are sorted within each row."""

    index_keys: tuple[str, ...]
    value_key: str
    dtype: Dtype
    size: tuple[int, ...]
    already_sorted: bool = False


@public_in("columnstone.schema")
@dataclass(frozen=True)
class RowLengths:
    """An inner partition of a ragged tensor, with the row lengths in a feature."""

    key: str


@public_in("columnstone.schema")
@dataclass(frozen=True)
class UniformRowLength:
    """An inner partition of a ragged tensor whose rows all have the same length."""

    length: int


@public_in("columnstone.schema")
@dataclass(frozen=True)
class Ragged:
    """A ragged tensor: the values of a feature, divided into rows and then by the partitions,
    outermost first."""

    value_key: str
    dtype: Dtype
    partitions: tuple[RowLengths | UniformRowLength, ...] = ()
    row_splits_dtype: SplitsDtype = "int64"


@public_in("columnstone.schema")
@dataclass(frozen=True)
class Structured:
    """A tensor that consists of named tensors, each made from columns of its own: a dict in a
    batch."""

    fields: Mapping[str, FeatureSpec]


FeatureSpec: TypeAlias = "FixedLen | VarLen | Sparse | Ragged | Structured"


@public_in("columnstone.schema")
@dataclass(frozen=True)
class TensorRepresentation:
    """How one tensor is made from columns: the TFMD TensorRepresentation as plain attributes.

    path: the value column, with several steps for a field of a struct; if it is empty, the column
        with the name of the tensor. shape: of one row (dense), or one size per index column
        (sparse; -1 is unknown; empty: a column of single values, without the nulls). dtype: for a
        schema, int64, float32 or bytes, which stand for their families; for a column made by a
        stage or a view, the type of the column. fields: the tensors of a structured tensor, whose
        own dtype is "none" and whose path is empty; the paths of the fields begin at the top.
        explicit: True for representations from the schema's tensor_representation_group, False for
        inferred ones. reason: the rule, as text.
    """

    name: str
    kind: Kind
    dtype: Dtype | Literal["none"] = "none"
    path: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    index_columns: tuple[str, ...] = ()
    already_sorted: bool = False
    partitions: tuple[RowLengths | UniformRowLength, ...] = ()
    row_splits_dtype: SplitsDtype = "int64"
    default: Value | None = None
    explicit: bool = False
    reason: str = ""
    fields: tuple[TensorRepresentation, ...] = ()

    @property
    def steps(self) -> tuple[str, ...]:
        """The path, even where it was left empty."""
        return tuple(self.path) or (self.name,)

    @classmethod
    def from_proto(cls, name: str, proto: Any, dtype: Dtype = "int64") -> TensorRepresentation:
        """The representation in a message: a tensorflow_metadata TensorRepresentation, or its
        bytes, which require that package. dtype is the type of the values, which is not in the
        message; a TensorAdapter uses the family of the column. Raises ArgumentError for an empty
        message."""
        return _representation_of(*entry_of_message(name, proto, dtype))

    def to_proto(self) -> Any:
        """The message of tensorflow_metadata, which must be installed. It has neither the name nor
        the dtype. Raises UnsupportedError for a structured tensor, and for a path of several steps
        that is not ragged, because a message cannot express these."""
        return message_of_entry(_entry_of(self))


def feature_of(entry: tuple[Any, ...]) -> Feature:
    """A Feature from the extension's tuple."""
    name, type_, in_use, shape, children = entry
    return Feature(name, type_, in_use, shape, tuple(feature_of(child) for child in children))


def representations_of(entries: Iterable[tuple[Any, ...]]) -> dict[str, TensorRepresentation]:
    """TensorRepresentations by name from the extension's tuples."""
    return {entry[0]: _representation_of(*entry) for entry in entries}


def _representation_of(
    name: str,
    kind: Kind,
    dtype: Dtype,
    path: tuple[str, ...],
    dims: tuple[int, ...],
    index_columns: tuple[str, ...],
    already_sorted: bool,
    partitions: tuple[str | int, ...],
    row_splits_dtype: str,
    default: Value | None,
    explicit: bool,
    varlen_ragged: bool,
    reason: str,
    fields: list[tuple[Any, ...]],
) -> TensorRepresentation:
    return TensorRepresentation(
        name=name,
        kind=kind,
        dtype=dtype,
        path=path,
        shape=dims,
        index_columns=index_columns,
        already_sorted=already_sorted,
        partitions=tuple(
            RowLengths(p) if isinstance(p, str) else UniformRowLength(p) for p in partitions
        ),
        row_splits_dtype="int32" if row_splits_dtype == "int32" else "int64",
        default=default,
        explicit=explicit,
        reason=reason,
        fields=tuple(_representation_of(*field) for field in fields),
    )


def entries_of(
    representations: Mapping[str, TensorRepresentation] | Iterable[TensorRepresentation],
) -> tuple[tuple[Any, ...], ...]:
    """The extension's tuples of representations. Representations have names, so that the keys of a
    dict do not matter."""
    if isinstance(representations, TensorRepresentation):
        raise TypeError("representations is a dict or a list, not a single TensorRepresentation")
    if isinstance(representations, Mapping):
        representations = representations.values()
    return tuple(_entry_of(tensor) for tensor in representations)


def _check_types(tensor: TensorRepresentation) -> None:
    """Checks for which the extension could not say which tensor is wrong."""
    if not isinstance(tensor.name, str):
        raise TypeError(f"the name of a tensor must be a str, not {type(tensor.name).__name__}")
    for partition in tensor.partitions:
        if not isinstance(partition, RowLengths | UniformRowLength):
            raise TypeError(
                f"tensor {tensor.name!r}: a partition must be RowLengths or UniformRowLength, not "
                f"{type(partition).__name__}"
            )
    default = tensor.default if "int" in tensor.dtype else None
    for number in (*tensor.shape, default):
        if isinstance(number, int) and not -(2**63) <= number < 2**63:
            raise ArgumentError(f"tensor {tensor.name!r}: {number} does not fit 64 bits")


def _entry_of(tensor: TensorRepresentation) -> tuple[Any, ...]:
    if not isinstance(tensor, TensorRepresentation):
        raise TypeError(
            f"a representation must be a TensorRepresentation, not {type(tensor).__name__}"
        )
    _check_types(tensor)
    return (
        tensor.name,
        tensor.kind,
        tensor.dtype,
        tuple(tensor.path),
        tuple(tensor.shape),
        tuple(tensor.index_columns),
        bool(tensor.already_sorted),
        tuple(p.key if isinstance(p, RowLengths) else p.length for p in tensor.partitions),
        tensor.row_splits_dtype,
        tensor.default,
        bool(tensor.explicit),
        False,
        tensor.reason,
        tuple(_entry_of(field) for field in tensor.fields),
    )


def feature_spec_of(tensor: TensorRepresentation) -> FeatureSpec:
    """The parsing spec of one tensor. Keys of nested features are the names of leaves."""
    if tensor.dtype == "none":
        return Structured({field.name: feature_spec_of(field) for field in tensor.fields})
    leaf = tensor.steps[-1]
    key = None if leaf == tensor.name else leaf
    if tensor.kind == "dense":
        return FixedLen(tensor.shape, tensor.dtype, tensor.default, key)
    if tensor.kind == "varlen_sparse":
        return VarLen(tensor.dtype, key)
    if tensor.kind == "sparse":
        return Sparse(tensor.index_columns, leaf, tensor.dtype, tensor.shape, tensor.already_sorted)
    return Ragged(leaf, tensor.dtype, tensor.partitions, tensor.row_splits_dtype)


def tensorflow_spec_of(name: str, spec: FeatureSpec) -> Any:
    """The tf.io object for the tensor. Imports TensorFlow."""
    if isinstance(spec, Structured):
        hint = "parse its columns separately, or leave the tensor out"
        raise UnsupportedError(
            f"tf.io cannot parse the structured tensor {name!r} ({hint})", path=name, hint=hint
        )
    tf = need("tensorflow", "a parsing spec of tf.io")

    # The types of tf.Examples, whatever the columns are.
    family = "float" if spec.dtype[0] == "f" else "bytes" if spec.dtype == "bytes" else "int"
    dtype = {"int": tf.int64, "float": tf.float32, "bytes": tf.string}[family]
    if isinstance(spec, FixedLen | VarLen) and spec.key is not None:
        hint = f"rename the tensor to {spec.key!r}"
        raise UnsupportedError(
            f"tf.io reads the feature {name!r} for the tensor {name!r}, not {spec.key!r} ({hint})",
            path=name,
            hint=hint,
        )
    if isinstance(spec, FixedLen):
        count = math.prod(spec.shape)
        default = None if spec.default is None else [spec.default] * count
        return tf.io.FixedLenFeature(list(spec.shape), dtype, default)
    if isinstance(spec, VarLen):
        return tf.io.VarLenFeature(dtype)
    if isinstance(spec, Sparse):
        if not spec.index_keys:
            hint = "make it dense with a default, or varlen"
            raise UnsupportedError(
                f"tf.io cannot parse the sparse tensor {name!r} of rank 1 ({hint})",
                path=name,
                hint=hint,
            )
        return tf.io.SparseFeature(
            list(spec.index_keys), spec.value_key, dtype, list(spec.size), spec.already_sorted
        )
    partitions = [
        tf.io.RaggedFeature.RowLengths(p.key)
        if isinstance(p, RowLengths)
        else tf.io.RaggedFeature.UniformRowLength(p.length)
        for p in spec.partitions
    ]
    splits = tf.int32 if spec.row_splits_dtype == "int32" else tf.int64
    return tf.io.RaggedFeature(dtype, spec.value_key, partitions, splits)


def _check_place(tensor: TensorRepresentation, struct: tuple[str, ...]) -> None:
    """tf.io names features, which must all be at one level: at the top, or in the feature lists."""
    if tensor.kind != "structured" and tensor.steps[:-1] != struct:
        hint = "leave the tensor out"
        raise UnsupportedError(
            f"tf.io cannot parse the tensor {tensor.name!r}, whose column is inside "
            f"{'.'.join(tensor.steps[:-1])!r} ({hint})",
            path=tensor.name,
            hint=hint,
        )


def feature_specs(
    tensors: dict[str, TensorRepresentation], tensorflow: bool = False, struct: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The parsing specs of all tensors, as ours or as tf.io objects; the latter only for columns
    that are children of `struct`."""
    specs = {name: feature_spec_of(tensor) for name, tensor in tensors.items()}
    if not tensorflow:
        return dict(specs)
    for tensor in tensors.values():
        _check_place(tensor, struct)
    return {name: tensorflow_spec_of(name, spec) for name, spec in specs.items()}
