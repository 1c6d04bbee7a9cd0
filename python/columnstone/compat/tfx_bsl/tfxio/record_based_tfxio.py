"""tfx_bsl.tfxio.record_based_tfxio: the common part of all TFXIOs of files with records."""

from __future__ import annotations

import abc
import importlib
from typing import TYPE_CHECKING, Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.io.filesystems import FileSystems

from ...._beam.read import Read
from . import telemetry, tfxio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import tensorflow as tf

    from . import dataset_options, tensor_adapter

_RAW_COLUMN_TYPE = pa.large_list(pa.large_binary())


class RecordBasedTFXIO(tfxio.TFXIO):
    """Records and their bytes. BeamSource() is RawRecordBeamSource() followed by
    RawRecordToRecordBatch(); a pipeline can use both separately to get the records and the batches
    from one pass.

    raw_record_column_name: of a last column with each row's record, large_list<large_binary>. Only
        for classes whose SupportAttachingRawRecords() is true (otherwise AssertionError); their
        _RawRecordToRecordBatchInternal() adds it.
    telemetry_descriptors, logical_format, physical_format: names for the metrics, see telemetry.
    """

    def __init__(
        self,
        telemetry_descriptors: list[str] | None,
        logical_format: str,
        physical_format: str,
        raw_record_column_name: str | None = None,
    ) -> None:
        super().__init__()
        if raw_record_column_name is not None and not self.SupportAttachingRawRecords():
            raise AssertionError(f"{type(self)} did not support attaching raw records.")
        self._telemetry_descriptors = telemetry_descriptors
        self._logical_format = logical_format
        self._physical_format = physical_format
        self._raw_record_column_name = raw_record_column_name

    @property
    def raw_record_column_name(self) -> str | None:
        return self._raw_record_column_name

    @property
    def telemetry_descriptors(self) -> list[str] | None:
        return self._telemetry_descriptors

    def SupportAttachingRawRecords(self) -> bool:
        """Whether a raw_record_column_name is allowed."""
        return False

    def RawRecordBeamSource(self) -> beam.PTransform:
        """A PTransform that returns the records, a PCollection of bytes, and counts them."""
        count = telemetry.ProfileRawRecords(
            self._telemetry_descriptors, self._logical_format, self._physical_format
        )

        @beam.typehints.with_input_types(Any)
        @beam.typehints.with_output_types(bytes)
        def RawRecordBeamSource(begin: Any) -> beam.PCollection:
            records = begin | "ReadRawRecords" >> self._RawRecordBeamSourceInternal()
            return records | "CollectRawRecordTelemetry" >> count

        return beam.ptransform_fn(RawRecordBeamSource)()

    def RawRecordToRecordBatch(self, batch_size: int | None = None) -> beam.PTransform:
        """A PTransform that converts records, such as those of RawRecordBeamSource(), to batches of
        this many rows, or of a number that Beam tunes, and counts them."""
        count = telemetry.ProfileRecordBatches(
            self._telemetry_descriptors, self._logical_format, self._physical_format
        )

        @beam.typehints.with_input_types(bytes)
        @beam.typehints.with_output_types(pa.RecordBatch)
        def RawRecordToRecordBatch(records: beam.PCollection) -> beam.PCollection:
            decode = self._RawRecordToRecordBatchInternal(batch_size)
            batches = records | "RawRecordToRecordBatch" >> decode
            return batches | "CollectRecordBatchTelemetry" >> count

        return beam.ptransform_fn(RawRecordToRecordBatch)()

    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform:
        @beam.typehints.with_input_types(Any)
        @beam.typehints.with_output_types(pa.RecordBatch)
        def BeamSource(begin: Any) -> beam.PCollection:
            records = begin | "RawRecordBeamSource" >> self.RawRecordBeamSource()
            return records | "RawRecordToRecordBatch" >> self.RawRecordToRecordBatch(batch_size)

        return beam.ptransform_fn(BeamSource)()

    @abc.abstractmethod
    def _RawRecordBeamSourceInternal(self) -> beam.PTransform:
        """The transform in RawRecordBeamSource() whose records are counted."""

    @abc.abstractmethod
    def _RawRecordToRecordBatchInternal(self, batch_size: int | None = None) -> beam.PTransform:
        """The transform in RawRecordToRecordBatch() whose batches are counted."""

    @abc.abstractmethod
    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        """The schema of the batches without the raw record column, even if they have it."""

    def ArrowSchema(self) -> pa.Schema:
        """Raises ValueError if the raw record column has the name of another column."""
        schema = self._ArrowSchemaNoRawRecordColumn()
        name = self._raw_record_column_name
        if name is None:
            return schema
        if name in schema.names:
            raise ValueError(f"Raw record column name {name} collided with a column in the schema.")
        return schema.append(pa.field(name, _RAW_COLUMN_TYPE))

    def RecordBatches(
        self, options: dataset_options.RecordBatchesOptions
    ) -> Iterator[pa.RecordBatch]:
        """NotImplementedError, as in tfx_bsl, for classes that do not override it."""
        raise NotImplementedError

    def RawRecordTensorFlowDataset(
        self, options: dataset_options.TensorFlowDatasetOptions
    ) -> tf.data.Dataset:
        """A dataset of datasets of records, one for each group of files with the same format.
        NotImplementedError, as in tfx_bsl, for classes that do not override it."""
        raise NotImplementedError

    def _PopLabelFeatureFromDataset(
        self, dataset: tf.data.Dataset, label_key: str
    ) -> tf.data.Dataset:
        """Converts a dataset of dicts of tensors to one of pairs: the dict without the label, and
        the label."""
        names = self.TensorRepresentations().keys()
        if label_key not in names:
            raise ValueError(
                f"The `label_key` provided ({label_key}) must be one of the following tensors"
                f"names: {names}."
            )
        return dataset.map(lambda tensors: (tensors, tensors.pop(label_key)))


def CreateRawRecordColumn(
    raw_records: np.ndarray[Any, Any] | Sequence[bytes] | pa.Array,
) -> pa.Array:
    """The records as a raw record column: lists of one record each."""
    values = _binary(raw_records)
    return pa.LargeListArray.from_arrays(pa.array(np.arange(len(values) + 1)), values)


def _binary(records: Any) -> pa.Array:
    if isinstance(records, pa.Array):
        return records.cast(pa.large_binary())
    return pa.array(records, pa.large_binary())


def AppendRawRecordColumn(
    record_batch: pa.RecordBatch,
    column_name: str,
    raw_records: Sequence[bytes] | pa.Array,
    record_index_column_name: str | None = None,
) -> pa.RecordBatch:
    """The batch with an added last column of this name: the records that its rows come from.

    record_index_column_name: a column of lists of one integer each, the position in raw_records of
        the row's record. None: row i comes from record i.

    Raises AssertionError if rows and records do not match.
    """
    name = record_index_column_name
    if name is not None:
        indices = _record_indices(record_batch, name)
        records = _binary(raw_records).take(indices)
    else:
        records = raw_records
        _require(
            record_batch.num_rows == len(records),
            f"num_rows: {record_batch.num_rows} vs len raw_records: {len(records)}",
        )
    names = record_batch.schema.names
    _require(column_name not in names, f"There is a column {column_name} already.")
    columns = [*record_batch.columns, CreateRawRecordColumn(records)]
    return pa.RecordBatch.from_arrays(columns, [*names, column_name])


def _record_indices(record_batch: pa.RecordBatch, name: str) -> pa.Array:
    place = record_batch.schema.get_field_index(name)
    _require(place >= 0, f"Record index column {name} did not exist.")
    column = record_batch.column(place)
    _require(
        column.null_count == 0,
        f"Record index column must not contain nulls: {column.null_count} nulls",
    )
    kind = column.type
    _require(
        (pa.types.is_list(kind) or pa.types.is_large_list(kind))
        and pa.types.is_integer(kind.value_type),
        f"Record index column {name} must be of type list_like<integer>, but got: {kind}",
    )
    indices = column.flatten()
    _require(
        len(indices) == record_batch.num_rows,
        "Record indices must be aligned with the record batch, but got different lengths: "
        f"{len(indices)} vs {record_batch.num_rows}",
    )
    return indices


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise AssertionError(text)


@beam.ptransform_fn
@beam.typehints.with_input_types(beam.Pipeline)
@beam.typehints.with_output_types(bytes)
def ReadTfRecord(pipeline: beam.Pipeline, file_pattern: Sequence[str]) -> beam.PCollection:
    """The records of all files that match the patterns. Raises OSError, when the pipeline is
    created, for a pattern without files."""
    _require(bool(file_pattern), "Must provide at least one file pattern.")
    check_patterns(file_pattern)
    if not within_reach(file_pattern):
        parts = [
            pipeline | f"ReadFromTFRecord[{i}]" >> beam.io.ReadFromTFRecord(pattern)
            for i, pattern in enumerate(file_pattern)
        ]
        return parts | "Flatten" >> beam.Flatten()
    batches = pipeline | "ReadFromTFRecord" >> Read(list(file_pattern), format="raw")
    return batches | "Records" >> beam.FlatMap(_records_of).with_output_types(bytes)


def check_patterns(file_pattern: Sequence[str]) -> None:
    """Raises OSError for a pattern without files."""
    for pattern in file_pattern:
        [found] = FileSystems.match([pattern], limits=[1])
        if not found.metadata_list:
            raise OSError(f"No files found based on the file pattern {pattern}")


def within_reach(file_pattern: Sequence[str]) -> bool:
    """Whether our reader, which opens URLs with fsspec, can open all of them: Beam reads those on
    file systems that only Beam has."""
    schemes = {FileSystems.get_scheme(pattern) for pattern in file_pattern} - {None}
    try:
        for scheme in schemes:
            importlib.import_module("fsspec").get_filesystem_class(scheme)
    except (ImportError, ValueError):
        return False
    return True


def _records_of(batch: pa.RecordBatch) -> list[bytes]:
    records: list[bytes] = batch.column(0).to_pylist()
    return records


class OverridableRecordBasedTFXIO(RecordBasedTFXIO):
    """A TFXIO made of a user's transforms only: other methods raise NotImplementedError, as in
    tfx_bsl.

    raw_record_beam_source: called without arguments, returns the transform that reads records.
    raw_record_to_record_batch: called with a batch size or None, returns the transform that makes
        batches.
    """

    def __init__(
        self,
        telemetry_descriptors: list[str] | None,
        logical_format: str,
        physical_format: str,
        raw_record_beam_source: Callable[[], beam.PTransform],
        raw_record_to_record_batch: Callable[[int | None], beam.PTransform],
    ) -> None:
        super().__init__(telemetry_descriptors, logical_format, physical_format)
        self._raw_record_beam_source = raw_record_beam_source
        self._raw_record_to_record_batch = raw_record_to_record_batch

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform:
        return self._raw_record_beam_source()

    def _RawRecordToRecordBatchInternal(self, batch_size: int | None = None) -> beam.PTransform:
        return self._raw_record_to_record_batch(batch_size)

    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        raise NotImplementedError

    def _ProjectImpl(self, tensor_names: list[str]) -> tfxio.TFXIO:
        raise NotImplementedError

    def TensorFlowDataset(
        self, options: dataset_options.TensorFlowDatasetOptions
    ) -> tf.data.Dataset:
        raise NotImplementedError

    def TensorRepresentations(self) -> tensor_adapter.TensorRepresentations:
        raise NotImplementedError
