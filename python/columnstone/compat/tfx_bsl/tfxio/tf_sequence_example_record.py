"""tfx_bsl.tfxio.tf_sequence_example_record: TFXIOs of tf.SequenceExamples."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow_metadata.proto.v0 import schema_pb2

from ..arrow import path
from ..coders import sequence_example_coder
from . import (
    _record_files,
    dataset_options,
    tensor_adapter,
    tensor_representation_util,
    tfxio,
)

if TYPE_CHECKING:
    import pyarrow as pa

_SEQUENCE_COLUMN_NAME = "##SEQUENCE##"


class _TFSequenceExampleRecordBase(_record_files.RecordTFXIO):
    def __init__(
        self,
        schema: schema_pb2.Schema | None,
        raw_record_column_name: str | None,
        telemetry_descriptors: list[str] | None,
        physical_format: str,
    ) -> None:
        super().__init__(
            telemetry_descriptors=telemetry_descriptors,
            raw_record_column_name=raw_record_column_name,
            logical_format="tf_sequence_example",
            physical_format=physical_format,
        )
        self._schema = schema

    @property
    def schema(self) -> schema_pb2.Schema:
        """Raises ValueError if there is none."""
        if self._schema is None:
            raise ValueError("Schema is undefined.")
        return self._schema

    def _DecodeFn(self) -> _record_files.DecodeFn:
        serialized = b"" if self._schema is None else self._schema.SerializeToString()
        return _record_files.DecodeFn(
            functools.partial(_decoder, serialized), self._raw_record_column_name
        )

    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        return _decoder(self.schema.SerializeToString()).ArrowSchema()

    def TensorRepresentations(self) -> tensor_adapter.TensorRepresentations:
        return tensor_representation_util.InferTensorRepresentationsFromMixedSchema(self._schema)

    def _ProjectTfmdSchema(self, tensor_names: list[str]) -> schema_pb2.Schema:
        """A schema with these tensors and the features that they are made from."""
        messages = self.TensorRepresentations()
        if unknown := set(tensor_names) - messages.keys():
            raise ValueError(
                f"Unable to project {unknown} because they were not in the original "
                "TensorRepresentations."
            )
        chosen = {name: message for name, message in messages.items() if name in tensor_names}
        used = {
            column
            for message in chosen.values()
            for column in tensor_representation_util.GetSourceColumnsFromTensorRepresentation(
                message
            )
        }
        result = schema_pb2.Schema()
        for feature in self.schema.feature:
            if feature.name == _SEQUENCE_COLUMN_NAME:
                _add_sequence(result, feature, used)
            elif path.ColumnPath(feature.name) in used:
                result.feature.add().CopyFrom(feature)
        tensor_representation_util.SetTensorRepresentationsInSchema(result, chosen)
        return result


def _decoder(serialized: bytes) -> Any:
    return sequence_example_coder.SequenceExamplesToRecordBatchDecoder(
        _SEQUENCE_COLUMN_NAME, serialized
    )


def _add_sequence(
    result: schema_pb2.Schema, feature: schema_pb2.Feature, used: set[path.ColumnPath]
) -> None:
    """The struct of feature lists, with those that are used, if any."""
    if feature.type != schema_pb2.STRUCT:
        raise ValueError(
            f"Feature {feature.name} was expected to be of type STRUCT, but got {feature}"
        )
    lists = [
        f for f in feature.struct_domain.feature if path.ColumnPath([feature.name, f.name]) in used
    ]
    if lists:
        added = result.feature.add()
        added.CopyFrom(feature)
        added.ClearField("struct_domain")
        added.struct_domain.feature.extend(lists)


class TFSequenceExampleBeamRecord(_record_files.GivenRecordsTFXIO, _TFSequenceExampleRecordBase):
    """Serialized tf.SequenceExamples from a pipeline.

    physical_format: the origin of the records, for the names of metrics.
    raw_record_column_name: adds a column with this name that contains the serialized examples.
    """

    def __init__(
        self,
        physical_format: str,
        telemetry_descriptors: list[str] | None,
        schema: schema_pb2.Schema | None = None,
        raw_record_column_name: str | None = None,
    ) -> None:
        super().__init__(
            schema=schema,
            raw_record_column_name=raw_record_column_name,
            telemetry_descriptors=telemetry_descriptors,
            physical_format=physical_format,
        )

    def _ProjectImpl(self, tensor_names: list[str]) -> tfxio.TFXIO:
        return TFSequenceExampleBeamRecord(
            self._physical_format,
            self._telemetry_descriptors,
            self._ProjectTfmdSchema(tensor_names),
            self.raw_record_column_name,
        )


class TFSequenceExampleRecord(_record_files.RecordFilesTFXIO, _TFSequenceExampleRecordBase):
    """TFRecord files of tf.SequenceExamples.

    file_pattern: a glob or a list of them. validate: not used.
    raw_record_column_name: adds a column with this name that contains the serialized examples.
    """

    def __init__(
        self,
        file_pattern: list[str] | str,
        telemetry_descriptors: list[str] | None,
        validate: bool = True,
        schema: schema_pb2.Schema | None = None,
        raw_record_column_name: str | None = None,
    ) -> None:
        super().__init__(
            schema=schema,
            raw_record_column_name=raw_record_column_name,
            telemetry_descriptors=telemetry_descriptors,
            physical_format="tfrecords_gzip",
        )
        self._TakeFilePattern(file_pattern)

    def _ProjectImpl(self, tensor_names: list[str]) -> tfxio.TFXIO:
        return TFSequenceExampleRecord(
            self._file_pattern,
            self._telemetry_descriptors,
            schema=self._ProjectTfmdSchema(tensor_names),
            raw_record_column_name=self.raw_record_column_name,
        )

    def TensorFlowDataset(
        self, options: dataset_options.TensorFlowDatasetOptions
    ) -> tf.data.Dataset:
        """Dicts of the tensors of context and feature lists, parsed with
        tf.io.parse_sequence_example. Raises ValueError if the schema has no tensor representations
        for them."""
        dataset = self._RecordDataset(options, reader_num_threads=options.reader_num_threads)
        return self._ParseRawRecordTensorFlowDataset(dataset, options.label_key)

    def _ParseRawRecordTensorFlowDataset(
        self, raw_record_dataset: tf.data.Dataset, label_key: str | None = None
    ) -> tf.data.Dataset:
        context, sequence = tensor_representation_util.CreateTfSequenceExampleParserConfig(
            self._schema
        )

        def parsed(serialized: tf.Tensor) -> dict[str, Any]:
            of_context, of_lists, _ = tf.io.parse_sequence_example(serialized, context, sequence)
            return {**of_context, **of_lists}

        dataset = raw_record_dataset.map(parsed, num_parallel_calls=tf.data.AUTOTUNE)
        if label_key is not None:
            dataset = self._PopLabelFeatureFromDataset(dataset, label_key)
        return dataset.prefetch(tf.data.AUTOTUNE)
