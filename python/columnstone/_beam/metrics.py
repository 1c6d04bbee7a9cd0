"""Counters and distributions of what is read; runners add them up.

They are updated once per batch. The distributions over rows and cells use a sample of the batches,
as in tfx_bsl; they are computed from the offsets of a batch's lists.
"""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.metrics import Metrics
from apache_beam.metrics.cells import DistributionCell, DistributionData
from apache_beam.metrics.execution import MetricsEnvironment, _TypedMetricName
from apache_beam.metrics.metricbase import MetricName

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    Bounds: TypeAlias = NDArray[np.int64]

NAMESPACE = "columnstone"
SAMPLE = 10  # one of so many batches, the first one of each reader included
_TYPES = ("INT", "FLOAT", "STRING", "NULL", "OTHER")


class Telemetry(NamedTuple):
    """Names for the metrics that tfx_bsl counts, too.

    descriptors: of the component that reads; they form the namespace.
    logical_format, physical_format: such as "tf_example" and "tfrecords_gzip".
    """

    descriptors: tuple[str, ...]
    logical_format: str
    physical_format: str

    @property
    def namespace(self) -> str:
        return ".".join(("tfx", *self.descriptors, "io"))

    def name(self, what: str) -> str:
        formats = f"LogicalFormat[{self.logical_format}]-PhysicalFormat[{self.physical_format}]"
        return f"{formats}-{what}"


class BatchMetrics:
    """Counters `records`, `batches`, `bytes` (of the batches, in memory) and `dropped_records` in
    the namespace "columnstone", and the metrics of tfx_bsl if their names are given. It pickles."""

    def __init__(self, telemetry: Telemetry | None = None) -> None:
        self._telemetry = telemetry
        self._records = Metrics.counter(NAMESPACE, "records")
        self._batches = Metrics.counter(NAMESPACE, "batches")
        self._bytes = Metrics.counter(NAMESPACE, "bytes")
        self._dropped = Metrics.counter(NAMESPACE, "dropped_records")
        self._of_peers = None if telemetry is None else PeerMetrics(telemetry)

    def count(self, batch: pa.RecordBatch) -> None:
        self._records.inc(batch.num_rows)
        self._batches.inc()
        self._bytes.inc(batch.nbytes)
        if self._of_peers is not None:
            self._of_peers.count(batch)

    def drop(self, records: int) -> None:
        if records > 0:
            self._dropped.inc(records)


class RecordMetrics:
    """`num_raw_records` and `raw_record_byte_size` of undecoded records."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._records = Metrics.counter(telemetry.namespace, telemetry.name("num_raw_records"))
        self._sizes = MetricName(telemetry.namespace, telemetry.name("raw_record_byte_size"))

    def count(self, records: Sequence[bytes] | pa.Array) -> None:
        """records: bytes, or a pyarrow array of them."""
        self._records.inc(len(records))
        if len(records) == 0:
            return
        if isinstance(records, pa.Array):
            lengths = pc.binary_length(records).to_numpy().astype(np.int64)
        else:
            lengths = np.array([len(record) for record in records])
        _update(self._sizes, _summary(lengths))


class PeerMetrics:
    """The metrics of tfx_bsl for batches, under its names. It pickles.

    probability: that a batch is included in the distributions over rows and cells; None: every
        SAMPLE-th batch is.
    """

    def __init__(self, telemetry: Telemetry, probability: float | None = None) -> None:
        def distribution(what: str) -> MetricName:
            return MetricName(telemetry.namespace, telemetry.name(what))

        self._rows = distribution("num_rows")
        self._sizes = distribution("record_batch_byte_size")
        self._columns = distribution("num_columns")
        self._values = distribution("num_feature_values")
        self._values_of = {t: distribution(f"num_feature_values[{t}]") for t in _TYPES}
        self._cells_of = {
            t: Metrics.counter(telemetry.namespace, telemetry.name(f"num_cells[{t}]"))
            for t in _TYPES
        }
        self._probability = probability
        self._seen = 0  # batches

    def _is_sampled(self) -> bool:
        if self._probability is not None:
            return random.random() < self._probability
        return self._seen % SAMPLE == 1 % SAMPLE

    def count(self, batch: pa.RecordBatch, size: int | None = None) -> None:
        """size: its bytes, if they are not counted as pyarrow does."""
        _update(self._rows, _summary(np.array([batch.num_rows])))
        _update(self._sizes, _summary(np.array([batch.nbytes if size is None else size])))
        self._count_cells(batch)
        self._seen += 1
        if batch.num_rows > 0 and self._is_sampled():
            _update(self._columns, _summary(_columns_of_rows(batch)))
            self._count_values(batch)

    def _count_cells(self, batch: pa.RecordBatch) -> None:
        for column in batch.columns:
            kind = column.type
            cells = batch.num_rows - column.null_count
            if pa.types.is_null(kind):
                self._cells_of["NULL"].inc(batch.num_rows)
            else:
                name = _type_name(kind.value_type) if _is_list(kind) else "OTHER"
                self._cells_of[name].inc(cells)

    def _count_values(self, batch: pa.RecordBatch) -> None:
        found: dict[str, list[NDArray[np.int64]]] = {}
        for column in batch.columns:
            kind = column.type
            if _is_list(kind) and not pa.types.is_nested(kind.value_type):
                found.setdefault(_type_name(kind.value_type), []).append(_lengths(column))
                continue
            for kind, bounds in _leaves(column, np.arange(batch.num_rows + 1)):
                found.setdefault(_type_name(kind), []).append(np.diff(bounds))
        for name, numbers in found.items():
            summary = _summary(np.concatenate(numbers))
            _update(self._values_of[name], summary)
            _update(self._values, summary)


def _leaves(array: pa.Array, bounds: Bounds) -> Iterator[tuple[pa.DataType, Bounds]]:
    """The leaves of a column, each with the offsets of the rows' values and the end of the last
    row."""
    kind = array.type
    if _is_list(kind):
        begins = np.concatenate(([0], np.cumsum(_lengths(array), dtype=np.int64)))
        yield from _leaves(array.flatten(), begins[bounds])
    elif pa.types.is_struct(kind):
        for child in array.flatten():
            yield from _leaves(child, bounds)
    else:
        yield kind, bounds


def _lengths(array: pa.Array) -> NDArray[np.int64]:
    """The lengths of lists; a null has length 0."""
    if array.null_count > 0:
        lengths: NDArray[np.int64] = array.value_lengths().fill_null(0).to_numpy()
        return lengths
    kind = np.int64 if pa.types.is_large_list(array.type) else np.int32
    offsets = np.frombuffer(
        array.buffers()[1], kind, len(array) + 1, array.offset * kind().itemsize
    )
    return np.diff(offsets)


def _columns_of_rows(batch: pa.RecordBatch) -> NDArray[np.int64]:
    """The number of columns with a value, for each row. A column of type null counts, as in
    tfx_bsl."""
    count = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        if column.null_count == 0 or pa.types.is_null(column.type):
            count += 1
        elif column.null_count < len(column):
            count += column.is_valid().to_numpy(zero_copy_only=False)
    return count


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _type_name(kind: pa.DataType) -> str:
    types = pa.types
    if types.is_integer(kind):
        return "INT"
    if types.is_floating(kind):
        return "FLOAT"
    if (
        types.is_string(kind)
        or types.is_binary(kind)
        or types.is_large_string(kind)
        or types.is_large_binary(kind)
    ):
        return "STRING"
    return "NULL" if types.is_null(kind) else "OTHER"


# ---- distributions of many numbers at once ----


def _summary(numbers: NDArray[np.int64]) -> DistributionData:
    """A summary of one or more numbers."""
    least, most = int(numbers.min()), int(numbers.max())
    return DistributionData(int(numbers.sum()), len(numbers), least, most)


def _update(name: MetricName, summary: DistributionData) -> None:
    """Adds many numbers to a distribution of the current step. Beam's own method takes them one by
    one, which costs almost as much as decoding them."""
    container = MetricsEnvironment.current_container()
    if container is not None:
        typed = _TypedMetricName(DistributionCell, name)
        cell = container.get_metric_cell(typed)
        container.metrics[typed] = cell.combine(SimpleNamespace(data=summary))
