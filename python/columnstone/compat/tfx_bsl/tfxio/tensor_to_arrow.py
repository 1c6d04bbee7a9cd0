"""tfx_bsl.tfxio.tensor_to_arrow over columnstone.tensor.TensorEncoder.for_specs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import tensorflow as tf

from ...._arrow.pointers import to_pyarrow
from ...._base.errors import Error, SchemaError, UnsupportedError
from ...._tensor.declared import TensorSpec
from ...._tensor.encoder import TensorEncoder
from .._errors import raising
from . import _halves

if TYPE_CHECKING:
    from tensorflow_metadata.proto.v0 import schema_pb2


class _Options:
    """The names of the columns of sparse tensors, and the two-dimensional tensors that get index
    columns even though they could be varlen tensors."""

    def __init__(
        self,
        sparse_tensor_value_column_name_template: str = "{tensor_name}$values",
        sparse_tensor_index_column_name_template: str = "{tensor_name}$index{index}",
        generic_sparse_tensor_names: frozenset[str] = frozenset(),
    ) -> None:
        self.sparse_tensor_value_column_name_template = sparse_tensor_value_column_name_template
        self.sparse_tensor_index_column_name_template = sparse_tensor_index_column_name_template
        self.generic_sparse_tensor_names = generic_sparse_tensor_names


_SparseTensorValue = tf.compat.v1.SparseTensorValue
# The encoder's message for tensors with different numbers of rows.
_OTHER_ROWS = re.compile(r"(\d+) rows, but the tensors before have (\d+)")

_Options.__name__ = "Options"
_Options.__qualname__ = "TensorsToRecordBatchConverter.Options"
_DEFAULT = _Options()


class TensorsToRecordBatchConverter:
    """Converts tensors of these tf.TypeSpecs to pyarrow record batches; the columns are in the
    order of the tensors' names.

    Raises ValueError for a tensor that columns cannot hold, and if two tensors need the same
    column.
    """

    Options = _Options

    def __init__(self, type_specs: dict[str, tf.TypeSpec], options: _Options = _DEFAULT) -> None:
        self._type_specs = dict(sorted(type_specs.items()))
        generic = options.generic_sparse_tensor_names
        value_column = options.sparse_tensor_value_column_name_template
        index_column = options.sparse_tensor_index_column_name_template
        specs = {n: _spec_of(n, spec, n in generic) for n, spec in self._type_specs.items()}
        try:
            self._encoder = TensorEncoder.for_specs(
                specs,
                coordinates=specs.keys() & generic,
                value_column=value_column.replace("{tensor_name}", "{name}"),
                index_column=index_column.replace("{tensor_name}", "{name}").replace(
                    "{index}", "{i}"
                ),
                relaxed=True,
            )
            self._varlen = {
                name
                for name, tensor in self._encoder.representations.items()
                if tensor.kind == "varlen_sparse"
            }
            self._arrow_schema = self._schema(to_pyarrow(self._encoder.arrow_schema))
        except SchemaError as error:
            raise ValueError(
                f"A tensor produces a column of a conflicting name: {error}"
            ) from error
        except UnsupportedError as error:
            raise pa.ArrowNotImplementedError(str(error)) from error
        except Error as error:
            raise _unfit(error.path or "", self._type_specs[error.path or ""]) from error

    def arrow_schema(self) -> pa.Schema:
        """The schema of the result of convert()."""
        return self._arrow_schema

    def _schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of the encoder, with float16 as bits."""
        for name, spec in self._type_specs.items():
            if spec.dtype == tf.float16:
                at = schema.get_field_index(self._encoder.representations[name].steps[0])
                kind = _halves.with_values(schema.field(at).type, pa.float16())
                schema = schema.set(at, schema.field(at).with_type(kind))
        return schema

    def tensor_representations(self) -> dict[str, schema_pb2.TensorRepresentation]:
        """The representations with which a TensorAdapter restores the tensors, by name."""
        tensors = self._encoder.representations
        messages = {name: tensors[name].to_proto() for name in self._type_specs}
        for message in messages.values():
            if message.HasField("dense_tensor") and not message.dense_tensor.shape.dim:
                message.dense_tensor.ClearField("shape")
        return messages

    def convert(self, tensors: dict[str, Any]) -> pa.RecordBatch:
        """The batch of these tensors, one for each TypeSpec, eager tensors or values. Raises
        TypeError for a tensor that does not fit its TypeSpec, AssertionError for other names and
        for unsorted indices of a sparse tensor, and ValueError for a tensor without such a form."""
        if len(tensors) != len(self._type_specs):
            raise AssertionError(f"{len(tensors)} tensors for {len(self._type_specs)} TypeSpecs")
        given = {}
        for name, spec in self._type_specs.items():
            actual = tf.type_spec_from_value(tensors[name])
            if not spec.is_compatible_with(actual):
                raise TypeError(f"tensor {name!r}: Expected {spec} but got {actual}")
            given[name] = _with_arrays(tensors[name])
            if name in self._varlen:
                rows = np.asarray(given[name].indices)[:, 0]
                if np.any(np.diff(rows) < 0):
                    raise AssertionError(f"tensor {name!r}: The sparse indices must be sorted")
            if spec.dtype == tf.float16:
                given[name] = _halves.reinterpreted(given[name], tf.uint16)
        with raising(ValueError):
            try:
                batch = to_pyarrow(self._encoder.encode(given))
            except SchemaError as error:
                counts = _OTHER_ROWS.search(str(error))
                if counts is None:
                    raise
                raise ValueError(
                    f"Arrays were not all the same length: {counts[1]} vs {counts[2]}"
                ) from error
        is_same = batch.schema == self._arrow_schema
        return batch if is_same else _halves.cast_columns(batch, self._arrow_schema)


def _with_arrays(value: Any) -> Any:
    """A value with arrays instead of lists, where TensorFlow accepts lists as arrays."""
    if not isinstance(value, _SparseTensorValue):
        return np.asarray(value) if isinstance(value, list | tuple) else value
    shape = np.asarray(value.dense_shape, np.int64)
    indices = np.asarray(value.indices, np.int64).reshape(-1, len(shape))
    return _SparseTensorValue(indices, np.asarray(value.values), shape)


def _spec_of(name: str, spec: tf.TypeSpec, is_generic: bool) -> TensorSpec:
    """The declaration for the encoder: the number of rows is unknown, and a sparse tensor that may
    have two dimensions is declared as varlen."""
    known = spec
    if isinstance(spec, tf.SparseTensorSpec) and not is_generic:
        is_varlen = spec.shape.is_compatible_with([None, None])
        known = tf.SparseTensorSpec([None, None], spec.dtype) if is_varlen else spec
    try:
        made = TensorSpec.of(known)
    except (Error, TypeError) as error:
        raise _unfit(name, spec) from error
    if made.dtype == "bool" and made.kind == "sparse" and known is spec and len(made.shape) > 1:
        raise TypeError("Unable to handle bool tensors: cast them to tf.uint8")
    if made.dtype == "bool" or (made.kind == "sparse" and len(made.shape) < 2):
        raise _unfit(name, spec)
    if spec.dtype == tf.float16:
        made = replace(made, dtype="uint16")  # its bits
    return made if made.kind == "dense" else replace(made, shape=(None, *made.shape[1:]))


def _unfit(name: str, spec: tf.TypeSpec) -> ValueError:
    return ValueError(
        f"No handler found for tensor {name} of spec {spec}. Tensors of tf.bool have no column: "
        "cast them to tf.uint8"
    )
