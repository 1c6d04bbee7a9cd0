"""tfx_bsl.tfxio.parquet_tfxio: Parquet files, which columnstone.beam and columnstone.tfxio read."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import apache_beam as beam
import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from ...._arrow.pointers import to_pyarrow
from ...._beam.read import Read
from ....tfxio import ParquetTFXIO as _ParquetTFXIO
from ..arrow import array_util
from ..coders import batch_util
from . import (
    _batch_dataset,
    dataset_options,
    record_based_tfxio,
    telemetry,
    tensor_representation_util,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from . import tensor_adapter

_FORMAT = "parquet"
_COLUMN_TYPES = {
    schema_pb2.INT: pa.large_list(pa.int64()),
    schema_pb2.FLOAT: pa.large_list(pa.float32()),
    schema_pb2.BYTES: pa.large_list(pa.large_binary()),
}


class ParquetTFXIO(_batch_dataset.BatchDatasetTFXIO):
    """Parquet files.

    file_pattern: a path, a glob or a list of them; a file that is given twice is read twice.
    column_names: the columns to read, in this order; None: all.
    min_bundle_size: has no effect: the planner chooses how to divide row groups.
    schema: with it, only the columns of its features are read, as large_list<int64>, <float> and
        <large_binary>: other lists and numbers are converted, and columns without lists become
        lists of one value. Without it, the columns have the types of the files.
    validate: raises OSError for patterns without files when the pipeline is created, not when it
        runs.
    """

    def __init__(
        self,
        file_pattern: str | list[str],
        *,
        column_names: list[str] | None = None,
        min_bundle_size: int = 0,
        schema: schema_pb2.Schema | None = None,
        validate: bool = True,
        telemetry_descriptors: list[str] | None = None,
    ) -> None:
        super().__init__(telemetry_descriptors, logical_format=_FORMAT, physical_format=_FORMAT)
        self._file_pattern = file_pattern if isinstance(file_pattern, list) else [file_pattern]
        self._column_names = column_names
        self._schema = schema
        self._validate = validate

    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform:
        """Batches of at most this many rows (None: 1024); the last ones of each part of a file have
        fewer."""
        count = telemetry.ProfileRecordBatches(self._telemetry_descriptors, _FORMAT, _FORMAT)

        @beam.typehints.with_output_types(pa.RecordBatch)
        def BeamSource(begin: Any) -> beam.PCollection:
            return begin | "Read" >> self._read(batch_size) | "CollectRecordBatchTelemetry" >> count

        return beam.ptransform_fn(BeamSource)()

    def _read(self, batch_size: int | None) -> beam.PTransform:
        """The batches, with the types of ArrowSchema()."""
        if self._validate:
            record_based_tfxio.check_patterns(self._file_pattern)
        schema = None if self._schema is None else self.ArrowSchema()
        read = Read(
            list(self._file_pattern),
            format=_FORMAT,
            columns=self._columns(),
            batch_size=batch_size,
        )
        if schema is None:
            return read

        @beam.typehints.with_output_types(pa.RecordBatch)
        def ReadParquet(begin: Any) -> beam.PCollection:
            return begin | "ReadFromParquet" >> read | "Conform" >> beam.Map(_conformed, schema)

        return beam.ptransform_fn(ReadParquet)()

    def _columns(self) -> list[str] | None:
        """The columns to read; None: all."""
        return self._column_names if self._schema is None else self.ArrowSchema().names

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform:
        """Rows as pickled dictionaries of Python's values."""

        @beam.typehints.with_output_types(bytes)
        def ReadRows(begin: Any) -> beam.PCollection:
            rows = beam.FlatMap(_rows_of).with_output_types(bytes)
            return begin | "Read" >> self._read(None) | "Rows" >> rows

        return beam.ptransform_fn(ReadRows)()

    def _RawRecordToRecordBatchInternal(self, batch_size: int | None = None) -> beam.PTransform:
        """Raises KeyError for a row without one of the columns. Rows are unpickled: they must come
        from RawRecordBeamSource()."""
        schema = self.ArrowSchema()

        @beam.typehints.with_input_types(bytes)
        @beam.typehints.with_output_types(pa.RecordBatch)
        def RowsToRecordBatches(rows: beam.PCollection) -> beam.PCollection:
            batch = batch_util.BatchRecords(batch_size, self._telemetry_descriptors)
            return rows | "Batch" >> batch | "ToRecordBatch" >> beam.Map(_batch_of, schema)

        return beam.ptransform_fn(RowsToRecordBatches)()

    def RecordBatches(
        self, options: dataset_options.RecordBatchesOptions
    ) -> Iterator[pa.RecordBatch]:
        """The batches without Beam; tfx_bsl has none. Without end, there is no smaller batch."""
        schema = None if self._schema is None else self.ArrowSchema()
        source = _ParquetTFXIO(list(self._file_pattern), self._columns())
        drop = options.drop_final_batch or options.num_epochs is None
        for batch in source.RecordBatches(options._replace(drop_final_batch=drop)):  # type: ignore[arg-type]
            yield batch if schema is None else _conformed(batch, schema)

    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        """Without a schema, that of the files, which are opened for this."""
        if self._schema is None:
            with _ParquetTFXIO(list(self._file_pattern), self._column_names)._open(1024) as source:
                return to_pyarrow(source.arrow_schema)
        features = {feature.name: feature for feature in self._schema.feature}
        names = features if self._column_names is None else self._column_names
        return pa.schema([_field_of(features[name]) for name in names if name in features])

    def TensorRepresentations(self) -> tensor_adapter.TensorRepresentations:
        """The representations of the schema, or inferred ones; without a schema, those of the
        columns that are lists of numbers or strings."""
        return tensor_representation_util.InferTensorRepresentationsFromMixedSchema(
            self._described()
        )

    def _described(self) -> schema_pb2.Schema:
        """The schema, or one made from the columns of the files."""
        if self._schema is not None:
            return self._schema
        schema = schema_pb2.Schema()
        for field in self.ArrowSchema():
            kind = _feature_type_of(field.type)
            if kind is not None:
                schema.feature.add(name=field.name, type=kind)
        return schema

    def _ProjectImpl(self, tensor_names: list[str]) -> ParquetTFXIO:
        """Only these tensors, and the columns that they are made from; others are not read. Raises
        ValueError for an unknown tensor."""
        schema = schema_pb2.Schema()
        schema.CopyFrom(self._described())
        tensor_representation_util.SetTensorRepresentationsInSchema(
            schema, self.TensorRepresentations()
        )
        schema = tensor_representation_util.ProjectTensorRepresentationsInSchema(
            schema, tensor_names
        )
        projected = copy.copy(self)
        projected._column_names = [feature.name for feature in schema.feature]
        if self._schema is not None:
            projected._schema = schema
        return projected


def _field_of(feature: schema_pb2.Feature) -> pa.Field:
    if feature.type not in _COLUMN_TYPES:
        raise ValueError(f"Feature {feature.name} has unsupport type {feature.type}")
    return pa.field(feature.name, _COLUMN_TYPES[feature.type])


def _feature_type_of(kind: pa.DataType) -> int | None:
    if not array_util.is_list_like(kind):
        return None
    kind = kind.value_type
    if pa.types.is_integer(kind):
        return int(schema_pb2.INT)
    if pa.types.is_floating(kind):
        return int(schema_pb2.FLOAT)
    if kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        return int(schema_pb2.BYTES)
    return None


def _conformed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of the schema, with its types."""
    columns = []
    for field in schema:
        column = batch.column(field.name)
        if not array_util.is_list_like(column.type):
            column = array_util.ToSingletonListArray(column)
        try:
            columns.append(column.cast(field.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            kind = batch.schema.field(field.name).type
            raise ValueError(
                f"column {field.name}: the file has {kind}, which cannot be converted to the "
                f"schema's {field.type}: {error}"
            ) from error
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _rows_of(batch: pa.RecordBatch) -> list[bytes]:
    return [pickle.dumps(row) for row in batch.to_pylist()]


def _batch_of(rows: list[bytes], schema: pa.Schema) -> pa.RecordBatch:
    unpickled = [pickle.loads(row) for row in rows]
    columns = [pa.array([row[field.name] for row in unpickled], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
