"""tfx_bsl.sketches over Columnstone: KmvSketch and MisraGriesSketch. QuantilesSketch is not there
yet."""

from .kmv import KmvSketch
from .misra_gries import MisraGriesSketch

__all__ = ["KmvSketch", "MisraGriesSketch"]
