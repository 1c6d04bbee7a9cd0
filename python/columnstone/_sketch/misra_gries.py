"""The values with the largest weights, compatible with tfx_bsl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.public import public_in
from .tfx import TfxSketch

if TYPE_CHECKING:
    from typing import Literal


@public_in("columnstone.sketch")
class MisraGries(TfxSketch):
    """Finds the values with the largest weights, with exactly the results of tfx_bsl's
    MisraGriesSketch, to continue with its saved sketches. HeavyHitters is exact for twice as many
    values, and has closer bounds. Values are texts here: integers in decimal, floats with six
    digits.

    buckets: the number of values that are kept; no weight is wrong by more than that of all values
        / (buckets + 1).
    invalid_text: replaces bytes that are not UTF-8. None: they are counted unchanged.
    longest, long_text: long_text replaces values with more than `longest` bytes. None: they are
        counted unchanged. As in tfx_bsl, values with weights are never replaced.
    ties: the order of values with equal weights.
    """

    __slots__ = ()
    _kind = "misra_gries"

    def __init__(
        self,
        buckets: int = 1000,
        *,
        invalid_text: str | None = None,
        longest: int | None = None,
        long_text: str | None = None,
        ties: Literal["smallest", "largest"] = "smallest",
    ) -> None:
        super().__init__(
            buckets=buckets,
            invalid_text=invalid_text,
            longest=longest,
            long_text=long_text,
            ties=ties,
        )

    def top(self, most: int = 10) -> list[tuple[Any, float, float]]:
        """The values with the largest weights: (value, lower, upper). The true weight is between
        the two bounds; tfx_bsl reports the upper one. If there are fewer values than buckets,
        values with a lower bound of 0 fill the rest. Which ones of several equally good values
        these are is not defined, and floats among them have the form "0x1.8p+0"."""
        found = _core.sketch_top(self._handle, most).to_pydict()
        return list(zip(found["value"], found["lower"], found["upper"], strict=True))
