"""What is kept of very many values in little memory, to be merged and saved: quantiles, distinct
counts, heavy hitters, moments."""

from __future__ import annotations

from ._sketch.moments import Moments, MomentsFound
from ._sketch.sketch import Sketch, sketches

__all__ = ["Moments", "MomentsFound", "Sketch", "sketches"]
