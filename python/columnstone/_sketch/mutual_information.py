"""Mutual information."""

from __future__ import annotations

from typing import NamedTuple

from .. import _core
from .._base.public import public_in
from .pairs import PairSketch


@public_in("columnstone.sketch")
class MutualInformationFound(NamedTuple):
    """The result of `MutualInformation.found()`, in nats."""

    pairs: int
    x_values: int
    y_values: int
    cells: int
    information: float
    corrected: float
    entropy_x: float
    entropy_y: float
    is_exact: bool


@public_in("columnstone.sketch")
class MutualInformation(PairSketch):
    """The mutual information of two columns, from counts of pairs of values. Results and bytes do
    not depend on the order of values and merges; weights do not matter.

    values: the number of values of each column that are counted individually; all others share as
        many cells, by their hashes.
    seed: of the hashes.
    """

    __slots__ = ()
    _kind = "mutual_information"

    def __init__(self, values: int = 100, *, seed: int = 0) -> None:
        super().__init__(values=values, seed=seed)

    def found(self) -> MutualInformationFound:
        """All results at once."""
        return MutualInformationFound(*_core.sketch_mutual_information(self._handle))

    @property
    def information(self) -> float:
        """In nats; NaN if there are no pairs. For columns with more than `values` distinct values,
        it is that of coarser columns, which is never larger."""
        return self.found().information

    @property
    def corrected(self) -> float:
        """With the average bias from the limited number of pairs subtracted (Miller and Madow); may
        be below 0."""
        return self.found().corrected

    @property
    def is_exact(self) -> bool:
        """Whether every value is counted individually."""
        return self.found().is_exact
