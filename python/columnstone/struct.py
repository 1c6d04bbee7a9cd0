"""Structured tensors: making them, and operations on them.

recipe = cst.struct.constant({"title": "Snickerdoodle", "user_rating": [{"score": 0.8}]})
"""

from __future__ import annotations

from ._struct.arrange import (
    concat,
    expand_dims,
    identity,
    merge_dims,
    ones_like,
    partition_outer_dimension,
    rank,
    row_lengths,
    shape,
    size,
    squeeze,
    stack,
    tile,
    unstack,
    zeros_like,
)
from ._struct.nulls import drop_null, fill_null, has, is_null

__all__ = [
    "concat",
    "drop_null",
    "expand_dims",
    "fill_null",
    "has",
    "identity",
    "is_null",
    "merge_dims",
    "ones_like",
    "partition_outer_dimension",
    "rank",
    "row_lengths",
    "shape",
    "size",
    "squeeze",
    "stack",
    "tile",
    "unstack",
    "zeros_like",
]
