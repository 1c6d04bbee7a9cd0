"""tfx_bsl.tfxio.record_to_tensor_tfxio: records that a saved TFGraphRecordDecoder decodes.

TensorFlow runs the decoder, columnstone.beam reads files, and columnstone.tensor.TensorEncoder
makes the batches.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import time
from typing import TYPE_CHECKING, Any

import apache_beam as beam
import pyarrow as pa
import tensorflow as tf
from apache_beam.utils import shared

from ..coders import batch_util, tf_graph_record_decoder
from ..telemetry import util as telemetry_util
from . import dataset_util, record_based_tfxio, tensor_to_arrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from . import dataset_options, tensor_adapter


class RecordToTensorTFXIO(record_based_tfxio.RecordBasedTFXIO):
    """The common part: the batches and tensors of a decoder's output_type_specs().

    saved_decoder_path: the folder that save_decoder wrote; Beam's workers must be able to read it.
    use_singleton_decoder: use one decoder for all threads of a worker process, not one for each.

    Raises ValueError if the tensor of record indices is neither ragged nor a sparse tensor of rows,
    and if a column has the name of the raw record column.
    """

    def __init__(
        self,
        saved_decoder_path: str,
        telemetry_descriptors: list[str] | None,
        physical_format: str,
        use_singleton_decoder: bool,
        raw_record_column_name: str | None,
    ) -> None:
        super().__init__(
            telemetry_descriptors,
            logical_format="tensor",
            physical_format=physical_format,
            raw_record_column_name=raw_record_column_name,
        )
        self._saved_decoder_path = saved_decoder_path
        self._use_singleton_decoder = use_singleton_decoder
        decoder = _loaded(saved_decoder_path)
        converter = tensor_to_arrow.TensorsToRecordBatchConverter(decoder.output_type_specs())
        self._arrow_schema = converter.arrow_schema()
        self._tensor_representations = converter.tensor_representations()
        self._record_index_column_name = None
        if decoder.record_index_tensor_name is not None:
            representation = self._tensor_representations[decoder.record_index_tensor_name]
            self._record_index_column_name = _index_column_of(representation)
        if raw_record_column_name in self._arrow_schema.names:
            raise ValueError(
                f"raw record column name: {raw_record_column_name} collided with an existing "
                "column."
            )

    def SupportAttachingRawRecords(self) -> bool:
        return True

    def TensorRepresentations(self) -> tensor_adapter.TensorRepresentations:
        return self._tensor_representations

    def DecodeFunction(self) -> Callable[[tf.Tensor], dict[str, Any]]:
        """The decoder's function from a vector of records to tensors by name."""
        return _loaded(self._saved_decoder_path).decode_record

    def _RawRecordToRecordBatchInternal(self, batch_size: int | None = None) -> beam.PTransform:
        decode = _RecordsToRecordBatch(
            self._saved_decoder_path,
            self.telemetry_descriptors,
            shared.Shared() if self._use_singleton_decoder else None,
            self.raw_record_column_name,
            self._record_index_column_name,
        )

        @beam.typehints.with_input_types(bytes)
        @beam.typehints.with_output_types(pa.RecordBatch)
        def RecordsToRecordBatches(records: beam.PCollection) -> beam.PCollection:
            batch = batch_util.BatchRecords(batch_size, self._telemetry_descriptors)
            return records | "BatchElements" >> batch | "Decode" >> beam.ParDo(decode)

        return beam.ptransform_fn(RecordsToRecordBatches)()

    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        return self._arrow_schema

    def _ProjectImpl(self, tensor_names: list[str]) -> RecordToTensorTFXIO:
        """Only these tensors. The decoder still computes all of them, and batches keep all
        columns."""
        projected = copy.copy(self)
        projected._tensor_representations = {
            name: representation
            for name, representation in self._tensor_representations.items()
            if name in tensor_names
        }
        return projected

    def _ApplyDecoderToDataset(self, dataset: tf.data.Dataset) -> tf.data.Dataset:
        """Vectors of records as dictionaries of the wanted tensors."""
        decoder = _loaded(self._saved_decoder_path)
        wanted = frozenset(self.TensorRepresentations())

        def decoded(records: tf.Tensor) -> dict[str, Any]:
            tensors = decoder.decode_record(records)
            return {name: tensor for name, tensor in tensors.items() if name in wanted}

        return dataset.map(decoded)


class BeamRecordToTensorTFXIO(RecordToTensorTFXIO):
    """Records from a PCollection of bytes, originally from files of physical_format. Without files
    there is no TensorFlowDataset, as in tfx_bsl."""

    def __init__(
        self,
        saved_decoder_path: str,
        telemetry_descriptors: list[str] | None,
        physical_format: str,
        raw_record_column_name: str | None,
        experimental_use_singleton_decoder: bool = False,
    ) -> None:
        super().__init__(
            saved_decoder_path,
            telemetry_descriptors,
            physical_format,
            experimental_use_singleton_decoder,
            raw_record_column_name,
        )

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform:
        same = beam.ptransform_fn(lambda records: records)()
        return same.with_input_types(bytes).with_output_types(bytes)

    def TensorFlowDataset(
        self, options: dataset_options.TensorFlowDatasetOptions
    ) -> tf.data.Dataset:
        raise NotImplementedError("there are no files: the records come through a PCollection")


class TFRecordToTensorTFXIO(RecordToTensorTFXIO):
    """Records from TFRecord files. A TensorAdapter restores the results of the decoder from the
    batches."""

    def __init__(
        self,
        file_pattern: list[str] | str,
        saved_decoder_path: str,
        telemetry_descriptors: list[str] | None,
        raw_record_column_name: str | None = None,
    ) -> None:
        super().__init__(
            saved_decoder_path,
            telemetry_descriptors,
            physical_format="tfrecords_gzip",
            use_singleton_decoder=False,
            raw_record_column_name=raw_record_column_name,
        )
        self._file_pattern = file_pattern if isinstance(file_pattern, list) else [file_pattern]
        if not self._file_pattern:
            raise AssertionError("Must provide at least one file pattern.")

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform:
        return record_based_tfxio.ReadTfRecord(self._file_pattern)

    def TensorFlowDataset(
        self, options: dataset_options.TensorFlowDatasetOptions
    ) -> tf.data.Dataset:
        """Dictionaries of tensors, each decoded from `batch_size` records; if rows are not records,
        the number of rows differs. With a label_key, pairs of the dictionary without that tensor,
        and the tensor; ValueError if there is none with this name."""
        records = dataset_util.make_tf_record_dataset(
            file_pattern=self._file_pattern,
            batch_size=options.batch_size,
            drop_final_batch=options.drop_final_batch,
            num_epochs=options.num_epochs,
            shuffle=options.shuffle,
            shuffle_buffer_size=options.shuffle_buffer_size,
            shuffle_seed=options.shuffle_seed,
            reader_num_threads=options.reader_num_threads,
            sloppy_ordering=options.sloppy_ordering,
        )
        dataset = self._ApplyDecoderToDataset(records)
        if options.label_key is not None:
            dataset = self._PopLabelFeatureFromDataset(dataset, options.label_key)
        return dataset.prefetch(tf.data.AUTOTUNE)


def _index_column_of(representation: Any) -> str:
    if representation.HasField("varlen_sparse_tensor"):
        return str(representation.varlen_sparse_tensor.column_name)
    if representation.HasField("ragged_tensor"):
        [column] = representation.ragged_tensor.feature_path.step
        return str(column)
    raise ValueError(
        "The record index tensor must be a RaggedTensor or a VarLenSparseTensor, but got: "
        f"{representation}"
    )


def _loaded(path: str) -> tf_graph_record_decoder.LoadedDecoder:
    """The decoder, which may contain operations of struct2tensor."""
    with contextlib.suppress(ImportError, tf.errors.NotFoundError):
        importlib.import_module("struct2tensor")
    return tf_graph_record_decoder.load_decoder(path)


class _Decoder:
    """A decoder that has already run once, without records, so that its graph is optimized."""

    def __init__(self, path: str) -> None:
        decoder = _loaded(path)
        self.output_type_specs = decoder.output_type_specs()
        self.decode = decoder.decode_record
        with contextlib.suppress(Exception):  # some cannot decode no records
            self.decode(tf.constant([], tf.string))


@beam.typehints.with_input_types(list[bytes])
@beam.typehints.with_output_types(pa.RecordBatch)
class _RecordsToRecordBatch(beam.DoFn):
    """Converts lists of records to batches, and reports the time for loading the decoder, in whole
    seconds, as a Beam metric."""

    def __init__(
        self,
        saved_decoder_path: str,
        telemetry_descriptors: list[str] | None,
        shared_decoder: shared.Shared | None,
        raw_record_column_name: str | None,
        record_index_column_name: str | None,
    ) -> None:
        super().__init__()
        self._saved_decoder_path = saved_decoder_path
        self._shared_decoder = shared_decoder
        self._raw_record_column_name = raw_record_column_name
        self._record_index_column_name = record_index_column_name
        self._load_seconds_distribution = beam.metrics.Metrics.distribution(
            telemetry_util.MakeTfxNamespace(telemetry_descriptors or ["Unknown"]),
            "record_to_tensor_tfxio_decoder_load_seconds",
        )
        self._load_seconds: int | None = None

    def setup(self) -> None:
        start = time.monotonic()
        if self._shared_decoder is None:
            decoder = _Decoder(self._saved_decoder_path)
        else:
            path = self._saved_decoder_path
            decoder = self._shared_decoder.acquire(lambda: _Decoder(path))
        self._decoder = decoder
        self._converter = tensor_to_arrow.TensorsToRecordBatchConverter(decoder.output_type_specs)
        self._load_seconds = int(time.monotonic() - start)

    def finish_bundle(self) -> None:
        if self._load_seconds is not None:
            self._load_seconds_distribution.update(self._load_seconds)
            self._load_seconds = None

    def process(self, records: list[bytes]) -> Iterator[pa.RecordBatch]:
        tensors = self._decoder.decode(tf.constant(records, tf.string, [len(records)]))
        batch = self._converter.convert(tensors)
        if self._raw_record_column_name is not None:
            batch = record_based_tfxio.AppendRawRecordColumn(
                batch, self._raw_record_column_name, records, self._record_index_column_name
            )
        yield batch
