"""Types that only type checkers see: there is no such module when a program runs.

A tensor of a batch and a field of a structured tensor are of a kind that the data and their schema
tell, not the program. Such a value has the type `SomeTensor | Any` or `SomeStructured | Any`: it is
checked as one that has what any of the kinds has, isinstance says which it is, and it may be given
where one of the kinds is wanted.
"""

import builtins
from types import EllipsisType
from typing import Any, TypeAlias, TypedDict, TypeVar

import jax
import numpy.typing as npt
import torch

from ._core import Tensor
from ._dataset.arguments import BucketBy
from ._dataset.batch import Batch
from ._frameworks.torch import TorchDataset as TorchDataset
from ._frameworks.torch import TorchRows as TorchRows
from ._frameworks.torch_batch import TorchBatch as TorchBatch
from ._struct.tensor import LeafTensor, StructuredTensor
from ._tensor.adapter import PadsLike
from ._tensor.tensor import RaggedTensor, SparseTensor

_Value = TypeVar("_Value")

class SomeTensor(Tensor, SparseTensor, RaggedTensor):  # type: ignore[misc]
    def __getitem__(self, name: str, /) -> AnyTensor: ...  # of a structured one, which is a dict

AnyTensor: TypeAlias = SomeTensor | Any

class SomeStructured(StructuredTensor, LeafTensor):  # type: ignore[misc]
    @property
    def spec(self) -> Any: ...
    def to_torch(self, *, fill: object = None) -> torch.Tensor | Any: ...
    def to_jax(self, *, fill: object = None) -> Any: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]: ...

AnyStructured: TypeAlias = SomeStructured | Any

# Keys of a structured tensor that choose elements by where they stand.
Places: TypeAlias = int | builtins.slice[Any, Any, Any] | EllipsisType | None

# What tensors become.
NumpyTensor: TypeAlias = npt.NDArray[Any] | Any
JaxTensor: TypeAlias = jax.Array | Any
TorchTensor: TypeAlias = torch.Tensor | Any

# Classes for modules that are below theirs.
Structured: TypeAlias = StructuredTensor
Leaf: TypeAlias = LeafTensor
BatchOf: TypeAlias = Batch[_Value]

class DatasetOptions(TypedDict, total=False):
    """The arguments of Source.dataset that do not say what is iterated."""

    window: int
    interleave: int | None
    pad: PadsLike
    bucket_by: BucketBy
    prefetch: int
    threads: int
    memory_budget: int
    ids: bool | tuple[str, str]
    consumed: int
