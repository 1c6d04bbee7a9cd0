"""The classes of structured tensors: structured tensors and leaf tensors."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, cast, overload

from .. import _core
from .._base.errors import UnsupportedError, argument_error
from .._base.public import public, public_in
from .conversions import Conversions, LeafConversions, StructConversions
from .paths import PathOperations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Self

    from .._core import Array
    from .._types import AnyStructured, Places
    from .spec import LeafSpec, Shape, StructuredTensorSpec


class _Structured(Conversions):
    """The Python part of both classes."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Self]:
        for i in range(len(self)):
            yield cast("Self", self[i])

    def _rows(self) -> Array:
        """An array with a row for each position of the outermost dimension; one row for a
        scalar."""
        if not self.is_row or self.rank == 0:
            return self._array
        if self._array.null_count > 0:
            raise UnsupportedError("the tensor is null and has no rows (call fill_null([]) first)")
        return self._array.flatten()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The tensor's rows as a pair of Arrow PyCapsules; no copy."""
        return self._rows().__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The tensor's rows as an Arrow stream of one chunk, for tables and data frames; no
        copy."""
        return _core.array_stream(self._rows())

    def __arrow_c_schema__(self) -> object:
        """The type of the tensor's rows as an Arrow PyCapsule."""
        is_list = self.is_row and self.rank > 0
        return (self.schema.children[0] if is_list else self.schema).__arrow_c_schema__()

    # ---- dimensions ----

    def merge_dims(self, outer: int, inner: int) -> Self:
        """See columnstone.struct.merge_dims."""
        from .arrange import merge_dims

        return cast("Self", merge_dims(self, outer, inner))

    def partition_outer_dimension(self, partition: int | Iterable[int]) -> Self:
        """See columnstone.struct.partition_outer_dimension."""
        from .arrange import partition_outer_dimension

        return cast("Self", partition_outer_dimension(self, partition))

    def row_lengths(self, axis: int = 1) -> LeafTensor:
        """See columnstone.struct.row_lengths."""
        from .arrange import row_lengths

        return cast("LeafTensor", row_lengths(self, axis))

    # ---- elements ----

    def combinations(self, *names: str) -> StructuredTensor:
        """See columnstone.struct.combinations."""
        from .compute import combinations

        return cast("StructuredTensor", combinations(self, *names))

    def run_lengths(self, by: str | tuple[str, ...] | None = None) -> StructuredTensor:
        """See columnstone.struct.run_lengths."""
        from .compute import run_lengths

        return cast("StructuredTensor", run_lengths(self, by))

    def gather(self, indices: object, axis: int | None = None, batch_dims: int = 0) -> Self:
        """See columnstone.struct.gather."""
        from .choose import gather

        return cast("Self", gather(self, indices, axis, batch_dims))

    def boolean_mask(self, mask: object, axis: int = 0) -> Self:
        """See columnstone.struct.boolean_mask."""
        from .choose import boolean_mask

        return cast("Self", boolean_mask(self, mask, axis))

    def mask(self, condition: object) -> Self:
        """See columnstone.struct.mask."""
        from .choose import mask

        return cast("Self", mask(self, condition))

    def reverse(self, axis: int | Sequence[int] = 0) -> Self:
        """See columnstone.struct.reverse."""
        from .choose import reverse

        return cast("Self", reverse(self, axis))

    # ---- nulls ----

    def is_null(self, path: str | tuple[str, ...] = "") -> LeafTensor:
        """See columnstone.struct.is_null."""
        from .nulls import is_null

        return cast("LeafTensor", is_null(self, path))

    def has(self, path: str | tuple[str, ...]) -> LeafTensor:
        """See columnstone.struct.has."""
        from .nulls import has

        return cast("LeafTensor", has(self, path))

    def fill_null(self, value: object) -> Self:
        """See columnstone.struct.fill_null."""
        from .nulls import fill_null

        return cast("Self", fill_null(self, value))

    def drop_null(self, path: str | tuple[str, ...] = "") -> Self:
        """See columnstone.struct.drop_null."""
        from .nulls import drop_null

        return cast("Self", drop_null(self, path))

    # ---- data frames ----
    def __repr__(self) -> str:
        from .._arrow import show

        return show.text(self)

    def _repr_html_(self) -> str:
        from .._arrow import show

        return show.html(self)

    def show_tree(
        self, max_depth: int | None = None, max_fields: int | None = 100, *, ascii: bool = False
    ) -> None:
        """Prints the type as a tree: a line for each field, followed by its own fields. Each
        dimension is a pair of brackets with the length, or with `*` if it is ragged; `?` marks
        nullable parts. Prints at most `max_depth` levels of fields (None: all; 1: only the tensor
        itself), and the first `max_fields` fields of each struct (None: all).
        """
        from .._arrow import show

        print(show.tree(self, max_depth, max_fields, ascii), end="")

    @property
    def spec(self) -> Any:
        """The spec that the Arrow type alone gives: a StructuredTensorSpec or a LeafSpec.
        Dimensions are None, unless the type has a fixed size."""
        from .spec import spec_of

        return spec_of(self.schema, self.is_row)

    def to_pandas(self) -> Any:
        """Converts the structs to a pandas.DataFrame, or plain values to a Series, with a row per
        element.

        The result of `from_pandas` is converted back to the original frame, as far as the values
        still allow; columns of any other origin have Arrow types (pandas.ArrowDtype). The field
        `_index_` becomes the row index. Without it, the labels of elements in several dimensions
        are their positions; a list without elements then has no rows. Numbers without nulls are not
        copied, and so are read-only (use DataFrame.copy() to write into them). UnsupportedError for
        data that a frame cannot represent: a scalar, a null element, a null list. Needs pandas and
        pyarrow.
        """
        from .pandas_frames import to_pandas

        return to_pandas(self)


@public
class StructuredTensor(StructConversions, _Structured, PathOperations):
    """Structs of one type, in any number of dimensions.

    >>> st = cst.struct.constant([{"id": 1, "event": [{"price": 2.5}]}, {"id": 2, "event": []}])
    >>> st.shape, st.field_names()
    ((2,), ('id', 'event'))
    >>> st["event", "price"].to_py()
    [[2.5], []]
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: Places | list[str] | list[int] | LeafTensor, /) -> Self: ...

        @overload
        def __getitem__(self, key: object, /) -> AnyStructured: ...

        def __getitem__(self, key: Any, /) -> Any: ...

    def field_value(self, name: str) -> AnyStructured:
        """The field with that name or path, for all structs. Its dimensions are those of this
        tensor followed by those of the field."""
        return self[name]

    @classmethod
    def from_firestore(cls, documents: Any) -> StructuredTensor:
        """Reads Firestore documents, one per row: a tensor of rank 1.

        documents: the JSON of the REST API, which many tools write: a document (a dict with
            "fields", whose values include their types, such as {"integerValue": "1"}), a list of
            documents, a page ({"documents": [...]}), or the answers to a query; or such JSON as
            text, also one per line. A path (os.PathLike) names a file of such text (*.json,
            *.jsonl), or a managed export: its folder, its metadata file or one of its files
            output-0, ...

        Each field of the documents becomes a field, null where a document lacks it. `__name__` is
        the resource name; `__create_time__` and `__update_time__` are added if they are given. Maps
        become structs, arrays and vectors lists, geo points structs of latitude and longitude,
        times UTC timestamps with microseconds, references strings. Integers and doubles can be
        mixed if that is exact.

        SchemaError with row and path for values of mixed types, and for values without a type (for
        documents of plain values, use from_json); CorruptError for text that is not JSON, and, with
        file and offset, for a damaged export or one with values that Firestore does not have (users
        of App Engine).
        """
        from .firestore import from_firestore

        return cast("StructuredTensor", from_firestore(documents))

    @property
    def spec(self) -> StructuredTensorSpec:
        """The spec that the Arrow type alone gives. Dimensions are None, unless the type has a
        fixed size."""
        return cast("StructuredTensorSpec", super().spec)

    @classmethod
    def constant(cls, value: object, spec: StructuredTensorSpec | None = None) -> StructuredTensor:
        """As `cst.struct.constant`, for structs."""
        from .constant import constant

        return _structured(constant(value, spec))

    @classmethod
    def from_arrow(cls, obj: object) -> StructuredTensor:
        """Converts Arrow data to a structured tensor: anything with __arrow_c_array__ or
        __arrow_c_stream__ (a batch, table, array or chunked array of pyarrow, a frame of Polars, a
        Source). The rows of a batch are a vector of structs; lists of structs add dimensions.

        Nothing is copied, unless there are several chunks, which are concatenated, or
        dictionary-encoded values. Foreign data is validated: CorruptError names the damaged place.
        """
        from .constant import from_arrow

        return _structured(from_arrow(obj))

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any], shape: Shape | None = None) -> StructuredTensor:
        """Creates structs from fields: name to value.

        fields: structured tensors, cst.tensor.Tensor and cst.tensor.RaggedTensor, arrays of numpy
            and Arrow (they are not copied, so do not write into them afterwards); or anything that
            `constant` accepts
        shape: the dimensions of the structs, with which the shape of every field begins; None for a
            dimension that is ragged or need not be checked. (): one struct. By default, the structs
            are the rows of the fields, as in a table, or one struct if a field is a scalar.

        ArgumentError, with field and row, if the fields differ in these dimensions.
        """
        from .fields import from_fields

        return _structured(from_fields(fields, shape))

    @classmethod
    def from_row_splits(cls, values: object, row_splits: object) -> StructuredTensor:
        """Divides structs into rows: row i contains values[row_splits[i]:row_splits[i + 1]]. The
        first split is 0, the last is the number of values. Nothing is copied."""
        from .fields import from_row_splits

        return _structured(from_row_splits(values, row_splits))

    @classmethod
    def from_pandas(cls, frame: Any) -> StructuredTensor:
        """Converts the rows of a pandas.DataFrame; each column becomes a field. `to_pandas`
        converts the result back to the same frame: dtypes, labels, categories and frequencies are
        kept in the metadata of the Arrow fields.

        A row index other than the default RangeIndex becomes the field `_index_`. With a
        hierarchical index (MultiIndex), every level is a dimension and a field of the struct
        `_index_`: consecutive rows with the same labels in the outer levels form one list. Rows are
        not reordered, so that labels that come again later form another list (call sort_index()
        first to get one list per label). Hierarchical columns become nested fields; an empty label
        at the end adds none. Labels that are not str are converted with str().

        NaN stays NaN in columns of floats. It becomes null in columns of strings, and in columns of
        objects unless these are numbers. Objects get the types that `cst.array` gives them: lists,
        tuples and arrays are lists, dicts are structs (a missing key of a dict comes back as None).
        Numbers of numpy, and Arrow-backed columns with one chunk, are not copied. Attributes
        (DataFrame.attrs) are lost.

        ArgumentError for two columns with the same name, and for a column named `_index_`;
        SchemaError or UnsupportedError, with the column, for values of mixed types or of types that
        Arrow does not have. Needs pandas and pyarrow.
        """
        from .pandas_frames import from_pandas

        return cast("StructuredTensor", from_pandas(frame))


@public_in("columnstone.struct")
class LeafTensor(LeafConversions, _Structured):
    """Numbers, strings or other plain values, in any number of dimensions, dense or ragged; any of
    them may be null."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __getitem__(self, key: object, /) -> Self: ...

    @property
    def spec(self) -> LeafSpec:
        """The spec that the Arrow type alone gives. Dimensions are None, unless the type has a
        fixed size."""
        return cast("LeafSpec", super().spec)

    # ---- comparisons: a bool for each value, null for null ----

    def __eq__(self, other: object) -> LeafTensor:  # type: ignore[override]
        return self._compare(other, operator.eq)

    def __ne__(self, other: object) -> LeafTensor:  # type: ignore[override]
        return self._compare(other, operator.ne)

    def __lt__(self, other: object) -> LeafTensor:
        return self._compare(other, operator.lt)

    def __le__(self, other: object) -> LeafTensor:
        return self._compare(other, operator.le)

    def __gt__(self, other: object) -> LeafTensor:
        return self._compare(other, operator.gt)

    def __ge__(self, other: object) -> LeafTensor:
        return self._compare(other, operator.ge)

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __bool__(self) -> bool:
        """The value of a scalar; a TypeError for other tensors, whose truth value is ambiguous."""
        if self.rank > 0:
            raise TypeError("the truth value of a tensor is ambiguous: use to_py() for its values")
        return bool(self.to_py())

    # ---- arithmetic as in queries: null for null; an overflow is an error ----

    __array_priority__ = 1000  # numpy leaves `array + tensor` to the tensor

    def __add__(self, other: object) -> LeafTensor:
        return self._operate("+", self, other)

    def __radd__(self, other: object) -> LeafTensor:
        return self._operate("+", other, self)

    def __sub__(self, other: object) -> LeafTensor:
        return self._operate("-", self, other)

    def __rsub__(self, other: object) -> LeafTensor:
        return self._operate("-", other, self)

    def __mul__(self, other: object) -> LeafTensor:
        return self._operate("*", self, other)

    def __rmul__(self, other: object) -> LeafTensor:
        return self._operate("*", other, self)

    def __truediv__(self, other: object) -> LeafTensor:
        return self._operate("/", self, other)

    def __rtruediv__(self, other: object) -> LeafTensor:
        return self._operate("/", other, self)

    def __floordiv__(self, other: object) -> LeafTensor:
        return self._operate("//", self, other)

    def __rfloordiv__(self, other: object) -> LeafTensor:
        return self._operate("//", other, self)

    def __mod__(self, other: object) -> LeafTensor:
        return self._operate("%", self, other)

    def __rmod__(self, other: object) -> LeafTensor:
        return self._operate("%", other, self)

    def __and__(self, other: object) -> LeafTensor:
        return self._operate("and", self, other)

    def __rand__(self, other: object) -> LeafTensor:
        return self._operate("and", other, self)

    def __or__(self, other: object) -> LeafTensor:
        return self._operate("or", self, other)

    def __ror__(self, other: object) -> LeafTensor:
        return self._operate("or", other, self)

    def __neg__(self) -> LeafTensor:
        return self._function("-{}")

    def __invert__(self) -> LeafTensor:
        return self._function("not {}")

    def __abs__(self) -> LeafTensor:
        return self._function("abs{}")

    def __pow__(self, other: object) -> LeafTensor:
        return self._operate("**", self, other)

    def __rpow__(self, other: object) -> LeafTensor:
        return self._operate("**", other, self)

    @staticmethod
    def _operate(name: str, x: object, y: object) -> LeafTensor:
        from .compute import operate

        return cast("LeafTensor", operate(name, x, y))

    def _function(self, call: str) -> LeafTensor:
        from .compute import function

        return cast("LeafTensor", function(call, self))

    # ---- aggregates: over all values, or over each innermost list (axis=-1) ----

    def sum(self, axis: int | None = None) -> LeafTensor:
        """The sum; 0 for no values. The sum of integers is int64 or uint64; for bools it is the
        number of true values."""
        return self._reduce("sum({}, per={})", axis)

    def mean(self, axis: int | None = None) -> LeafTensor:
        """The mean; null for no values."""
        return self._reduce("mean({}, per={})", axis)

    def min(self, axis: int | None = None) -> LeafTensor:
        """The smallest value, NaN if any value is NaN; null for no values."""
        return self._reduce("min({}, per={})", axis)

    def max(self, axis: int | None = None) -> LeafTensor:
        """The largest value, NaN if any value is NaN; null for no values."""
        return self._reduce("max({}, per={})", axis)

    def variance(self, axis: int | None = None) -> LeafTensor:
        """The population variance, as in numpy; null for no values."""
        return self._reduce("variance({}, per={})", axis)

    def std(self, axis: int | None = None) -> LeafTensor:
        """The square root of the variance; null for no values."""
        return self._reduce("std({}, per={})", axis)

    def argmin(self, axis: int | None = None) -> LeafTensor:
        """The position of the smallest value, from 0; the first one of equal values; null for no
        values."""
        return self._reduce("argmin({}, per={})", axis)

    def argmax(self, axis: int | None = None) -> LeafTensor:
        """The position of the largest value, from 0; the first one of equal values; null for no
        values."""
        return self._reduce("argmax({}, per={})", axis)

    def any(self, axis: int | None = None) -> LeafTensor:
        """Whether any value is true; nulls are skipped."""
        return self._reduce("any({}, per={})", axis)

    def all(self, axis: int | None = None) -> LeafTensor:
        """Whether no value is false; nulls are skipped."""
        return self._reduce("all({}, per={})", axis)

    def count(self, axis: int | None = None) -> LeafTensor:
        """The number of values that are not null."""
        return self._reduce("count({}, per={})", axis)

    def count_distinct(self, axis: int | None = None) -> LeafTensor:
        """The number of distinct values without nulls."""
        return self._reduce("count_distinct({}, per={})", axis)

    def quantile(self, q: float, axis: int | None = None) -> LeafTensor:
        """The quantile: 0.5 is the median; linear between two values."""
        return self._reduce(f"quantile({{}}, {float(q)!r}, per={{}})", axis)

    def cumulative_sum(self) -> LeafTensor:
        """The cumulative sum of each innermost list, up to and including each element; null for a
        null, which is skipped."""
        from .compute import along

        return cast("LeafTensor", along("cumulative_sum({})", self))

    def _reduce(self, call: str, axis: int | None) -> LeafTensor:
        from .compute import reduce

        return cast("LeafTensor", reduce(call, self, axis))

    def _compare(self, other: object, operation: Callable[[Any, Any], Any]) -> LeafTensor:
        from .apply import compare

        return cast("LeafTensor", compare(self, other, operation))


def _structured(tensor: object) -> StructuredTensor:
    if isinstance(tensor, StructuredTensor):
        return tensor
    hint = "for leaf tensors, use cst.struct.constant and related functions"
    raise argument_error("found plain values, expected structs", hint)


_core.structured_classes(StructuredTensor, LeafTensor)
