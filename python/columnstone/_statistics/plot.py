"""Plots of features with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.optional import need

if TYPE_CHECKING:
    from .feature import FeatureStatistics


def plot(feature: FeatureStatistics, weighted: bool, axes: Any) -> Any:
    """Draws the histogram of numbers, or the most frequent values, on matplotlib axes."""
    if axes is None:
        axes = need("matplotlib.pyplot", "plot").subplots()[1]
    parts = feature.weighted_histogram if weighted else feature.histogram
    if parts and feature.type != "BOOL":
        axes.bar(
            [part["low"] for part in parts],
            [part["weight"] for part in parts],
            width=[part["high"] - part["low"] for part in parts],
            align="edge",
        )
    else:
        values = feature.top(20, weighted=weighted)[::-1]
        axes.barh([str(value) for value, _, _ in values], [upper for _, _, upper in values])
    axes.set_title(feature.path)
    return axes
