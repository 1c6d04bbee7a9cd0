"""tfx_bsl.coders.example_coder over columnstone's decoder and encoder of examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tensorflow_metadata.proto.v0 import schema_pb2

from ...._api.codec import decoder, encoder
from ...._arrow.pointers import to_pyarrow
from ...._base.errors import CorruptError
from .._errors import raising
from ._decode import RecordDecoder

if TYPE_CHECKING:
    from collections.abc import Sequence


class ExamplesToRecordBatchDecoder:
    """Decodes serialized tf.Examples into pyarrow record batches; it pickles.

    serialized_schema: a serialized TFMD schema: its features are the columns, in its order. None:
        types come from the records of each batch, and columns are sorted by name.

    Raises RuntimeError if the schema or the records are invalid.
    """

    def __init__(self, serialized_schema: bytes | None = None) -> None:
        self._schema = serialized_schema
        self._decoder = RecordDecoder(serialized_schema, None)

    def __reduce__(self) -> tuple[type, tuple[bytes | None]]:
        return type(self), (self._schema,)

    def DecodeBatch(self, examples: Sequence[bytes]) -> pa.RecordBatch:
        return self._decoder.decode(examples)

    def ArrowSchema(self) -> pa.Schema:
        """The schema of every batch; RuntimeError where no TFMD schema was given."""
        return self._decoder.arrow_schema(type(self).__name__)


class RecordBatchToExamplesEncoder:
    """Encodes pyarrow record batches as serialized tf.Examples, one for each row.

    schema: its ragged TensorRepresentations define which features contain the row lengths of
        columns with nested lists; nothing else is used.
    """

    def __init__(self, schema: schema_pb2.Schema | None = None) -> None:
        self._schema = schema
        self._ragged = {} if schema is None else _ragged_tensors(schema)

    def __reduce__(self) -> tuple[type, tuple[schema_pb2.Schema | None]]:
        return type(self), (self._schema,)

    def encode(self, record_batch: pa.RecordBatch) -> list[bytes]:
        """Raises RuntimeError for a column that a feature cannot hold."""
        names = record_batch.schema.names
        if len(set(names)) < len(names):
            raise RuntimeError("INVALID_ARGUMENT: RecordBatch contains duplicate column names.")
        taken = {name for name in names if name not in self._ragged}
        for name in names:
            if name in self._ragged:
                _take(self._ragged[name], taken)
        if not names:
            return [b""] * record_batch.num_rows
        columns: dict[str, pa.Array] = {}
        for name, column in zip(names, record_batch.columns, strict=True):
            columns.update(_flat_columns(name, column, self._ragged.get(name)))
        with raising(RuntimeError, "INVALID_ARGUMENT: "):
            flat = pa.RecordBatch.from_arrays(list(columns.values()), list(columns))
            return list(to_pyarrow(encoder("example").encode(flat)).to_pylist())


def RecordBatchToExamples(record_batch: pa.RecordBatch) -> list[bytes]:
    """The result of an encoder without a schema."""
    return RecordBatchToExamplesEncoder().encode(record_batch)


def ExampleToNumpyDict(serialized_example: bytes) -> dict[str, np.ndarray[Any, Any] | None]:
    """The features of one serialized tf.Example: arrays of int64, float32 or (for bytes) objects;
    None for a feature without a kind. Raises RuntimeError if it cannot be parsed."""
    try:
        batch = to_pyarrow(decoder("example").decode([serialized_example]))
    except CorruptError as error:
        raise RuntimeError("DATA_LOSS: Failed to parse input proto.") from error
    return {
        name: _numpy(column) for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }


def _numpy(column: pa.Array) -> np.ndarray[Any, Any] | None:
    if column.null_count or pa.types.is_null(column.type):
        return None
    values = column.flatten()
    found: np.ndarray[Any, Any] = values.to_numpy(zero_copy_only=False, writable=True)
    return found


_Ragged: TypeAlias = schema_pb2.TensorRepresentation.RaggedTensor


def _ragged_tensors(schema: schema_pb2.Schema) -> dict[str, _Ragged]:
    """The ragged representations of all groups, by the names of their tensors."""
    return {
        name: tensor.ragged_tensor
        for group in schema.tensor_representation_group.values()
        for name, tensor in group.tensor_representation.items()
        if tensor.WhichOneof("kind") == "ragged_tensor"
    }


def _row_lengths(tensor: _Ragged) -> list[tuple[str, int]]:
    """The features with row lengths, each with the number of values of its column that make one
    row: the product of the inner uniform lengths, which are not list levels."""
    found: list[tuple[str, int]] = []
    for partition in tensor.partition:
        if partition.WhichOneof("kind") == "row_length":
            found.append((partition.row_length, 1))
        elif found:
            name, width = found[-1]
            found[-1] = name, width * partition.uniform_row_length
    return found


def _take(tensor: _Ragged, taken: set[str]) -> None:
    for name in (tensor.feature_path.step[-1], *(name for name, _ in _row_lengths(tensor))):
        if name in taken:
            raise RuntimeError(
                f'INVALID_ARGUMENT: Source column "{name}" conflicts with another source column in '
                "the same batch."
            )
        taken.add(name)


def _flat_columns(name: str, column: pa.Array, tensor: _Ragged | None) -> dict[str, pa.Array]:
    """The columns of single lists that this column becomes: its values, and the inner row
    lengths."""
    partitions = [] if tensor is None else _row_lengths(tensor)
    _check(f'INVALID_ARGUMENT: Error encoding feature "{name}": ', column.type, len(partitions))
    if tensor is None:
        return {name: column}
    columns = {}
    ends = _ends(column)
    mask, rows, inner = column.is_null(), ends, column.flatten()
    for lengths_name, width in partitions:
        lengths = pc.fill_null(pc.list_value_length(inner), 0).to_numpy().astype(np.int64)
        lengths = lengths // width if width else lengths
        columns[lengths_name] = pa.LargeListArray.from_arrays(rows, pa.array(lengths), mask=mask)
        rows, inner = _ends(inner).take(rows), inner.flatten()
    columns[tensor.feature_path.step[-1]] = pa.LargeListArray.from_arrays(rows, inner, mask=mask)
    return columns


def _ends(lists: pa.Array) -> pa.Array:
    """Offsets of the lists' values in the result of flatten(), from 0."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int64())


def _check(before: str, kind: pa.DataType, partitions: int) -> None:
    """Raises RuntimeError if a column of this type does not have this many levels of row
    lengths."""
    depth = 0
    while pa.types.is_list(kind) or pa.types.is_large_list(kind):
        depth, kind = depth + 1, kind.value_type
    if depth == 0:
        raise RuntimeError(before + "Expected ListArray or LargeListArray")
    if depth - 1 > partitions:
        raise RuntimeError(
            before + "Nested depth of large_list is larger than the number of provided partitions "
            f"(or no partitions were provided). Expected {partitions} partitions. If the "
            "column represents RaggedTensor, then create the encoder with TFMD schema containing "
            "RaggedTensor TensorRepresentations with partitions."
        )
    if depth == 1 and partitions:
        raise RuntimeError(before + f"Expected {partitions} partitions, but got flat values array.")
    if depth - 1 < partitions:
        raise RuntimeError(
            before + "Nested depth of large_list is smaller than the number of partitions in the "
            f"provided TensorRepresentation. Expected to have {partitions} partitions."
        )
    if not any(is_kind(kind) for is_kind in _KINDS):
        raise RuntimeError(before + "Bad field type")


_KINDS = (
    pa.types.is_int64,
    pa.types.is_float32,
    pa.types.is_binary,
    pa.types.is_large_binary,
)
