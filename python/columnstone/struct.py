"""Structured tensors: making them, and operations on them.

recipe = cst.struct.constant({"title": "Snickerdoodle", "user_rating": [{"score": 0.8}]})
"""

from __future__ import annotations

__all__: list[str] = []
