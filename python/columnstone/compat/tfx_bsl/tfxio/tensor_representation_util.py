"""tfx_bsl.tfxio.tensor_representation_util over columnstone.Schema and its representations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorflow_metadata.proto.v0 import schema_pb2

from ...._schema.schema import Schema
from ...._schema.spec import (
    RowLengths,
    TensorRepresentation,
    feature_spec_of,
    tensorflow_spec_of,
)
from .._errors import raising
from ..arrow.path import ColumnPath

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_DEFAULT_TENSOR_REPRESENTATION_GROUP = ""
_IS_LEGACY_SCHEMA = "generate_legacy_feature_spec" in schema_pb2.Schema.DESCRIPTOR.fields_by_name
# Features in these stages become no tensors; upstream's tests use the name.
_DISQUALIFYING_LIFECYCLE_STAGES = (
    schema_pb2.DEPRECATED,
    schema_pb2.DISABLED,
    schema_pb2.PLANNED,
    schema_pb2.ALPHA,
    schema_pb2.DEBUG_ONLY,
    schema_pb2.VALIDATION_DERIVED,
)
_DTYPES: dict[int, Any] = {
    schema_pb2.BYTES: "bytes",
    schema_pb2.INT: "int64",
    schema_pb2.FLOAT: "float32",
}
_DEFAULTS = {"bytes": "bytes_value", "int64": "int_value", "float32": "float_value"}


def SetTensorRepresentationsInSchema(
    schema: schema_pb2.Schema,
    tensor_representations: Mapping[str, schema_pb2.TensorRepresentation],
    tensor_representation_group_name: str = _DEFAULT_TENSOR_REPRESENTATION_GROUP,
) -> None:
    """Sets the group with that name in the schema, replacing an existing one."""
    group = schema.tensor_representation_group[tensor_representation_group_name]
    group.tensor_representation.clear()
    for name, message in tensor_representations.items():
        group.tensor_representation[name].CopyFrom(message)


def GetTensorRepresentationsFromSchema(
    schema: schema_pb2.Schema,
    tensor_representation_group_name: str = _DEFAULT_TENSOR_REPRESENTATION_GROUP,
) -> dict[str, schema_pb2.TensorRepresentation] | None:
    """The group with that name, by tensor; None if there is none."""
    if tensor_representation_group_name not in schema.tensor_representation_group:
        return None
    group = schema.tensor_representation_group[tensor_representation_group_name]
    return dict(group.tensor_representation)


def InferTensorRepresentationsFromSchema(
    schema: schema_pb2.Schema,
) -> dict[str, schema_pb2.TensorRepresentation]:
    """The inferred representations of the features. Raises ValueError if they cannot be tensors."""
    bare = schema_pb2.Schema()
    bare.CopyFrom(schema)
    bare.ClearField("tensor_representation_group")
    legacy = _IS_LEGACY_SCHEMA and schema.generate_legacy_feature_spec
    messages = {} if legacy else _take_sparse(bare)
    _give_types(bare.feature)
    if not legacy:
        _check_structs(bare)
        _check_shapes(bare)
    with raising(ValueError):
        tensors = Schema(bare).tensor_representations(legacy=legacy)
    messages |= {name: tensor.to_proto() for name, tensor in tensors.items()}
    for message in messages.values():
        if message.HasField("ragged_tensor"):
            message.ragged_tensor.ClearField("row_partition_dtype")
    return messages


def _give_types(features: Iterable[Any]) -> None:
    """Gives a type to features without one; their representations do not depend on it."""
    for feature in features:
        if feature.type == schema_pb2.TYPE_UNKNOWN:
            feature.type = schema_pb2.BYTES
        _give_types(feature.struct_domain.feature if feature.type == schema_pb2.STRUCT else ())


def _check_structs(schema: schema_pb2.Schema) -> None:
    """Removes the shapes of structs, which do not affect the tensors of their fields, and the
    stages of their fields, which become tensors in all stages. Raises NotImplementedError, with
    tfx_bsl's message, for structs within structs."""
    for feature in schema.feature:
        if feature.type != schema_pb2.STRUCT:
            continue
        feature.ClearField("shape")
        if feature.deprecated or feature.lifecycle_stage in _DISQUALIFYING_LIFECYCLE_STAGES:
            continue
        for child in feature.struct_domain.feature:
            if child.type == schema_pb2.STRUCT:
                raise NotImplementedError(
                    f"Got STRUCT feature {child.name} in struct domain of {feature.name}. STRUCT "
                    "features with multiple levels of nestedness are not supported."
                )
            child.ClearField("deprecated")
            child.ClearField("lifecycle_stage")


def _check_shapes(schema: schema_pb2.Schema) -> None:
    """Raises ValueError, with tfx_bsl's message, for a fixed shape of a feature that may be
    missing."""
    sparse = {
        column.name
        for one in schema.sparse_feature
        for column in (*one.index_feature, one.value_feature)
    }
    for feature in schema.feature:
        if feature.deprecated or feature.lifecycle_stage in _DISQUALIFYING_LIFECYCLE_STAGES:
            continue
        fraction = feature.presence.min_fraction
        if feature.HasField("shape") and fraction != 1 and feature.name not in sparse:
            raise ValueError(
                f"Feature {feature.name} had shape {feature.shape} set but min_fraction "
                f"{fraction} != 1.  Use value_count not shape field when min_fraction != 1."
            )


def _take_sparse(schema: schema_pb2.Schema) -> dict[str, schema_pb2.TensorRepresentation]:
    """Removes sparse features without index features, which Columnstone does not support, and their
    value features from the schema. Raises ValueError, with tfx_bsl's message, for sparse features
    that cannot be tensors."""
    features = {feature.name: feature for feature in schema.feature}
    messages = {}
    for sparse in schema.sparse_feature:
        if sparse.deprecated or sparse.lifecycle_stage in _DISQUALIFYING_LIFECYCLE_STAGES:
            continue
        keys = [index.name for index in sparse.index_feature]
        for kind, key in (*(("index", k) for k in keys), ("value", sparse.value_feature.name)):
            if key not in features:
                raise ValueError(
                    f"sparse_feature {sparse.name} referred to {kind} feature {key} which did not "
                    "exist in the schema, or is used twice"
                )
            if kind == "index" and features[key].HasField("int_domain"):
                _check_domain(sparse.name, key, features[key].int_domain)
            del features[key]
        if not keys:
            message = messages[sparse.name] = schema_pb2.TensorRepresentation()
            message.sparse_tensor.dense_shape.SetInParent()
            message.sparse_tensor.value_column_name = sparse.value_feature.name
            if sparse.is_sorted:
                message.sparse_tensor.already_sorted = True
    taken = {message.sparse_tensor.value_column_name for message in messages.values()}
    for field, gone in ((schema.feature, taken), (schema.sparse_feature, messages.keys())):
        for i in reversed([i for i, one in enumerate(field) if one.name in gone]):
            del field[i]
    return messages


def _check_domain(name: str, key: str, domain: Any) -> None:
    for bound, word in (("min", "minimum"), ("max", "maximum")):
        if not domain.HasField(bound):
            raise ValueError(
                f"Cannot determine dense shape of sparse feature {name}. The {word} domain value "
                f"of index feature {key} is not set."
            )
        if bound == "min" and domain.min != 0:
            raise ValueError(
                f"Only 0-based index features are supported. Sparse feature {name} has index "
                f"feature {key} whose minimum domain value is {domain.min}."
            )


def InferTensorRepresentationsFromMixedSchema(
    schema: schema_pb2.Schema,
) -> dict[str, schema_pb2.TensorRepresentation]:
    """The representations of the schema's group, and inferred ones for features that none of its
    tensors uses."""
    explicit = GetTensorRepresentationsFromSchema(schema) or {}
    used = {str(c) for m in explicit.values() for c in GetSourceColumnsFromTensorRepresentation(m)}
    inferred = InferTensorRepresentationsFromSchema(schema)
    return explicit | {k: m for k, m in inferred.items() if k not in used and k not in explicit}


def GetSourceColumnsFromTensorRepresentation(
    tensor_representation: schema_pb2.TensorRepresentation,
) -> list[ColumnPath]:
    """The columns that the tensor is made from; for a sparse tensor, first the index columns."""
    if tensor_representation.WhichOneof("kind") is None:
        return []
    tensor = TensorRepresentation.from_proto("", tensor_representation)
    value = ColumnPath(tensor.path)
    indices = [ColumnPath(column) for column in tensor.index_columns]
    lengths = [p.key for p in tensor.partitions if isinstance(p, RowLengths)]
    no_values = tensor.kind == "sparse" and not tensor_representation.sparse_tensor.HasField(
        "value_column_name"
    )
    values = [] if no_values else [value]
    return [*indices, *values, *(ColumnPath((*tensor.path[:-1], key)) for key in lengths)]


def GetSourceValueColumnFromTensorRepresentation(
    tensor_representation: schema_pb2.TensorRepresentation,
) -> ColumnPath:
    """The column of the values. Raises KeyError for an empty representation."""
    if tensor_representation.WhichOneof("kind") is None:
        raise KeyError(None)
    return ColumnPath(TensorRepresentation.from_proto("", tensor_representation).path)


def CreateTfExampleParserConfig(
    tensor_representation: schema_pb2.TensorRepresentation, feature_type: int
) -> Any:
    """The tf.io feature for tf.io.parse_example. Raises ValueError if there is none."""
    dtype = _DTYPES.get(feature_type)
    if dtype is None:
        raise ValueError(f"The feature_type: {feature_type} is not supported.")
    if tensor_representation.WhichOneof("kind") is None:
        raise NotImplementedError("TensorRepresentation: None is not supported.")
    with raising(ValueError):
        tensor = TensorRepresentation.from_proto("", tensor_representation, dtype)
    if tensor.kind == "ragged" and len(tensor.path) != 1:
        if not tensor.path:
            raise ValueError("RaggedTensor representation with empty feature_path.")
        raise ValueError(
            "Parsing spec from a RaggedTensor with multiple steps in feature_path is not "
            "implemented."
        )
    default = tensor_representation.dense_tensor.default_value
    if tensor.default is not None and default.WhichOneof("kind") != _DEFAULTS[dtype]:
        raise ValueError(
            f"FeatureType: {schema_pb2.FeatureType.Name(feature_type)} is incompatible with "
            f"default_value: {tensor.default!r}"
        )
    leaf = tensor.path[-1]
    if tensor_representation.HasField("sparse_tensor") and not tensor.index_columns:
        # For Columnstone, a column that is not a list.
        return _sparse_of_rank_0(leaf, tensor_representation.sparse_tensor, dtype)
    named = TensorRepresentation.from_proto(leaf, tensor_representation, dtype)
    with raising(ValueError):
        return tensorflow_spec_of(leaf, feature_spec_of(named))


def _sparse_of_rank_0(column: str, message: Any, dtype: str) -> Any:
    import tensorflow as tf

    of_values = tf.string if dtype == "bytes" else tf.as_dtype(dtype)
    return tf.io.SparseFeature([], column, of_values, [], message.already_sorted)


def CreateTfSequenceExampleParserConfig(
    schema: schema_pb2.Schema,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The features for tf.io.parse_sequence_example: those of the context, and those of the feature
    lists, which are the children of a struct. Raises ValueError without representations."""
    messages = GetTensorRepresentationsFromSchema(schema)
    if messages is None:
        raise ValueError("TensorRepresentations are required.")
    types = _types_of(schema.feature)
    context, sequence = {}, {}
    for name, message in messages.items():
        path = tuple(GetSourceValueColumnFromTensorRepresentation(message).steps())
        if len(path) == 1:
            context[name] = CreateTfExampleParserConfig(message, types[path])
        elif len(path) == 2:
            inner = schema_pb2.TensorRepresentation()
            inner.CopyFrom(message)
            del inner.ragged_tensor.feature_path.step[0]
            sequence[name] = CreateTfExampleParserConfig(inner, types[path])
        else:
            raise ValueError(
                f"Only primitive or struct of primitive features are supported, got {message}"
            )
    return context, sequence


def _types_of(features: Iterable[Any], above: tuple[str, ...] = ()) -> dict[tuple[str, ...], int]:
    """The types of the features without children, by path."""
    types: dict[tuple[str, ...], int] = {}
    for feature in features:
        path = (*above, feature.name)
        if feature.type == schema_pb2.STRUCT:
            types |= _types_of(feature.struct_domain.feature, path)
        else:
            types[path] = feature.type
    return types


def ProjectTensorRepresentationsInSchema(
    schema: schema_pb2.Schema, tensor_names: Iterable[str]
) -> schema_pb2.Schema:
    """A schema with these tensors and the features that they are made from. Raises ValueError for
    an unknown tensor, and for columns that are not features."""
    messages = GetTensorRepresentationsFromSchema(schema)
    if messages is None:
        messages = InferTensorRepresentationsFromSchema(schema)
    names = set(tensor_names)
    if unknown := names - messages.keys():
        raise ValueError(
            f"Unable to project {unknown} because they were not in the original or inferred "
            "TensorRepresentations."
        )
    paths = {c for name in names for c in GetSourceColumnsFromTensorRepresentation(messages[name])}
    result = schema_pb2.Schema()
    for feature in schema.feature:
        if ColumnPath(feature.name) in paths:
            paths.discard(ColumnPath(feature.name))
            result.feature.add().CopyFrom(feature)
    if paths:
        raise ValueError(
            f"TensorRepresentations source columns {paths} are not present in the schema."
        )
    chosen = {name: message for name, message in messages.items() if name in names}
    SetTensorRepresentationsInSchema(result, chosen)
    return result


def ValidateTensorRepresentationsInSchema(
    schema: schema_pb2.Schema,
    tensor_representation_group_name: str = _DEFAULT_TENSOR_REPRESENTATION_GROUP,
) -> None:
    """Raises ValueError if there is no such group, if its tensors refer to columns that are not
    features, or if they leave a feature out."""
    messages = GetTensorRepresentationsFromSchema(schema, tensor_representation_group_name)
    if messages is None:
        raise ValueError(
            "TensorRepresentations are not found in the schema. Is the group's name right?"
        )
    used = {c for m in messages.values() for c in GetSourceColumnsFromTensorRepresentation(m)}
    known = {ColumnPath(path) for path in _types_of(schema.feature)}
    if used - known:
        raise ValueError(
            "Features referred in TensorRepresentations but not found in the schema: "
            f"{used - known}"
        )
    if known - used:
        raise ValueError(
            "Features present in the schema but not referred in any TensorRepresentation: "
            f"{known - used}"
        )
