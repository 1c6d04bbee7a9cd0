"""The sketches under the name that tfx_bsl's pickles use, so that these can be loaded."""

from ...sketches import KmvSketch, MisraGriesSketch, QuantilesSketch

__all__ = ["KmvSketch", "MisraGriesSketch", "QuantilesSketch"]
