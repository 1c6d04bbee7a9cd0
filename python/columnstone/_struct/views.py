"""The RFC's names of structured tensors: dense, ragged, or with numpy values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.public import public_in
from .._core import StructuredBase
from .constant import constant
from .fields import from_fields
from .tensor import StructuredTensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .spec import Shape, Spec


class _View(type):
    """isinstance tests the tensor, whatever its class."""

    _is_dense: bool

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, StructuredTensor):
            return False
        return (None not in instance.shape) == cls._is_dense


@public_in("columnstone.struct")
class DenseStructuredTensor(StructuredTensor, metaclass=_View):
    """The RFC's name of a StructuredTensor with only uniform dimensions: isinstance tests for that,
    and the constructor returns a StructuredTensor from fields, as StructuredTensor.from_fields
    does."""

    __slots__ = ()
    _is_dense = True

    def __new__(cls, shape: Shape, fields: Mapping[str, Any]) -> Any:
        return from_fields(fields, shape)


@public_in("columnstone.struct")
class RaggedStructuredTensor(StructuredTensor, metaclass=_View):
    """The RFC's name of a StructuredTensor with a ragged dimension: isinstance tests for that, and
    from_row_splits returns a StructuredTensor."""

    __slots__ = ()
    _is_dense = False

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any) -> StructuredTensor:
        """As StructuredTensor.from_row_splits."""
        return StructuredTensor.from_row_splits(values, row_splits)


@public_in("columnstone.struct")
class StructuredTensorValue:
    """The RFC's name of a structured tensor with numpy arrays as fields; see
    `cst.struct.constant_value`.

    shape: as that of a StructuredTensor
    """

    __slots__ = ("_tensor",)

    def __init__(self, tensor: StructuredTensor) -> None:
        if not isinstance(tensor, StructuredTensor):
            raise TypeError(f"expected a StructuredTensor, not {type(tensor).__name__}")
        self._tensor = tensor

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The length of each dimension; None if it is ragged."""
        return self._tensor.shape

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self._tensor.rank

    def field_names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return self._tensor.field_names()

    def field_value(self, name: str) -> Any:
        """The field of all structs: a StructuredTensorValue or a numpy array. The array has the
        type of the values if these are dense and not null. Otherwise it has objects, in the uniform
        dimensions before the first ragged one, with lists below."""
        return value_of(self._tensor[(name,)])

    def to_py(self) -> Any:
        """As StructuredTensor.to_py."""
        return self._tensor.to_py()

    def __reduce__(self) -> Any:
        spec = self._tensor.spec
        return constant_value, (self._tensor.to_py(), spec)

    def _repr_html_(self) -> str:
        return self._tensor._repr_html_()

    def __repr__(self) -> str:
        names = ", ".join(self.field_names())
        return f"<columnstone.struct.StructuredTensorValue {self.shape} of {names}>"


@public_in("columnstone.struct")
def constant_value(value: object, spec: Spec | None = None) -> Any:
    """Like `constant`, with numpy values: a StructuredTensorValue for structs, a numpy array for
    plain values."""
    return value_of(constant(value, spec))


def value_of(tensor: StructuredBase) -> Any:
    import numpy as np

    if isinstance(tensor, StructuredTensor):
        return StructuredTensorValue(tensor)
    flat = tensor.flat_values._array
    if None not in tensor.shape and flat.null_count == 0:
        values = np.asarray(flat)
        if values.dtype != object:
            return values.reshape(tensor.shape)[()]
    dims: list[int] = []
    for dim in tensor.shape:
        if dim is None:
            break
        dims.append(dim)
    return _objects(np, tensor.to_py(), dims)[()]


def _objects(np: Any, values: Any, dims: list[int]) -> Any:
    made = np.empty(dims, object)
    for place in np.ndindex(*dims):
        item = values
        for i in place:
            item = item[i]
        made[place] = item
    return made
