"""Moments of numbers."""

from __future__ import annotations

from .._base.public import public_in
from .sketch import Sketch


@public_in("columnstone.sketch")
class Moments(Sketch):
    """Count, mean, deviation and extremes of numbers."""

    __slots__ = ()
    _kind = "moments"
