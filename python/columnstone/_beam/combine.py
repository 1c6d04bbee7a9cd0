"""Combiners: what accumulators find in a PCollection of record batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import apache_beam as beam

from .._base.public import public_in
from .._source.accumulate import Accumulator, Counts, SchemaInference, Validation

if TYPE_CHECKING:
    from .._schema.schema import SchemaLike


class _AccumulatorCoder(beam.coders.Coder):  # type: ignore[misc]
    """Accumulators as the bytes of what they have found; their options are known to all."""

    def __init__(self, empty: Accumulator[Any]) -> None:
        self._empty = empty

    def encode(self, value: Accumulator[Any]) -> bytes:
        return value._handle.save()

    def decode(self, encoded: bytes) -> Accumulator[Any]:
        return self._empty._restore(self._empty._options, encoded)


@public_in("columnstone.beam")
class Accumulate(beam.CombineFn):  # type: ignore[misc]
    """A CombineFn of columnstone's accumulators: batches, tables or whatever they add become what
    they find.

    batches | beam.CombineGlobally(cst.beam.Accumulate(cst.accumulate.Counts))
    pairs | beam.CombinePerKey(cst.beam.Accumulate(lambda: cst.accumulate.Validation(schema)))

    new: makes an accumulator; called once, where the pipeline is made.

    Workers send each other what an accumulator has found, in bytes, whose number does not grow with
    the rows. In what order a runner merges them is not known: results are the same in any, but for
    which places of an anomaly are named.
    """

    def __init__(self, new: Callable[[], Accumulator[Any]]) -> None:
        self._empty = new()
        if not isinstance(self._empty, Accumulator):
            raise TypeError(
                "expected a function that makes an accumulator, such as "
                f"columnstone.accumulate.Counts, not one that makes a {type(self._empty).__name__}"
            )

    def create_accumulator(self) -> Accumulator[Any]:
        return self._empty._of(*self._empty._options)

    def add_input(self, mutable_accumulator: Accumulator[Any], element: Any) -> Accumulator[Any]:
        mutable_accumulator.add(element)
        return mutable_accumulator

    def merge_accumulators(self, accumulators: Iterable[Accumulator[Any]]) -> Accumulator[Any]:
        merged = self.create_accumulator()
        for accumulator in accumulators:
            merged.merge(accumulator)
        return merged

    def extract_output(self, accumulator: Accumulator[Any]) -> Any:
        return accumulator.finish()

    def get_accumulator_coder(self) -> Any:
        return _AccumulatorCoder(self._empty)

    def default_label(self) -> str:
        return f"Accumulate({type(self._empty).__name__})"


class _Globally(beam.CombineGlobally):  # type: ignore[misc]
    """Combines all batches into one result. What beam.CombineGlobally offers is there, too:
    with_fanout, without_defaults, as_singleton_view."""

    def __init__(self, new: Callable[[], Accumulator[Any]]) -> None:
        super().__init__(Accumulate(new))

    def default_label(self) -> str:
        return type(self).__name__


@public_in("columnstone.beam")
class InferSchema(_Globally):
    """Record batches become one columnstone.Schema, that of columnstone.infer_schema; without
    batches one without features. Options are those of columnstone.accumulate.SchemaInference. It
    is a beam.CombineGlobally."""

    def __init__(self, **options: Any) -> None:
        super().__init__(lambda: SchemaInference(**options))


@public_in("columnstone.beam")
class Validate(_Globally):
    """Record batches become one columnstone.schema.SchemaCheck: what does not fit the schema.
    Options are those of columnstone.accumulate.Validation. It is a beam.CombineGlobally.

    Which places of an anomaly are named, with their numbers of rows, depends on the order in which
    a runner merges; everything else does not.
    """

    def __init__(self, schema: SchemaLike, **options: Any) -> None:
        super().__init__(lambda: Validation(schema, **options))


@public_in("columnstone.beam")
class Count(_Globally):
    """Record batches become one columnstone.accumulate.ColumnCounts: rows, and per column the rows
    that have it and its values. It is a beam.CombineGlobally."""

    def __init__(self) -> None:
        super().__init__(Counts)
