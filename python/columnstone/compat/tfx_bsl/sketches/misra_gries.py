"""Frequent values."""

from __future__ import annotations

from enum import Enum

import pyarrow as pa

from .... import _core, sketch
from ...._arrow.pointers import to_pyarrow
from .._errors import raising
from ._saved import SavedSketch
from .kmv import check_values

_NO_LONGEST = "Must provide both or neither large_string_threshold and large_string_placeholder."


class MisraGriesSketch(SavedSketch):
    """The items with the largest weights: columnstone.sketch.MisraGries, with the same results.

    Differences: negative, infinite or NaN weights are a RuntimeError; placeholders must be UTF-8
    without NUL, otherwise ValueError; and of equally good items without a weight, the first ones
    fill the buckets, whereas tfx_bsl's choice is random.
    """

    _sketch: sketch.MisraGries

    class OrderOnTie(Enum):
        """The order of items with equal weights: the smallest first, or the largest."""

        Lexicographical = 0
        ReverseLexicographical = 1

        def __hash__(self) -> int:
            return hash(self.value)

        def __int__(self) -> int:
            return self.value

        def __index__(self) -> int:
            return self.value

    Lexicographical = OrderOnTie.Lexicographical
    ReverseLexicographical = OrderOnTie.ReverseLexicographical

    def __init__(
        self,
        num_buckets: int,
        invalid_utf8_placeholder: str | bytes | None = None,
        large_string_threshold: int | None = None,
        large_string_placeholder: str | bytes | None = None,
        order_on_tie: OrderOnTie = OrderOnTie.Lexicographical,
    ) -> None:
        if not isinstance(num_buckets, int) or num_buckets >= 2**31:
            raise TypeError(f"expected an int of 32 bits as num_buckets, not {num_buckets!r}")
        if not isinstance(order_on_tie, self.OrderOnTie):
            raise TypeError(f"expected an OrderOnTie, not {type(order_on_tie).__name__}")
        if (large_string_threshold is None) != (large_string_placeholder is None):
            raise RuntimeError(_NO_LONGEST)
        if large_string_threshold is not None and large_string_threshold < 0:
            # As in tfx_bsl, no item counts as longer then.
            large_string_threshold = large_string_placeholder = None
        with raising(RuntimeError):
            self._sketch = sketch.MisraGries(
                int(num_buckets),
                invalid_text=_text(invalid_utf8_placeholder),
                longest=large_string_threshold,
                long_text=_text(large_string_placeholder),
                ties="largest" if int(order_on_tie) else "smallest",
            )

    def AddValues(self, items: pa.Array, weights: pa.Array | None = None, /) -> None:
        """Adds the items without nulls: integers, floats, strings or bytes; RuntimeError for other
        types.

        weights: float32, one for each item; without them, each has the weight 1. Null counts as 0.
            With weights, nothing is replaced by placeholders.
        """
        for given in (items, weights):
            if given is not None and not isinstance(given, pa.Array):
                raise RuntimeError(f"expected a pyarrow.Array, not {type(given).__name__}")
        if weights is not None:
            if len(items) != len(weights):
                raise RuntimeError(
                    "INVALID_ARGUMENT: Length of item array must be equal to length of weight "
                    f"array: {len(items)} v.s. {len(weights)}"
                )
            if weights.type != pa.float32():
                raise RuntimeError("INVALID_ARGUMENT: Weight array must be float type.")
            weights = weights.fill_null(0)
        check_values(items)
        with raising(RuntimeError, "INTERNAL: Arrow error Type error : sketch stored type error: "):
            self._sketch.add(items, weights)

    def Merge(self, other: MisraGriesSketch, /) -> None:
        """Adds the state of another sketch with the same number of buckets and the same
        placeholders, whatever its order on ties (otherwise RuntimeError)."""
        if not isinstance(other, MisraGriesSketch):
            raise TypeError(f"Merge(): expected a MisraGriesSketch, not {type(other).__name__}")
        _check_options(self._sketch._handle, other._sketch._handle)
        added = other._sketch
        order = self._sketch._handle.option("ties")
        if other is self or added._handle.option("ties") != order:
            added = sketch.MisraGries.from_tfx_bsl(_in_order(added.to_tfx_bsl(), order))
        with raising(RuntimeError, "INVALID_ARGUMENT: Both sketches must have the same type: "):
            self._sketch.merge(added)

    def Estimate(self) -> pa.StructArray:
        """The items with the largest weights as structs of `values` (large binary) and `counts`
        (double): as many as there are buckets, if there were so many. A count is an upper bound."""
        found = to_pyarrow(_core.sketch_top(self._sketch._handle, 2**31))
        values = found.column("value").cast(pa.large_binary())
        return pa.StructArray.from_arrays([values, found.column("upper")], ["values", "counts"])

    def _load(self, message: bytes) -> None:
        with raising(RuntimeError, "INVALID_ARGUMENT: Failed to parse MisraGries sketch: "):
            self._sketch = sketch.MisraGries.from_tfx_bsl(message)


def _text(placeholder: str | bytes | None) -> str | None:
    text = placeholder.decode() if isinstance(placeholder, bytes) else placeholder
    if text is not None and "\0" in text:
        raise ValueError("the placeholder contains a NUL character")
    return text


def _check_options(ours: _core.Sketch, other: _core.Sketch) -> None:
    """RuntimeError if they cannot be merged."""
    buckets = ours.option("buckets"), other.option("buckets")
    if buckets[0] != buckets[1]:
        raise RuntimeError(
            "INVALID_ARGUMENT: Both sketches must have the same number of buckets: "
            f"{buckets[0]} v.s. {buckets[1]}"
        )
    if (ours.option("long_text") is None) != (other.option("long_text") is None):
        raise RuntimeError(
            "INVALID_ARGUMENT: Both sketches must have the same large_string_threshold."
        )
    for name, theirs in (
        ("longest", "large_string_threshold"),
        ("long_text", "large_string_placeholder"),
        ("invalid_text", "invalid_utf8_placeholder"),
    ):
        if ours.option(name) != other.option(name):
            raise RuntimeError(f"INVALID_ARGUMENT: Both sketches must have the same {theirs}.")


def _in_order(message: bytes, ties: str | None) -> bytes:
    """A message with another order on ties: later fields take precedence."""
    return message + (b"\x60\x02" if ties == "largest" else b"\x60\x01")
