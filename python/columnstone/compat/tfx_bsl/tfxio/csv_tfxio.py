"""tfx_bsl.tfxio.csv_tfxio: lines of CSV, from files or from a pipeline."""

from __future__ import annotations

import abc
import copy
from typing import TYPE_CHECKING

import apache_beam as beam
import pyarrow as pa
import tensorflow as tf
from tensorflow_metadata.proto.v0 import schema_pb2

from ....tfxio import CsvTFXIO as _CsvTFXIO
from ..coders import csv_decoder
from ..coders._csv_lines import with_empty_null
from . import _batch_dataset, dataset_options, record_based_tfxio, tensor_representation_util

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from . import tensor_adapter


class _CsvTFXIOBase(record_based_tfxio.RecordBasedTFXIO):
    """Records that are lines of cells, without a header.

    column_names: of the cells, in order.
    skip_blank_lines: skip blank lines, instead of making rows of nulls.
    multivalent_columns, secondary_delimiter: columns whose cells contain several values, and the
        delimiter between these.
    schema: of the wanted columns, which are large_list<int64>, <float> and <large_binary>; None:
        all columns; a first pass determines their types. ValueError for a feature that is not a
        column.
    raw_record_column_name: adds a last column with this name that contains the lines.
    """

    def __init__(
        self,
        physical_format: str,
        column_names: list[str],
        delimiter: str | None = ",",
        skip_blank_lines: bool = True,
        multivalent_columns: list[str] | str | None = None,
        secondary_delimiter: str | None = None,
        schema: schema_pb2.Schema | None = None,
        raw_record_column_name: str | None = None,
        telemetry_descriptors: list[str] | None = None,
    ) -> None:
        super().__init__(
            telemetry_descriptors=telemetry_descriptors,
            raw_record_column_name=raw_record_column_name,
            logical_format="csv",
            physical_format=physical_format,
        )
        features = [] if schema is None else [feature.name for feature in schema.feature]
        if not set(features) <= set(column_names):
            raise ValueError(
                f"Schema features are not a subset of column names: {column_names} vs {features}"
            )
        self._schema = schema
        self._column_names = column_names
        self._delimiter = delimiter or ","
        self._skip_blank_lines = skip_blank_lines
        self._multivalent_columns = multivalent_columns
        self._secondary_delimiter = secondary_delimiter
        self._schema_projected = False

    def SupportAttachingRawRecords(self) -> bool:
        return True

    @abc.abstractmethod
    def _CSVSource(self) -> beam.PTransform:
        """A PTransform that returns the lines, a PCollection of bytes."""

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform:
        return self._CSVSource()

    def _RawRecordToRecordBatchInternal(self, batch_size: int | None = None) -> beam.PTransform:
        decode = csv_decoder.CSVToRecordBatch(
            column_names=self._column_names,
            delimiter=self._delimiter,
            skip_blank_lines=self._skip_blank_lines,
            schema=self._schema,
            desired_batch_size=batch_size,
            multivalent_columns=self._multivalent_columns,
            secondary_delimiter=self._secondary_delimiter,
            raw_record_column_name=self._raw_record_column_name,
        )

        @beam.typehints.with_input_types(bytes)
        @beam.typehints.with_output_types(pa.RecordBatch)
        def LinesToRecordBatches(records: beam.PCollection) -> beam.PCollection:
            lines = records | "BytesToStr" >> beam.Map(_text_of)
            return lines | "CSVToRecordBatch" >> decode

        return beam.ptransform_fn(LinesToRecordBatches)()

    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        return csv_decoder.GetArrowSchema(self._column_names, self._need_schema())

    def _need_schema(self) -> schema_pb2.Schema:
        if not self._schema:
            raise ValueError("TFMD schema not provided. Unable to derive an Arrow schema")
        return self._schema

    def TensorRepresentations(self) -> tensor_adapter.TensorRepresentations:
        """The representations of the schema, and inferred ones for its other features; ValueError
        without a schema."""
        schema = self._need_schema()
        if not self._schema_projected:
            return tensor_representation_util.InferTensorRepresentationsFromMixedSchema(schema)
        return tensor_representation_util.GetTensorRepresentationsFromSchema(schema) or {}

    def _ProjectImpl(self, tensor_names: list[str]) -> Self:
        """Only these tensors. The batches still have all columns, which all must be read.
        ValueError for an unknown tensor."""
        representations = self.TensorRepresentations()
        unknown = sorted(set(tensor_names) - representations.keys())
        if unknown:
            raise ValueError(f"There are no tensors {unknown} among {sorted(representations)}")
        schema = schema_pb2.Schema()
        schema.CopyFrom(self._need_schema())
        tensor_representation_util.SetTensorRepresentationsInSchema(
            schema, {name: representations[name] for name in set(tensor_names)}
        )
        projected = copy.copy(self)
        projected._schema = schema
        projected._schema_projected = True
        return projected


def _text_of(line: bytes) -> str:
    return line.decode()


class BeamRecordCsvTFXIO(_CsvTFXIOBase):
    """Lines from a pipeline: BeamSource() is a transform of a PCollection of bytes.

    physical_format: the origin of the lines, for the names of metrics.
    """

    def _CSVSource(self) -> beam.PTransform:
        @beam.typehints.with_input_types(bytes)
        @beam.typehints.with_output_types(bytes)
        def CSVSource(lines: beam.PCollection) -> beam.PCollection:
            return lines

        return beam.ptransform_fn(CSVSource)()

    def RecordBatches(
        self, options: dataset_options.RecordBatchesOptions
    ) -> Iterator[pa.RecordBatch]:
        """NotImplementedError, as in tfx_bsl: without a pipeline there are no lines."""
        raise NotImplementedError

    def TensorFlowDataset(
        self, options: dataset_options.TensorFlowDatasetOptions
    ) -> tf.data.Dataset:
        """NotImplementedError, as in tfx_bsl: without a pipeline there are no lines."""
        raise NotImplementedError


class CsvTFXIO(_batch_dataset.BatchDatasetTFXIO, _CsvTFXIOBase):
    """CSV files whose lines are rows.

    file_pattern: a path or a glob.
    validate: raises OSError for a pattern without files when the pipeline is created, not when it
        runs.
    skip_header_lines: the number of lines at the beginning of each file that are not rows.
    """

    def __init__(
        self,
        file_pattern: str,
        column_names: list[str],
        telemetry_descriptors: list[str] | None = None,
        validate: bool = True,
        delimiter: str | None = ",",
        skip_blank_lines: bool | None = True,
        multivalent_columns: list[str] | str | None = None,
        secondary_delimiter: str | None = None,
        schema: schema_pb2.Schema | None = None,
        raw_record_column_name: str | None = None,
        skip_header_lines: int = 0,
    ) -> None:
        super().__init__(
            physical_format="text",
            column_names=column_names,
            delimiter=delimiter,
            skip_blank_lines=bool(skip_blank_lines),
            multivalent_columns=multivalent_columns,
            secondary_delimiter=secondary_delimiter,
            schema=schema,
            raw_record_column_name=raw_record_column_name,
            telemetry_descriptors=telemetry_descriptors,
        )
        self._file_pattern = file_pattern
        self._validate = validate
        self._skip_header_lines = skip_header_lines

    def _CSVSource(self) -> beam.PTransform:
        return beam.io.ReadFromText(
            self._file_pattern,
            coder=beam.coders.BytesCoder(),
            validate=self._validate,
            skip_header_lines=self._skip_header_lines,
        )

    def RecordBatches(
        self, options: dataset_options.RecordBatchesOptions
    ) -> Iterator[pa.RecordBatch]:
        """The batches without Beam; tfx_bsl has none. Without end, there is no smaller batch. Lines
        are as docs/formats.md describes them for CSV: quoted text may contain line ends. ValueError
        without a schema.
        """
        schema = self.ArrowSchema()
        several = self._multivalent_columns or ()
        source = _CsvTFXIO(
            self._file_pattern,
            self._column_names,
            delimiter=self._delimiter,
            skip_blank_lines=self._skip_blank_lines,
            multivalent_columns=[name for name in self._column_names if name in several],
            secondary_delimiter=self._secondary_delimiter,
            schema=self._need_schema(),
            skip_header_lines=self._skip_header_lines,
            raw_record_column_name=self._raw_record_column_name,
        )
        drop = options.drop_final_batch or options.num_epochs is None
        for batch in source.RecordBatches(options._replace(drop_final_batch=drop)):  # type: ignore[arg-type]
            cells = batch.columns[: len(schema) - (self._raw_record_column_name is not None)]
            columns = [
                column if name in several else with_empty_null(column)
                for name, column in zip(schema.names, cells, strict=False)
            ]
            yield pa.RecordBatch.from_arrays(
                [*columns, *batch.columns[len(cells) :]], schema=schema
            )
