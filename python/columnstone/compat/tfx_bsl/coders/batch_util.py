"""tfx_bsl.coders.batch_util: batches of records in a Beam pipeline."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeVar

import apache_beam as beam
from absl import flags

from ..telemetry import util

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FLAG = "tfxio_use_byte_size_batching"
if _FLAG not in flags.FLAGS:  # tfx_bsl's own module may have it in this process, or come later
    flags.DEFINE_bool(
        _FLAG,
        False,
        "Whether batches are of about 20 MiB, not of Beam's choice.",
        allow_override=True,
    )
_TARGET_BATCH_BYTES_SIZE = 20 << 20
_BATCH_SIZE_CAP_WITH_BYTE_TARGET = 8192
_BATCH_SIZE_CAP = 1000

T = TypeVar("T")


def _by_bytes() -> bool:
    flag = flags.FLAGS[_FLAG]
    return bool(flag.value if flags.FLAGS.is_parsed() else flag.default)


def GetBatchElementsKwargs(
    batch_size: int | None, element_size_fn: Callable[[Any], int] = len
) -> dict[str, Any]:
    """The arguments of beam.BatchElements: batches of exactly this size or, if it is None, of a
    size that Beam tunes or, with the flag, of about this many bytes; element_size_fn: returns the
    size of one element in bytes."""
    if batch_size is not None:
        return {"min_batch_size": batch_size, "max_batch_size": batch_size}
    if _by_bytes():
        least = -(-_TARGET_BATCH_BYTES_SIZE // _BATCH_SIZE_CAP_WITH_BYTE_TARGET)
        return {
            "min_batch_size": _TARGET_BATCH_BYTES_SIZE,
            "max_batch_size": _TARGET_BATCH_BYTES_SIZE,
            "element_size_fn": lambda element: max(element_size_fn(element), least),
        }
    tuned = {
        "min_batch_size": 1,
        "max_batch_size": _BATCH_SIZE_CAP,
        "target_batch_overhead": 0.05,
        "target_batch_duration_secs": 1,
        "variance": 0.25,
    }
    fixed_cost = "target_batch_duration_secs_including_fixed_cost"
    if fixed_cost in inspect.signature(beam.BatchElements).parameters:
        tuned[fixed_cost] = 1
    return tuned


def read_kwargs(batch_size: int | None) -> dict[str, int]:
    """The arguments of our reader for batches of this size."""
    if batch_size is not None:
        return {"batch_size": batch_size}
    if _by_bytes():
        cap = _BATCH_SIZE_CAP_WITH_BYTE_TARGET
        return {"batch_size": cap, "batch_bytes": _TARGET_BATCH_BYTES_SIZE}
    return {"batch_size": _BATCH_SIZE_CAP}


def _count(_: None, batch_size: int | None, telemetry_descriptors: Sequence[str] | None) -> None:
    namespace = util.MakeTfxNamespace(telemetry_descriptors or ["Unknown"])
    beam.metrics.Metrics.counter(namespace, _FLAG).inc(int(_by_bytes()))
    beam.metrics.Metrics.counter(namespace, "desired_batch_size").inc(batch_size or 0)


def count_batch_size(
    pipeline: beam.Pipeline, batch_size: int | None, telemetry_descriptors: Sequence[str] | None
) -> None:
    """Reports the requested batch size in the pipeline's metrics."""
    _ = (
        pipeline
        | "CreateSole" >> beam.Create([None])
        | "IncrementMetrics" >> beam.Map(_count, batch_size, telemetry_descriptors)
    )


@beam.ptransform_fn
@beam.typehints.with_input_types(T)
@beam.typehints.with_output_types(list[T])  # type: ignore[valid-type]
def BatchRecords(
    records: beam.PCollection,
    batch_size: int | None,
    telemetry_descriptors: Sequence[str] | None,
    record_size_fn: Callable[[Any], int] = len,
) -> beam.PCollection:
    """Lists of records with the size that GetBatchElementsKwargs selects. Metrics report the
    requested size under the namespace of the descriptors."""
    count_batch_size(records.pipeline, batch_size, telemetry_descriptors)
    return records | "BatchElements" >> beam.BatchElements(
        **GetBatchElementsKwargs(batch_size, record_size_fn)
    )
