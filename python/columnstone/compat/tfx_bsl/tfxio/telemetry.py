"""tfx_bsl.tfxio.telemetry: transforms that count their input in Beam's metrics.

The namespace is "tfx.DESCRIPTOR….io", the names are
"LogicalFormat[LOGICAL]-PhysicalFormat[PHYSICAL]-WHAT".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import apache_beam as beam
import pyarrow as pa

from ...._beam.metrics import PeerMetrics, RecordMetrics, Telemetry
from ..arrow import table_util

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@beam.ptransform_fn
@beam.typehints.with_input_types(pa.RecordBatch)
@beam.typehints.with_output_types(pa.RecordBatch)
def ProfileRecordBatches(
    pcoll: beam.PCollection,
    telemetry_descriptors: Sequence[str] | None,
    logical_format: str,
    physical_format: str,
    distribution_update_probability: float = 0.1,
) -> beam.PCollection:
    """Passes batches on and counts num_rows, record_batch_byte_size and num_cells[TYPE]; and for a
    sample of them (each with this probability) num_columns and num_feature_values per row."""
    if not 0 < distribution_update_probability <= 1:
        raise AssertionError(f"Invalid probability: {distribution_update_probability}")
    telemetry = telemetry_of(telemetry_descriptors, logical_format, physical_format)
    metrics = BatchMetrics(telemetry, distribution_update_probability)
    return pcoll | "ProfileRecordBatches" >> beam.ParDo(_CountBatch(metrics))


@beam.ptransform_fn
@beam.typehints.with_input_types(bytes)
@beam.typehints.with_output_types(bytes)
def ProfileRawRecords(
    pcoll: beam.PCollection,
    telemetry_descriptors: Sequence[str] | None,
    logical_format: str,
    physical_format: str,
) -> beam.PCollection:
    """Passes records on and counts num_raw_records and raw_record_byte_size."""
    metrics = RecordMetrics(telemetry_of(telemetry_descriptors, logical_format, physical_format))
    return pcoll | "ProfileRawRecords" >> beam.ParDo(_CountRecord(metrics))


def telemetry_of(
    descriptors: Sequence[str] | None, logical_format: str, physical_format: str
) -> Telemetry:
    """The names of the metrics. Raises AssertionError for a format that contains a separator of
    names."""
    for name in (logical_format, physical_format):
        if any(mark in name for mark in "[]-"):
            raise AssertionError(f"Invalid logical / physical format string: {name}")
    component = ("UNKNOWN_COMPONENT",) if descriptors is None else tuple(descriptors)
    return Telemetry(component, logical_format, physical_format)


class BatchMetrics:
    """The counts of ProfileRecordBatches; it pickles."""

    def __init__(self, telemetry: Telemetry, probability: float = 0.1) -> None:
        self._metrics = PeerMetrics(telemetry, probability)

    def count(self, batch: pa.RecordBatch) -> None:
        self._metrics.count(batch, table_util.TotalByteSize(batch, ignore_unsupported=True))


@beam.typehints.with_input_types(pa.RecordBatch)
@beam.typehints.with_output_types(pa.RecordBatch)
class _CountBatch(beam.DoFn):
    def __init__(self, metrics: BatchMetrics) -> None:
        self._metrics = metrics

    def process(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        self._metrics.count(batch)
        yield batch


@beam.typehints.with_input_types(bytes)
@beam.typehints.with_output_types(bytes)
class _CountRecord(beam.DoFn):
    def __init__(self, metrics: RecordMetrics) -> None:
        self._metrics = metrics

    def process(self, record: bytes) -> Iterator[bytes]:
        self._metrics.count([record])
        yield record
