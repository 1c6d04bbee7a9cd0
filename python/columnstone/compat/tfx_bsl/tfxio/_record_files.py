"""The common part of the TFXIOs of records: TFRecord files that our reader reads, and records from
a pipeline."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import apache_beam as beam
import pyarrow as pa

from ...._api.open import open as open_source
from ...._arrow.pointers import to_pyarrow
from ...._beam.metrics import RecordMetrics
from ...._beam.read import Read
from ..coders import batch_util
from . import dataset_util, record_based_tfxio, telemetry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import tensorflow as tf

    from ...._beam.metrics import Telemetry
    from . import dataset_options

# The methods that a user's class may have overridden.
_STEPS = (
    "RawRecordBeamSource",
    "RawRecordToRecordBatch",
    "_RawRecordBeamSourceInternal",
    "_RawRecordToRecordBatchInternal",
)


class RecordTFXIO(record_based_tfxio.RecordBasedTFXIO):
    """Records that are one row each."""

    def SupportAttachingRawRecords(self) -> bool:
        return True

    def _DecodeFn(self) -> DecodeFn:
        """The transform that makes batches of records in a pipeline."""
        raise NotImplementedError(f"{type(self).__name__} has to define it")

    def _RawRecordToRecordBatchInternal(self, batch_size: int | None = None) -> beam.PTransform:
        batch = batch_util.BatchRecords(batch_size, self._telemetry_descriptors)
        decode = beam.ParDo(self._DecodeFn())

        @beam.typehints.with_input_types(bytes)
        @beam.typehints.with_output_types(pa.RecordBatch)
        def DecodeRecords(records: beam.PCollection) -> beam.PCollection:
            return records | "Batch" >> batch | "Decode" >> decode

        return beam.ptransform_fn(DecodeRecords)()


class GivenRecordsTFXIO(RecordTFXIO):
    """Records from a pipeline: the transforms take a PCollection of bytes."""

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform:
        same = beam.ptransform_fn(lambda records: records)()
        return same.with_input_types(bytes).with_output_types(bytes)

    def RecordBatches(
        self, options: dataset_options.RecordBatchesOptions
    ) -> Iterator[pa.RecordBatch]:
        """NotImplementedError: nothing is read here."""
        raise NotImplementedError(f"{type(self).__name__} does no I/O")

    def TensorFlowDataset(self, options: dataset_options.TensorFlowDatasetOptions) -> Any:
        """NotImplementedError: nothing is read here."""
        raise NotImplementedError(
            f"{type(self).__name__} is unable to provide a TensorFlowDataset because it does no I/O"
        )


class RecordFilesTFXIO(RecordTFXIO):
    """TFRecord files, compressed or not."""

    _file_pattern: list[str]

    def _TakeFilePattern(self, file_pattern: list[str] | str) -> None:
        patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
        if not patterns:
            raise AssertionError("Must provide at least one file pattern.")
        self._file_pattern = patterns

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform:
        return record_based_tfxio.ReadTfRecord(self._file_pattern)

    def _RecordDataset(
        self, options: dataset_options.TensorFlowDatasetOptions, **more: Any
    ) -> tf.data.Dataset:
        """Batches of records, according to the options; more: arguments of
        make_tf_record_dataset."""
        return dataset_util.make_tf_record_dataset(
            self._file_pattern,
            batch_size=options.batch_size,
            drop_final_batch=options.drop_final_batch,
            num_epochs=options.num_epochs,
            shuffle=options.shuffle,
            shuffle_buffer_size=options.shuffle_buffer_size,
            shuffle_seed=options.shuffle_seed,
            **more,
        )

    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform:
        """The same batches and metrics as RawRecordBeamSource() and RawRecordToRecordBatch(),
        without an element for each record, unless a derived class overrides these, or only Beam can
        access the files."""
        ours = __name__.rpartition(".")[0]
        steps = (getattr(getattr(type(self), name), "__module__", "") for name in _STEPS)
        is_changed = not all(module.startswith(ours) for module in steps)
        if is_changed or not record_based_tfxio.within_reach(self._file_pattern):
            return super().BeamSource(batch_size)
        return _ReadFiles(self, batch_size)

    def RecordBatches(
        self, options: dataset_options.RecordBatchesOptions
    ) -> Iterator[pa.RecordBatch]:
        """Batches continue across files and epochs. num_epochs=None repeats without end, without
        incomplete batches. All rows are shuffled if records have random access; otherwise those
        within a window of shuffle_buffer_size."""
        to_batch = self._DecodeFn().for_files()
        return (to_batch(records) for records in _record_arrays(self._file_pattern, options))


@beam.typehints.with_input_types(list[bytes])
@beam.typehints.with_output_types(pa.RecordBatch)
class DecodeFn(beam.DoFn):
    """Makes a batch from a list of records, or from a pyarrow array of them.

    make_decoder: returns the decoder, on the worker; None: there is only the raw record column.
    raw_record_column_name: of the column of the records; None: there is none.
    of_files: make_decoder for RecordBatches(), if it differs.
    """

    def __init__(
        self,
        make_decoder: Callable[[], Any] | None,
        raw_record_column_name: str | None,
        of_files: Callable[[], Any] | None = None,
    ) -> None:
        self._make_decoder = make_decoder
        self._of_files = of_files or make_decoder
        self._name = raw_record_column_name
        self._decoder: Any = None

    def setup(self) -> None:
        if self._make_decoder is not None:
            self._decoder = self._make_decoder()

    def process(self, records: list[bytes]) -> Iterator[pa.RecordBatch]:
        yield self.batch(records)

    def for_files(self) -> Callable[[pa.Array], pa.RecordBatch]:
        """Makes batches without Beam."""
        if self._of_files is not None:
            self._decoder = self._of_files()
        return self.batch

    def batch(self, records: Sequence[bytes] | pa.Array) -> pa.RecordBatch:
        if self._decoder is None:
            assert self._name is not None
            column = record_based_tfxio.CreateRawRecordColumn(records)
            return pa.RecordBatch.from_arrays([column], [self._name])
        decoded = self._decoder.DecodeBatch(records)
        if self._name is None:
            return decoded
        return record_based_tfxio.AppendRawRecordColumn(decoded, self._name, records)


class _ReadFiles(beam.PTransform):
    """Reads files as batches: our reader returns arrays of records, which are decoded directly."""

    def __init__(self, tfxio: RecordFilesTFXIO, batch_size: int | None) -> None:
        super().__init__("BeamSource")
        self._tfxio = tfxio
        self._batch_size = batch_size
        self.with_output_types(pa.RecordBatch)

    def expand(self, begin: Any) -> beam.PCollection:
        tfxio = self._tfxio
        record_based_tfxio.check_patterns(tfxio._file_pattern)
        descriptors = tfxio._telemetry_descriptors
        batch_util.count_batch_size(begin.pipeline, self._batch_size, descriptors)
        names = telemetry.telemetry_of(descriptors, tfxio._logical_format, tfxio._physical_format)
        size: dict[str, Any] = batch_util.read_kwargs(self._batch_size)
        arrays = begin | "Read" >> Read(tfxio._file_pattern, format="raw", **size)
        return arrays | "Decode" >> beam.ParDo(
            _DecodeArrays(tfxio._DecodeFn(), RecordMetrics(names), names)
        )


@beam.typehints.with_input_types(pa.RecordBatch)
@beam.typehints.with_output_types(pa.RecordBatch)
class _DecodeArrays(beam.DoFn):
    def __init__(self, decode: DecodeFn, records: RecordMetrics, names: Telemetry) -> None:
        self._decode = decode
        self._records = records
        self._batches = telemetry.BatchMetrics(names)

    def setup(self) -> None:
        self._decode.setup()

    def process(self, raw: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        records = raw.column(0)
        self._records.count(records)
        batch = self._decode.batch(records)
        self._batches.count(batch)
        yield batch


def _record_arrays(
    patterns: list[str], options: dataset_options.RecordBatchesOptions
) -> Iterator[pa.Array]:
    """Arrays of batch_size records; the last one has the rest."""
    size, seed, epochs = options.batch_size, options.shuffle_seed, options.num_epochs
    source = open_source(patterns, format="raw", batch_size=size)
    parts = source.dataset(
        batch_size=size,
        epochs=None if epochs is None or epochs < 0 else epochs,  # as tf.data's repeat()
        shuffle=bool(options.shuffle),
        window=options.shuffle_buffer_size,
        seed=random.getrandbits(64) if seed is None else seed % 2**64,
        prefetch=0,
        as_batches=True,
    )
    waiting = pa.array([], pa.large_binary())
    for part in parts:
        records = to_pyarrow(part).column(0)
        waiting = pa.concat_arrays([waiting, records]) if len(waiting) else records
        while len(waiting) >= size:
            yield waiting[:size]
            waiting = waiting[size:]
    if len(waiting) and not options.drop_final_batch:
        yield waiting
