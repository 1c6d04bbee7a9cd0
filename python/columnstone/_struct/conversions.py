"""The methods of structured tensors that convert them to other types, or create them from other
types.

Their implementations are in dense.py, to_frameworks.py, from_frameworks.py, awkward_arrays.py and
as_json.py, which are imported when they are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._core import StructuredBase

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence
    from typing import Self, TypeAlias

    import numpy.typing as npt

    from .._core import AnyStructured, Array, RecordBatch, Tensor
    from .._tensor.tensor import RaggedTensor
    from .._types import JaxTensor, TorchTensor

    Path: TypeAlias = str | tuple[str, ...]
    Fill: TypeAlias = object  # a value, or values by path, as fill_null() takes them


class Conversions(StructuredBase):
    """Conversions of both kinds of structured tensors."""

    __slots__ = ()

    def to_padded(self, value: Any = 0, shape: Sequence[int | None] | None = None) -> Any:
        """Converts to a dense tensor: each row gets the length of the longest row, filled with
        `value`.

        shape: the length of every dimension, None for the longest; longer rows are truncated.

        For strings, 0 is the empty string. value=None fills with nulls, which is the only way for
        structs. Null elements remain null. Null lists are an ArgumentError that names the first:
        `fill_null([])` makes them empty.
        """
        from .dense import to_padded

        return to_padded(self, value, shape)

    def to_torch(self, *, fill: Fill = None) -> TorchTensor | dict[str, TorchTensor]:
        """Converts to PyTorch. Dense: a tensor, without a copy (do not write into it). Ragged only
        in the second dimension: a jagged nested tensor. With more ragged dimensions, which jagged
        tensors do not support: a RaggedTensor with torch tensors as parts. Strings: a StringTensor.
        A structured tensor: a dict of its fields.

        fill: call `fill_null(fill)` first.

        Torch has no nulls: a null is an ArgumentError with the path of the field. Dates and other
        types that torch does not have are an UnsupportedError.
        """
        from .to_frameworks import filled, to_torch

        return to_torch(filled(self, fill))

    def to_jax(self, *, fill: Fill = None) -> JaxTensor | dict[str, JaxTensor]:
        """Converts to JAX. Dense: an array. Ragged: a RaggedTensor of JAX arrays. Strings: numpy
        arrays of bytes objects. A structured tensor: a dict of its fields, so that the result is a
        pytree.

        Without jax_enable_x64, as `cst.tensor.to_jax`. `fill` and nulls: as for to_torch.
        """
        from .to_frameworks import filled, to_jax

        return to_jax(filled(self, fill))

    def to_tensorflow(self, *, fill: Fill = None) -> Any:
        """Converts to TensorFlow: a tf.Tensor, a tf.RaggedTensor with known uniform dimensions, or
        a tf.experimental.StructuredTensor.

        TensorFlow's field names are letters, digits and underscores, beginning with a letter; other
        names are an ArgumentError. `fill` and nulls: as for to_torch.
        """
        from .to_frameworks import filled, to_tensorflow

        return to_tensorflow(filled(self, fill))

    def to_awkward(self) -> Any:
        """Converts to an ak.Array (a scalar: an ak.Record, or its value), without a copy. Data
        without nulls has no option type, unlike in `ak.from_arrow(pyarrow.array(tensor))`."""
        from .awkward_arrays import to_awkward

        return to_awkward(self)

    def to_json(
        self, path: str | os.PathLike[str] | None = None, *, lines: bool = True
    ) -> str | None:
        """Converts to JSON text. A scalar is one value (an object, for a struct); other tensors
        have one line for each row or, with lines=False, one list. `cst.struct.from_json` reads such
        a list back exactly, even with one row or none.

        Values are written as `cst.write` does: bytes that are not UTF-8 as {"base64": ...}, NaN and
        infinities as strings. Dates and times are an UnsupportedError.

        path: a path, a URL or a binary file object for the text, written as a `Writer` does: an
            existing file is replaced when the new one is complete, and the ending of the name
            selects the compression. None: the text is returned."""
        from .as_json import to_json

        return to_json(self, path, lines)

    # Tensors are immutable, so that a tensor can be its own copy.

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Array | RecordBatch, bool]]:
        return _core.structured, (self._array, self.is_row)


class LeafConversions(Conversions):
    """Conversions of leaf tensors."""

    __slots__ = ()

    if TYPE_CHECKING:

        def to_torch(self, *, fill: Fill = None) -> TorchTensor: ...

        def to_jax(self, *, fill: Fill = None) -> JaxTensor: ...

    def numpy(self) -> npt.NDArray[Any]:
        """Converts a dense tensor to a numpy array of its shape. It is read-only, and not a copy if
        the values are contiguous; bool and times are copied, strings are objects.

        Ragged dimensions and nulls are an ArgumentError: use `to_padded()`, `fill_null()`, or
        `numpy.asarray(tensor, dtype=object)`, which has lists for ragged rows and None for null.
        """
        from .dense import to_numpy

        return to_numpy(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Called by numpy.asarray(tensor)."""
        from .dense import to_numpy

        return to_numpy(self, dtype, copy)

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The values of a dense tensor without nulls, for torch.from_dlpack and others, as with
        Tensor."""
        from .dense import to_dlpack

        return to_dlpack(
            self,
            stream=stream,
            max_version=max_version,
            dl_device=dl_device,
            copy=copy,
        )

    def __dlpack_device__(self) -> tuple[Any, int]:
        """(1, 0): the CPU."""
        return 1, 0

    def to_tensor(self) -> Tensor | RaggedTensor:
        """Converts to the tensors that sources and datasets return: a Tensor if it is dense,
        otherwise a RaggedTensor, whose values have the uniform inner dimensions. Numbers are not
        copied.

        Supports integers, float32, float64 and strings; other types are an UnsupportedError. Nulls
        are an ArgumentError.
        """
        from .dense import to_tensor

        return to_tensor(self)


class StructConversions(Conversions):
    """Conversions to and from structured tensors."""

    __slots__ = ()

    if TYPE_CHECKING:

        def to_torch(self, *, fill: Fill = None) -> dict[str, TorchTensor]: ...

        def to_jax(self, *, fill: Fill = None) -> dict[str, JaxTensor]: ...

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """A TypeError: structs cannot become a numpy array, but their fields can."""
        raise TypeError("structs cannot become a numpy array: choose a field, such as st['name']")

    def to_keyed_jagged(
        self, keys: Iterable[Path], weights: Iterable[Path] | None = None, *, fill: Fill = None
    ) -> Any:
        """Converts lists of ids to a TorchRec KeyedJaggedTensor.

        keys: the fields, with lists of numbers in each row (of a tensor of rank 1), or single
            numbers; the key of a path is its steps joined with dots.
        weights: a field for each key, with the same length in every row (otherwise an ArgumentError
            names the row).
        fill: call `fill_null(fill)` first; null lists and null ids are an ArgumentError.

        The reverse is from_keyed_jagged.
        """
        from .to_frameworks import filled, to_keyed_jagged

        return to_keyed_jagged(filled(self, fill), keys, weights)

    @classmethod
    def from_keyed_jagged(cls, tensor: Any) -> AnyStructured:
        """Converts a TorchRec KeyedJaggedTensor: a row per example, a list field per key, and the
        weights of a key, if any, as the field `KEY_weights`."""
        from .from_frameworks import from_keyed_jagged

        return cast("AnyStructured", from_keyed_jagged(tensor))

    @classmethod
    def from_tensorflow(cls, tensor: Any) -> AnyStructured:
        """Converts a tf.experimental.StructuredTensor of any rank; a tf.Tensor or tf.RaggedTensor
        becomes a LeafTensor. Uniform dimensions stay uniform (fixed_size_list), strings are
        bytes."""
        from .from_frameworks import from_tensorflow

        return cast("AnyStructured", from_tensorflow(tensor))

    @classmethod
    def from_awkward(cls, array: Any) -> AnyStructured:
        """Converts an ak.Array of records, or an ak.Record; without records, the result is a
        LeafTensor. Nothing is copied if Awkward's layout is also one of Arrow's. Tuples become
        structs of "0", "1", ... A union is a SchemaError with its path."""
        from .awkward_arrays import from_awkward

        return cast("AnyStructured", from_awkward(array))
