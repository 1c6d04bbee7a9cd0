"""Decoders of records with tfx_bsl's errors."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pyarrow as pa
from google.protobuf.message import DecodeError
from tensorflow_metadata.proto.v0 import schema_pb2

from ...._api.codec import decoder
from ...._arrow.pointers import to_pyarrow
from ...._base.errors import CorruptError, Error, SchemaError
from ...._schema.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...._api.codec import Decoder

_LISTS = {"bytes": "bytes_list", "float": "float_list", "int64": "int64_list"}
_TYPES = (schema_pb2.BYTES, schema_pb2.INT, schema_pb2.FLOAT)


class RecordDecoder:
    """Decodes records of one kind to pyarrow record batches.

    serialized_schema: a serialized TFMD schema; None: types come from the records of each batch.
    sequence_column: for sequence examples, the name of their struct column; None: examples.

    Raises RuntimeError if the schema or the records are invalid.
    """

    def __init__(self, serialized_schema: bytes | None, sequence_column: str | None) -> None:
        self._sequence_column = sequence_column
        self._with_schema = serialized_schema is not None
        schema = None if serialized_schema is None else _features(serialized_schema)
        if schema is not None:
            _check(schema.feature, sequence_column)
        try:
            ours = None if schema is None else Schema(schema.SerializeToString())
            self._decoder: Decoder = (
                decoder("example", schema=ours)
                if sequence_column is None
                else decoder("sequence_example", schema=ours, sequence_column=sequence_column)
            )
        except Error as error:
            raise RuntimeError(f"INVALID_ARGUMENT: {error}") from error

    def decode(self, records: Sequence[bytes]) -> pa.RecordBatch:
        """One row for each of the records in a list, a numpy array or a pyarrow array."""
        if isinstance(records, np.ndarray):
            records = records.tolist()
        with self._raising():
            batch = to_pyarrow(self._decoder.decode(records))
        if self._sequence_column is None or self._with_schema:
            return batch
        return _with_flat_nulls(batch, self._sequence_column)

    def arrow_schema(self, name: str) -> pa.Schema:
        """The schema of every batch. Raises RuntimeError if none was given; name: of the class, for
        the error."""
        if not self._with_schema:
            raise RuntimeError(
                f"{name}: Unable to get the arrow schema if a TFMD schema was not provided at the "
                "construction time."
            )
        return self.decode([]).schema

    @contextmanager
    def _raising(self) -> Iterator[None]:
        try:
            yield
        except CorruptError as error:
            kind = "example" if self._sequence_column is None else "sequence example"
            raise RuntimeError(f"DATA_LOSS: Unable to parse {kind}.") from error
        except SchemaError as error:
            self._raise_wrong_type(error)
        except Error as error:
            raise RuntimeError(f"INVALID_ARGUMENT: {error}") from error

    def _raise_wrong_type(self, error: SchemaError) -> NoReturn:
        """Our message ends with "found a list of X, the schema says Y" or "…, earlier records have
        Y"."""
        words = str(error).rsplit("found a list of ", 1)[-1].replace(",", " ").split()
        found, wanted = _LISTS.get(words[0]), _LISTS.get(words[-1])
        if found is None or wanted is None or error.path is None:
            raise RuntimeError(f"INVALID_ARGUMENT: {error}") from error
        path, within = error.path, f"{self._sequence_column}."
        kind = "feature"
        if self._sequence_column is not None and path.startswith(within):
            kind, path = "sequence feature", path.removeprefix(within)
        raise RuntimeError(
            f"INVALID_ARGUMENT: Feature had wrong type, expected {wanted}, found {found} "
            f'for {kind} "{path}"'
        ) from error


def _with_flat_nulls(batch: pa.RecordBatch, sequence_column: str) -> pa.RecordBatch:
    """With large_list<null> for feature lists that never have a type; ours has one level more."""
    place = batch.schema.get_field_index(sequence_column)
    if place < 0:
        return batch
    column = batch.column(place)
    children = [_flat_nulls(column.field(i)) for i in range(column.type.num_fields)]
    fields = [pa.field(f.name, c.type) for f, c in zip(column.type, children, strict=True)]
    if not fields:
        return batch
    mask = column.is_null() if column.null_count else None
    changed = pa.StructArray.from_arrays(children, fields=fields, mask=mask)
    columns = [changed if i == place else c for i, c in enumerate(batch.columns)]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _flat_nulls(lists: pa.Array) -> pa.Array:
    if lists.type.value_type != pa.large_list(pa.null()):
        return lists
    starts, items = lists.offsets, len(lists.values)
    mask = lists.is_null() if lists.null_count else None
    return pa.LargeListArray.from_arrays(starts, pa.nulls(items), mask=mask)


def _features(serialized: bytes) -> schema_pb2.Schema:
    """The features of a serialized schema: decoding uses nothing else."""
    try:
        schema = schema_pb2.Schema.FromString(serialized)
    except DecodeError as error:
        raise RuntimeError("INVALID_ARGUMENT: Unable to parse schema.") from error
    bare = schema_pb2.Schema()
    for feature in schema.feature:
        _add_bare(bare.feature, feature)
    return bare


def _add_bare(to: Sequence[schema_pb2.Feature], feature: schema_pb2.Feature) -> None:
    """If several features have the same name, the first one counts."""
    if any(known.name == feature.name for known in to):
        return
    added = to.add(name=feature.name, type=feature.type)  # type: ignore[attr-defined]
    for child in feature.struct_domain.feature:
        _add_bare(added.struct_domain.feature, child)
    if feature.type == schema_pb2.STRUCT:
        added.struct_domain.SetInParent()


def _check(features: Sequence[schema_pb2.Feature], sequence_column: str | None) -> None:
    for feature in features:
        if sequence_column is not None and feature.name == sequence_column:
            if feature.type != schema_pb2.STRUCT:
                raise RuntimeError(
                    "INVALID_ARGUMENT: Found a feature in the schema with the "
                    f"sequence_feature_column_name (i.e., {sequence_column}) that is not a struct. "
                    "The sequence_feature_column_name should be used only for the struct of the "
                    "sequence features."
                )
            _check(feature.struct_domain.feature, None)
        elif feature.type not in _TYPES:
            raise RuntimeError(
                f"INVALID_ARGUMENT: Bad field type for feature: {feature.name} with type: "
                f"{feature.type}"
            )
