"""What statistics consist of: features, slices, and what changed between two of them.

`cst.statistics(data)`, `Source.statistics()` and `Statistics.load(path)` make them.
"""

from __future__ import annotations

from ._statistics.comparison import Anomaly, Comparison, FeatureDrift
from ._statistics.feature import FeatureStatistics
from ._statistics.statistics import Features, FeatureTable, Statistics

__all__ = [
    "Anomaly",
    "Comparison",
    "FeatureDrift",
    "FeatureStatistics",
    "FeatureTable",
    "Features",
    "Statistics",
]
