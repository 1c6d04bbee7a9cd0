"""The methods of structured tensors that make something else of them, or them of something else.

What they do stands in dense.py, to_frameworks.py, from_frameworks.py, awkward_arrays.py and
as_json.py, which are loaded when they are needed.
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
    """What both kinds of structured tensors can become."""

    __slots__ = ()

    def to_padded(self, value: Any = 0, shape: Sequence[int | None] | None = None) -> Any:
        """A dense tensor: each row as long as the longest, filled up with `value`.

        shape: the length of every dimension, None for the longest; longer rows are cut off.

        For strings, 0 is the empty one. value=None fills up with nulls, which is the only way for
        structs. Elements that are null stay so. Null lists are an ArgumentError that names the
        first: `fill_null([])` makes them empty.
        """
        from .dense import to_padded

        return to_padded(self, value, shape)

    def to_torch(self, *, fill: Fill = None) -> TorchTensor | dict[str, TorchTensor]:
        """In PyTorch. Dense: a tensor, without a copy (do not write into it). Ragged in one
        dimension, the second: a jagged nested tensor. With more ragged dimensions, of which jagged
        tensors have one: a RaggedTensor whose parts are torch tensors. Strings: a StringTensor. A
        structured tensor: a dict of its fields.

        fill: first `fill_null(fill)`.

        Torch has no nulls: one is an ArgumentError with the field's path. Dates and other types
        that torch has not are an UnsupportedError.
        """
        from .to_frameworks import filled, to_torch

        return to_torch(filled(self, fill))

    def to_jax(self, *, fill: Fill = None) -> JaxTensor | dict[str, JaxTensor]:
        """In JAX. Dense: an array. Ragged: a RaggedTensor of JAX arrays. Strings: numpy arrays of
        bytes objects. A structured tensor: a dict of its fields, so that all of it is a pytree.

        Without jax_enable_x64, as `cst.tensor.to_jax`. `fill` and nulls: as to_torch.
        """
        from .to_frameworks import filled, to_jax

        return to_jax(filled(self, fill))

    def to_tensorflow(self, *, fill: Fill = None) -> Any:
        """In TensorFlow: a tf.Tensor, a tf.RaggedTensor in which uniform dimensions are known as
        such, or a tf.experimental.StructuredTensor.

        TensorFlow's names of fields are letters, digits and underscores and begin with a letter;
        others are an ArgumentError. `fill` and nulls: as to_torch.
        """
        from .to_frameworks import filled, to_tensorflow

        return to_tensorflow(filled(self, fill))

    def to_awkward(self) -> Any:
        """As an ak.Array (a scalar: an ak.Record, or its value), without a copy. What has no nulls
        is no option type, unlike in `ak.from_arrow(pyarrow.array(tensor))`."""
        from .awkward_arrays import to_awkward

        return to_awkward(self)

    def to_json(
        self, path: str | os.PathLike[str] | None = None, *, lines: bool = True
    ) -> str | None:
        """As JSON text: a scalar is one value (an object, for a struct), a tensor a line for each
        row; or, with lines=False, one list, which `cst.struct.from_json` reads for what it was even
        if it has one row, or none.

        Values are spelled as `cst.write` spells them: bytes that are not UTF-8 as {"base64": ...},
        NaN and infinities as strings. Dates and times are an UnsupportedError.

        path: a path, a URL or a binary file object that the text is written to, as a `Writer` does
            it: a file that is there is replaced when the new one is complete, and the ending of the
            name tells the compression. None: the text is returned."""
        from .as_json import to_json

        return to_json(self, path, lines)

    # Nobody can write to a tensor, so that it can be its own copy.

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Array | RecordBatch, bool]]:
        return _core.structured, (self._array, self.is_row)


class LeafConversions(Conversions):
    """What leaf tensors can become."""

    __slots__ = ()

    if TYPE_CHECKING:

        def to_torch(self, *, fill: Fill = None) -> TorchTensor: ...

        def to_jax(self, *, fill: Fill = None) -> JaxTensor: ...

    def numpy(self) -> npt.NDArray[Any]:
        """A dense tensor as a numpy array of its shape: read-only and without a copy where the
        values lie one after the other; bool and times are copied, strings are objects.

        Ragged dimensions and nulls are an ArgumentError: `to_padded()`, `fill_null()`, or
        `numpy.asarray(tensor, dtype=object)`, in which ragged rows are lists and null is None.
        """
        from .dense import to_numpy

        return to_numpy(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """What numpy.asarray(tensor) calls."""
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
        """The values of a dense tensor without nulls for torch.from_dlpack and others; as that of
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
        """The kind of tensor that sources and datasets give: a Tensor if it is dense, else a
        RaggedTensor, whose values have the uniform inner dimensions. Numbers are not copied.

        Integers, float32, float64 and strings; others are an UnsupportedError. Nulls are an
        ArgumentError.
        """
        from .dense import to_tensor

        return to_tensor(self)


class StructConversions(Conversions):
    """What structured tensors can become, and what they are made of."""

    __slots__ = ()

    if TYPE_CHECKING:

        def to_torch(self, *, fill: Fill = None) -> dict[str, TorchTensor]: ...

        def to_jax(self, *, fill: Fill = None) -> dict[str, JaxTensor]: ...

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """A TypeError: structs are no array of numpy, their fields are."""
        raise TypeError("structs are no array of numpy: take a field, such as st['name']")

    def to_keyed_jagged(
        self, keys: Iterable[Path], weights: Iterable[Path] | None = None, *, fill: Fill = None
    ) -> Any:
        """Lists of ids as a KeyedJaggedTensor of TorchRec.

        keys: the fields, lists of numbers in each row (of a tensor of rank 1), or single numbers;
            a path's key is its steps with dots.
        weights: a field for each key, which is as long in every row (else an ArgumentError names
            the row).
        fill: first `fill_null(fill)`; null lists and null ids are an ArgumentError.

        The other way round: from_keyed_jagged.
        """
        from .to_frameworks import filled, to_keyed_jagged

        return to_keyed_jagged(filled(self, fill), keys, weights)

    @classmethod
    def from_keyed_jagged(cls, tensor: Any) -> AnyStructured:
        """A KeyedJaggedTensor of TorchRec: a row per example, a list field per key, and the weights
        of a key, if there are some, as the field `KEY_weights`."""
        from .from_frameworks import from_keyed_jagged

        return cast("AnyStructured", from_keyed_jagged(tensor))

    @classmethod
    def from_tensorflow(cls, tensor: Any) -> AnyStructured:
        """A tf.experimental.StructuredTensor of any rank; a tf.Tensor or tf.RaggedTensor becomes a
        LeafTensor. Uniform dimensions stay so (fixed_size_list), strings are bytes."""
        from .from_frameworks import from_tensorflow

        return cast("AnyStructured", from_tensorflow(tensor))

    @classmethod
    def from_awkward(cls, array: Any) -> AnyStructured:
        """An ak.Array of records, or an ak.Record; without records it becomes a LeafTensor. No
        copy where Awkward's layout is one of Arrow's. Tuples are structs of "0", "1", ... A union
        is a SchemaError with its path."""
        from .awkward_arrays import from_awkward

        return cast("AnyStructured", from_awkward(array))
