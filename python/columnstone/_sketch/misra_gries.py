"""The values with the largest weights as tfx_bsl counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.public import public_in
from .tfx import TfxSketch

if TYPE_CHECKING:
    from typing import Literal


@public_in("columnstone.sketch")
class MisraGries(TfxSketch):
    """The values with the largest weights, to the last figure as tfx_bsl's MisraGriesSketch counts
    them: to go on with what it has saved. HeavyHitters is exact for twice as many values, and has
    closer bounds. Values are texts here: integers in digits, floats in six of them.

    buckets: values that are kept; no weight is off by more than that of all values / (buckets + 1).
    invalid_text: counted for bytes that are no UTF-8. None: these are counted as they are.
    longest, long_text: what is counted for values of more than so many bytes. None: these are
    counted as they are. As in tfx_bsl, values that come with weights are never replaced.
    ties: which of values of equal weight stands first.
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
        the two bounds, of which tfx_bsl tells the upper one. Values whose lower bound is 0 fill the
        buckets where there are too few others; which of several equally good ones these are is not
        said, and floats among them come as in "0x1.8p+0"."""
        found = _core.sketch_top(self._handle, most).to_pydict()
        return list(zip(found["value"], found["lower"], found["upper"], strict=True))
