"""tfx_bsl.sketches over Columnstone: KmvSketch. The other two of theirs are not there yet."""

from .kmv import KmvSketch

__all__ = ["KmvSketch"]
