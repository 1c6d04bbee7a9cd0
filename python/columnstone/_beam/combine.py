"""Combiners: what accumulators find in a PCollection of record batches."""

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
    """Accumulators as the bytes that they are saved as."""

    def __init__(self, empty: AnyAccumulator[Any]) -> None:
        self._empty = empty

    def encode(self, value: AnyAccumulator[Any]) -> bytes:
        return value._handle.save()

    def decode(self, encoded: bytes) -> AnyAccumulator[Any]:
        return self._empty._loaded(encoded)


@public_in("columnstone.beam")
class Accumulate(beam.CombineFn):  # type: ignore[misc]
    """A CombineFn of columnstone's accumulators: batches, tables or whatever they add become what
    they find.

    batches | beam.CombineGlobally(cst.beam.Accumulate("lengths", columns=["tokens"]))
    pairs | beam.CombinePerKey(cst.beam.Accumulate(cst.accumulate.Validation(schema)))

    accumulator: the name of one, with its options (columnstone.accumulate.accumulators lists them),
        or one whose finish() is wanted, such as columnstone.accumulate.Validation(schema), and
        which has found nothing yet.

    Workers send each other what an accumulator has found, in bytes, whose number does not grow with
    the rows. In what order a runner merges them is not known: results are the same in any, but for
    which places of an anomaly are named.
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
    """Combines all batches into one result. What beam.CombineGlobally offers is there, too:
    with_fanout, without_defaults, as_singleton_view."""

    def __init__(self, accumulator: AnyAccumulator[Any]) -> None:
        super().__init__(Accumulate(accumulator))

    def default_label(self) -> str:
        return type(self).__name__


@public_in("columnstone.beam")
class InferSchema(_Globally):
    """Record batches become one columnstone.Schema, that of columnstone.infer_schema; without
    batches one without features. Options are those of columnstone.accumulate.SchemaInference. It
    is a beam.CombineGlobally."""

    def __init__(self, **options: Any) -> None:
        super().__init__(SchemaInference(**options))


@public_in("columnstone.beam")
class Validate(_Globally):
    """Record batches become one columnstone.schema.SchemaCheck: what does not fit the schema.
    Options are those of columnstone.accumulate.Validation. It is a beam.CombineGlobally.

    Which places of an anomaly are named, with their numbers of rows, depends on the order in which
    a runner merges; everything else does not.
    """

    def __init__(self, schema: SchemaLike, **options: Any) -> None:
        super().__init__(Validation(schema, **options))


@public_in("columnstone.beam")
class Statistics(_Globally):
    """Record batches become one columnstone.Statistics, whose arguments it takes. It is a
    beam.CombineGlobally; by key it is beam.CombinePerKey(columnstone.beam.Accumulate(
    columnstone.Statistics(...)))."""

    def __init__(self, **options: Any) -> None:
        super().__init__(StatisticsOfBatches(**options))


@public_in("columnstone.beam")
class Count(_Globally):
    """Record batches become one columnstone.accumulate.ColumnCounts: rows, and per column the rows
    that have it and its values. It is a beam.CombineGlobally."""

    def __init__(self) -> None:
        super().__init__(Counts())
