"""Tensors of record batches, what makes them, and what frameworks get."""

from __future__ import annotations

from ._core import Tensor
from ._tensor.adapter import Pad, TensorAdapter
from ._tensor.conversion import to_jax, to_numpy, to_tf, to_torch
from ._tensor.declared import TensorSpec
from ._tensor.encoder import TensorEncoder
from ._tensor.tensor import RaggedTensor, SparseTensor

__all__ = [
    "Pad",
    "RaggedTensor",
    "SparseTensor",
    "Tensor",
    "TensorAdapter",
    "TensorEncoder",
    "TensorSpec",
    "to_jax",
    "to_numpy",
    "to_tf",
    "to_torch",
]
