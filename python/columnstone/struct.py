"""Structured tensors: making them, and operations on them.

recipe = cst.struct.constant({"title": "Snickerdoodle", "user_rating": [{"score": 0.8}]})
"""

from __future__ import annotations

from ._api.structured import from_json
from ._core import StructuredBase
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
from ._struct.choose import batch_gather, boolean_mask, gather, gather_nd, mask, reverse, where
from ._struct.compute import cartesian, combinations, run_lengths
from ._struct.constant import constant, from_arrow
from ._struct.fields import from_fields, from_row_splits
from ._struct.nulls import drop_null, fill_null, has, is_null
from ._struct.spec import (
    DenseStructuredTensorSpec,
    LeafSpec,
    RaggedStructuredTensorSpec,
    StructuredTensorSpec,
)
from ._struct.tensor import LeafTensor
from ._struct.views import (
    DenseStructuredTensor,
    RaggedStructuredTensor,
    StructuredTensorValue,
    constant_value,
)

__all__ = [
    "DenseStructuredTensor",
    "DenseStructuredTensorSpec",
    "LeafSpec",
    "LeafTensor",
    "RaggedStructuredTensor",
    "RaggedStructuredTensorSpec",
    "StructuredBase",
    "StructuredTensorSpec",
    "StructuredTensorValue",
    "batch_gather",
    "boolean_mask",
    "cartesian",
    "combinations",
    "concat",
    "constant",
    "constant_value",
    "drop_null",
    "expand_dims",
    "fill_null",
    "from_arrow",
    "from_fields",
    "from_json",
    "from_row_splits",
    "gather",
    "gather_nd",
    "has",
    "identity",
    "is_null",
    "mask",
    "merge_dims",
    "ones_like",
    "partition_outer_dimension",
    "rank",
    "reverse",
    "row_lengths",
    "run_lengths",
    "shape",
    "size",
    "squeeze",
    "stack",
    "tile",
    "unstack",
    "where",
    "zeros_like",
]
