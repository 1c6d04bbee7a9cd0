"""The sketches by the name that tfx_bsl's pickles have for them: so those are loaded."""

from ...sketches import KmvSketch, MisraGriesSketch, QuantilesSketch

__all__ = ["KmvSketch", "MisraGriesSketch", "QuantilesSketch"]
