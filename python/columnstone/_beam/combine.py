"""Combiners: accumulators over a PCollection of record batches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import apache_beam as beam

from .._base.public import public_in
from .._source.accumulate import AnyAccumulator, Counts, SchemaInference, Validation, empty_of
from .._statistics.statistics import Statistics as StatisticsOfBatches

if TYPE_CHECKING:
    from .._schema.schema import SchemaLike


class _AccumulatorCoder(beam.coders.Coder):  # type: ignore[misc]
    """Encodes accumulators as their saved bytes."""

    def __init__(self, empty: AnyAccumulator[Any]) -> None:
        self._empty = empty

    def encode(self, value: AnyAccumulator[Any]) -> bytes:
        return value._handle.save()

    def decode(self, encoded: bytes) -> AnyAccumulator[Any]:
        return self._empty._loaded(encoded)


@public_in("columnstone.beam")
class Accumulate(beam.CombineFn):  # type: ignore[misc]
    """A CombineFn for columnstone's accumulators: batches, tables or other input that the
    accumulator accepts become its result.

    batches | beam.CombineGlobally(cst.beam.Accumulate("lengths", columns=["tokens"]))
    pairs | beam.CombinePerKey(cst.beam.Accumulate(cst.accumulate.Validation(schema)))

    accumulator: the name of an accumulator, with its options (columnstone.accumulate.accumulators
        lists them), or an empty accumulator whose finish() gives the result, such as
        columnstone.accumulate.Validation(schema).

    Workers send each other the state of an accumulator in bytes; its size does not grow with the
    number of rows. Runners merge in an unknown order. The result does not depend on it, except for
    the examples of places that an anomaly names.
    """

    def __init__(self, accumulator: str | AnyAccumulator[Any], **options: Any) -> None:
        self._empty: AnyAccumulator[Any] = empty_of(accumulator, options)

    def create_accumulator(self) -> AnyAccumulator[Any]:
        return self._empty._empty()

    def add_input(
        self, mutable_accumulator: AnyAccumulator[Any], element: Any
    ) -> AnyAccumulator[Any]:
        mutable_accumulator.add(element)
        return mutable_accumulator

    def merge_accumulators(
        self, accumulators: Iterable[AnyAccumulator[Any]]
    ) -> AnyAccumulator[Any]:
        merged = self.create_accumulator()
        for accumulator in accumulators:
            merged.merge(accumulator)
        return merged

    def extract_output(self, accumulator: AnyAccumulator[Any]) -> Any:
        return accumulator.finish()

    def get_accumulator_coder(self) -> Any:
        return _AccumulatorCoder(self._empty)

    def default_label(self) -> str:
        return f"Accumulate({self._empty._name})"


class _Globally(beam.CombineGlobally):  # type: ignore[misc]
    """Combines all batches into one result. It has the methods of beam.CombineGlobally:
    with_fanout, without_defaults, as_singleton_view."""

    def __init__(self, accumulator: AnyAccumulator[Any]) -> None:
        super().__init__(Accumulate(accumulator))

    def default_label(self) -> str:
        return type(self).__name__


@public_in("columnstone.beam")
class InferSchema(_Globally):
    """Infers one columnstone.Schema from record batches, like columnstone.infer_schema. Without
    batches, the schema has no features. Options are those of
    columnstone.accumulate.SchemaInference. It is a beam.CombineGlobally."""

    def __init__(self, **options: Any) -> None:
        super().__init__(SchemaInference(**options))


@public_in("columnstone.beam")
class Validate(_Globally):
    """Validates record batches and returns one columnstone.schema.SchemaCheck: what does not fit
    the schema. Options are those of columnstone.accumulate.Validation. It is a
    beam.CombineGlobally.

    The places that an anomaly names, with their row numbers, depend on the order in which a runner
    merges; nothing else does.
    """

    def __init__(self, schema: SchemaLike, **options: Any) -> None:
        super().__init__(Validation(schema, **options))


@public_in("columnstone.beam")
class Statistics(_Globally):
    """Computes one columnstone.Statistics of record batches; arguments are those of
    columnstone.Statistics. It is a beam.CombineGlobally. Per key, use
    beam.CombinePerKey(columnstone.beam.Accumulate(columnstone.Statistics(...)))."""

    def __init__(self, **options: Any) -> None:
        super().__init__(StatisticsOfBatches(**options))


@public_in("columnstone.beam")
class Count(_Globally):
    """Counts record batches as one columnstone.accumulate.ColumnCounts: the number of rows and, per
    column, the number of rows with a value and the number of values. It is a
    beam.CombineGlobally."""

    def __init__(self) -> None:
        super().__init__(Counts())
