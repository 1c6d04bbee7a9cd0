"""tfx_bsl.tfxio.raw_tf_record: TFXIOs of records that are not decoded."""

from __future__ import annotations

import pyarrow as pa
import tensorflow as tf
from tensorflow_metadata.proto.v0 import schema_pb2

from . import _record_files, dataset_options, tensor_adapter, tfxio


class _RawRecordTFXIO(_record_files.RecordTFXIO):
    """One column of records, and one dense tensor with the same name."""

    def __init__(
        self, raw_record_column_name: str, telemetry_descriptors: list[str], physical_format: str
    ) -> None:
        if raw_record_column_name is None:
            raise AssertionError("raw_record_column_name is missing.")
        super().__init__(
            raw_record_column_name=raw_record_column_name,
            telemetry_descriptors=telemetry_descriptors,
            logical_format="bytes",
            physical_format=physical_format,
        )

    def _DecodeFn(self) -> _record_files.DecodeFn:
        return _record_files.DecodeFn(None, self._raw_record_column_name)

    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        return pa.schema([])

    def TensorRepresentations(self) -> tensor_adapter.TensorRepresentations:
        name = self._raw_record_column_name or ""
        dense = schema_pb2.TensorRepresentation.DenseTensor(
            column_name=name, shape=schema_pb2.FixedShape()
        )
        return {name: schema_pb2.TensorRepresentation(dense_tensor=dense)}

    def _ProjectImpl(self, tensor_names: list[str]) -> tfxio.TFXIO:
        if list(tensor_names) not in ([], [self._raw_record_column_name]):
            raise AssertionError(str(tensor_names))
        return self


class RawBeamRecordTFXIO(_record_files.GivenRecordsTFXIO, _RawRecordTFXIO):
    """Records from a pipeline.

    physical_format: the origin of the records, for the names of metrics.
    """

    def __init__(
        self, physical_format: str, raw_record_column_name: str, telemetry_descriptors: list[str]
    ) -> None:
        super().__init__(
            raw_record_column_name=raw_record_column_name,
            telemetry_descriptors=telemetry_descriptors,
            physical_format=physical_format,
        )


class RawTfRecordTFXIO(_record_files.RecordFilesTFXIO, _RawRecordTFXIO):
    """TFRecord files; file_pattern: a glob or a list of them."""

    def __init__(
        self,
        file_pattern: list[str] | str,
        raw_record_column_name: str,
        telemetry_descriptors: list[str],
    ) -> None:
        super().__init__(
            raw_record_column_name=raw_record_column_name,
            telemetry_descriptors=telemetry_descriptors,
            physical_format="tfrecords_gzip",
        )
        self._TakeFilePattern(file_pattern)

    def TensorFlowDataset(
        self, options: dataset_options.TensorFlowDatasetOptions
    ) -> tf.data.Dataset:
        """Dicts with a string tensor."""
        name = self._raw_record_column_name
        records = self._RecordDataset(options, sloppy_ordering=options.sloppy_ordering)
        return records.map(lambda batch: {name: batch}).prefetch(tf.data.AUTOTUNE)
