"""Sketches: small summaries of very many values that can be merged and saved: quantiles, distinct
counts, heavy hitters, moments."""

from __future__ import annotations

from ._sketch.correlation import Correlation, CorrelationFound
from ._sketch.distinct import Distinct
from ._sketch.heavy_hitters import HeavyHitters
from ._sketch.histogram import Histogram
from ._sketch.kmv import Kmv
from ._sketch.misra_gries import MisraGries
from ._sketch.moments import Moments, MomentsFound
from ._sketch.mutual_information import MutualInformation, MutualInformationFound
from ._sketch.quantile_summary import QuantileSummary
from ._sketch.quantiles import Cuts, Parts, Quantiles
from ._sketch.sketch import Sketch, sketches

__all__ = [
    "Correlation",
    "CorrelationFound",
    "Cuts",
    "Distinct",
    "HeavyHitters",
    "Histogram",
    "Kmv",
    "MisraGries",
    "Moments",
    "MomentsFound",
    "MutualInformation",
    "MutualInformationFound",
    "Parts",
    "QuantileSummary",
    "Quantiles",
    "Sketch",
    "sketches",
]
