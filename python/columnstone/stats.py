"""The parts of statistics: features, slices, and the differences between two statistics.

`cst.statistics(data)`, `Source.statistics()` and `Statistics.load(path)` create statistics.
"""

from __future__ import annotations

from ._statistics.comparison import Comparison, DriftAnomaly, FeatureDrift
from ._statistics.feature import FeatureStatistics
from ._statistics.statistics import Features, FeatureTable

__all__ = [
    "Comparison",
    "DriftAnomaly",
    "FeatureDrift",
    "FeatureStatistics",
    "FeatureTable",
    "Features",
]
