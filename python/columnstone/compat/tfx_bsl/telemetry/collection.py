"""Beam transforms that count their input."""

from __future__ import annotations

from collections import Counter
from typing import Any

import apache_beam as beam


@beam.ptransform_fn
def TrackRecordBatchBytes(dataset: Any, counter_namespace: str, counter_name: str) -> Any:
    """Adds the size of each record batch in bytes to a Beam counter.

    Returns a PCollection of the sizes.
    """
    counter = beam.metrics.Metrics.counter(counter_namespace, counter_name)

    def counted(batch: Any) -> int:
        size = int(batch.nbytes)
        counter.inc(size)
        return size

    return dataset | "CountedBytes" >> beam.Map(counted)


@beam.ptransform_fn
def TrackTensorRepresentations(tensor_representations: Any, counter_namespace: str) -> Any:
    """Counts the tensor representations of each kind in a PCollection of dicts of them. The kinds
    ("dense_tensor" and so on) are the names of the counters.

    Returns a PCollection of None for each dict.
    """

    def count(representations: dict[str, Any]) -> None:
        kinds = Counter(one.WhichOneof("kind") for one in representations.values())
        for kind, number in kinds.items():
            beam.metrics.Metrics.counter(counter_namespace, kind).inc(number)

    return tensor_representations | "IncrementCounters" >> beam.Map(count)
