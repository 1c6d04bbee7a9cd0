"""tfx_bsl.tfxio.tf_example_record: TFXIOs of tf.Examples."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from ..coders import example_coder
from . import (
    _record_files,
    dataset_options,
    tensor_adapter,
    tensor_representation_util,
    tfxio,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from tensorflow_metadata.proto.v0 import schema_pb2

_FEATURE_NAME_PREFIX = "_tfx_bsl_"


class _TFExampleRecordBase(_record_files.RecordTFXIO):
    """schema_for_decoding: the columns of the batches, if they differ from those of `schema`, which
    defines the tensors."""

    def __init__(
        self,
        schema: schema_pb2.Schema | None = None,
        raw_record_column_name: str | None = None,
        telemetry_descriptors: list[str] | None = None,
        physical_format: str | None = None,
        schema_for_decoding: schema_pb2.Schema | None = None,
    ) -> None:
        super().__init__(
            telemetry_descriptors=telemetry_descriptors,
            raw_record_column_name=raw_record_column_name,
            logical_format="tf_example",
            physical_format="unknown" if physical_format is None else physical_format,
        )
        if schema is None and schema_for_decoding is not None:
            raise AssertionError("schema_for_decoding goes with a schema.")
        self._schema = schema
        self._schema_for_decoding = schema_for_decoding

    def _GetSchemaForDecoding(self) -> schema_pb2.Schema | None:
        return self._schema if self._schema_for_decoding is None else self._schema_for_decoding

    def _DecodeFn(self) -> _record_files.DecodeFn:
        # In pipelines, an empty schema counts as no schema, as in tfx_bsl. For RecordBatches() it
        # is a schema without columns.
        return _record_files.DecodeFn(
            _decoder_maker(_serialized(self._GetSchemaForDecoding()) or None),
            self._raw_record_column_name,
            _decoder_maker(_serialized(self._schema)),
        )

    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        serialized = _serialized(self._GetSchemaForDecoding())
        if serialized is None:
            raise ValueError("TFMD schema not provided. Unable to derive an Arrow schema")
        return example_coder.ExamplesToRecordBatchDecoder(serialized).ArrowSchema()

    def TensorRepresentations(self) -> tensor_adapter.TensorRepresentations:
        return tensor_representation_util.InferTensorRepresentationsFromMixedSchema(self._schema)

    def _ProjectedSchema(self, tensor_names: list[str]) -> schema_pb2.Schema:
        return tensor_representation_util.ProjectTensorRepresentationsInSchema(
            self._schema, tensor_names
        )

    def _GetTfExampleParserConfig(self) -> tuple[dict[str, Any], dict[str, str]]:
        """The features for tf.io.parse_example, and the tensor that each of their names refers to:
        a feature from one column has its name, others have names of their own. Raises ValueError if
        tensors cannot be parsed together."""
        if self._schema is None:
            raise ValueError("Unable to create a parsing config because no schema is provided.")
        types = {feature.name: feature.type for feature in self._schema.feature}
        features: dict[str, Any] = {}
        tensor_names: dict[str, str] = {}
        representations = self.TensorRepresentations()
        for tensor_name, message in representations.items():
            column, config = _column_and_config(tensor_name, message, types)
            name = column
            if isinstance(config, tf.io.SparseFeature | tf.io.RaggedFeature):
                name = f"{_FEATURE_NAME_PREFIX}{tensor_name}_{column}"
            if name in features:
                raise ValueError(
                    f"Unable to create a valid parsing config. Feature name: {name} is a duplicate "
                    f"of tensor representation: {representations[tensor_names[name]]}"
                )
            features[name], tensor_names[name] = config, tensor_name
        _check_parses(features, self._schema)
        return features, tensor_names


class TFExampleBeamRecord(_record_files.GivenRecordsTFXIO, _TFExampleRecordBase):
    """Serialized tf.Examples from a pipeline.

    physical_format: the origin of the records, for the names of metrics.
    raw_record_column_name: adds a column with this name that contains the serialized examples.
    """

    def __init__(
        self,
        physical_format: str,
        telemetry_descriptors: list[str] | None = None,
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
        return TFExampleBeamRecord(
            self._physical_format,
            self.telemetry_descriptors,
            self._ProjectedSchema(tensor_names),
            self.raw_record_column_name,
        )


class TFExampleRecord(_record_files.RecordFilesTFXIO, _TFExampleRecordBase):
    """TFRecord files of tf.Examples.

    file_pattern: a glob or a list of them. validate: not used.
    raw_record_column_name: adds a column with this name that contains the serialized examples.
    """

    def __init__(
        self,
        file_pattern: list[str] | str,
        validate: bool = True,
        schema: schema_pb2.Schema | None = None,
        raw_record_column_name: str | None = None,
        telemetry_descriptors: list[str] | None = None,
    ) -> None:
        super().__init__(
            schema=schema,
            raw_record_column_name=raw_record_column_name,
            telemetry_descriptors=telemetry_descriptors,
            physical_format="tfrecords_gzip",
        )
        self._TakeFilePattern(file_pattern)

    def _ProjectImpl(self, tensor_names: list[str]) -> tfxio.TFXIO:
        return TFExampleRecord(
            self._file_pattern,
            schema=self._ProjectedSchema(tensor_names),
            raw_record_column_name=self.raw_record_column_name,
            telemetry_descriptors=self.telemetry_descriptors,
        )

    def TensorFlowDataset(
        self, options: dataset_options.TensorFlowDatasetOptions
    ) -> tf.data.Dataset:
        """Dicts of tensors, parsed with tf.io.parse_example. Raises ValueError if the schema's
        tensors cannot be parsed."""
        features, tensor_names = self._GetTfExampleParserConfig()
        dataset = self._RecordDataset(options, reader_num_threads=options.reader_num_threads)
        dataset = dataset.apply(tf.data.experimental.parse_example_dataset(features))
        dataset = dataset.map(
            lambda parsed: {tensor_names[name]: tensor for name, tensor in parsed.items()}
        )
        if options.label_key is not None:
            dataset = self._PopLabelFeatureFromDataset(dataset, options.label_key)
        return dataset.prefetch(tf.data.AUTOTUNE)


def _serialized(schema: schema_pb2.Schema | None) -> bytes | None:
    return None if schema is None else schema.SerializeToString()


def _decoder_maker(serialized: bytes | None) -> functools.partial[Any]:
    return functools.partial(example_coder.ExamplesToRecordBatchDecoder, serialized)


def _column_and_config(
    tensor_name: str, message: schema_pb2.TensorRepresentation, types: dict[str, int]
) -> tuple[str, Any]:
    """The column of a tensor or, if it has several, its own name; and its parsing spec."""
    columns = tensor_representation_util.GetSourceColumnsFromTensorRepresentation(message)
    value = tensor_representation_util.GetSourceValueColumnFromTensorRepresentation(message)
    kind = types[value.initial_step()]
    config = tensor_representation_util.CreateTfExampleParserConfig(message, kind)
    return columns[0].initial_step() if len(columns) == 1 else tensor_name, config


def _check_parses(features: dict[str, Any], schema: schema_pb2.Schema) -> None:
    """Raises ValueError if tf.io.parse_example refuses the features, which it reports when it is
    added to a graph."""
    signature = [tf.TensorSpec([None], tf.string)]
    parse = tf.function(lambda x: tf.io.parse_example(x, features), input_signature=signature)
    try:
        parse.get_concrete_function()
    except (ValueError, TypeError) as error:
        raise ValueError(
            "Unable to create a valid parsing config from the provided schema's tensor "
            f"representation: {schema}. Due to the following error: {error}"
        ) from error
