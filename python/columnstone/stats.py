"""What statistics consist of: features, slices, and what changed between two of them.

`cst.statistics(data)`, `Source.statistics()` and `Statistics.load(path)` make them.
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
