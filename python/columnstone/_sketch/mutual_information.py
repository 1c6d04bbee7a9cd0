"""Mutual information."""

from __future__ import annotations

from typing import NamedTuple

from .. import _core
from .._base.public import public_in
from .pairs import PairSketch


@public_in("columnstone.sketch")
class MutualInformationFound(NamedTuple):
    """What mutual information says: `MutualInformation.found()`. In nats."""

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
    """How much the values of one column tell of those of another, from counts of pairs of values.
    Results and bytes are the same in every order and in every merge tree; weights do not matter.

    values: of each column that are counted by themselves; all others share as many cells, by their
        hashes.
    seed: of the hashes.
    """

    __slots__ = ()
    _kind = "mutual_information"

    def __init__(self, values: int = 100, *, seed: int = 0) -> None:
        super().__init__(values=values, seed=seed)

    def found(self) -> MutualInformationFound:
        """All of it at once."""
        return MutualInformationFound(*_core.sketch_mutual_information(self._handle))

    @property
    def information(self) -> float:
        """In nats; NaN of no pairs. Of columns of more than `values` different values it is that of
        coarser ones, which is never more."""
        return self.found().information

    @property
    def corrected(self) -> float:
        """Less what it is too large by on average, as there are only so many pairs (Miller and
        Madow); may be below 0."""
        return self.found().corrected

    @property
    def is_exact(self) -> bool:
        """Whether every value is counted by itself."""
        return self.found().is_exact
