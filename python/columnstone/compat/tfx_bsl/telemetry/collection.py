"""Beam transforms that count what passes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import apache_beam as beam


@beam.ptransform_fn
def TrackRecordBatchBytes(dataset: Any, counter_namespace: str, counter_name: str) -> Any:
    """Adds the bytes of each record batch to a counter of Beam's.

    Gives a PCollection of the bytes of each.
    """
    counter = beam.metrics.Metrics.counter(counter_namespace, counter_name)

    def counted(batch: Any) -> int:
        size = int(batch.nbytes)
        counter.inc(size)
        return size

    return dataset | "CountedBytes" >> beam.Map(counted)


@beam.ptransform_fn
def TrackTensorRepresentations(tensor_representations: Any, counter_namespace: str) -> Any:
    """Counts the tensor representations of each kind ("dense_tensor" and so on), which are names of
    counters, in a PCollection of dicts of them.

    Gives a PCollection of None for each dict.
    """

    def count(representations: dict[str, Any]) -> None:
        kinds = Counter(one.WhichOneof("kind") for one in representations.values())
        for kind, number in kinds.items():
            beam.metrics.Metrics.counter(counter_namespace, kind).inc(number)

    return tensor_representations | "IncrementCounters" >> beam.Map(count)
