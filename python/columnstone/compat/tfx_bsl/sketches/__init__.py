"""tfx_bsl.sketches over Columnstone: KmvSketch, MisraGriesSketch and QuantilesSketch."""

from .kmv import KmvSketch
from .misra_gries import MisraGriesSketch
from .quantiles import QuantilesSketch

__all__ = ["KmvSketch", "MisraGriesSketch", "QuantilesSketch"]
