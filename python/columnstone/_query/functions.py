"""Python functions in queries: element by element, over arrays of numpy or pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .._arrow.table import array
from .._base.errors import argument_error
from .._base.optional import need

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, TypeAlias

    Arrays: TypeAlias = Literal["numpy", "pyarrow"]

# Types of results: Arrow's format, numpy's dtype, pyarrow's factory.
_TYPES = {
    "bool": ("b", "bool", "bool_"),
    "int32": ("i", "int32", "int32"),
    "int64": ("l", "int64", "int64"),
    "float32": ("f", "float32", "float32"),
    "float64": ("g", "float64", "float64"),
    "string": ("U", "object", "large_string"),
    "bytes": ("Z", "object", "large_binary"),
}

_ONE_EACH = "it must return one value per element"


class Function:
    """A Python function in a query. The library's threads call it."""

    def __init__(
        self, fn: Callable[..., Any], type: str, arrays: Arrays, num_args: int, name: str
    ) -> None:
        if not callable(fn):
            raise TypeError(f"map takes a function or an expression, not {fn.__class__.__name__}")
        if type not in _TYPES:
            raise argument_error(
                f"unknown type {ascii(type)[:40]}",
                "type= is one of " + ", ".join(_TYPES),
            )
        if arrays not in ("numpy", "pyarrow"):
            raise argument_error(f"arrays is {ascii(arrays)[:40]}, expected numpy or pyarrow")
        self.fn = fn
        self.type = type
        self.arrays = arrays
        self.num_args = num_args
        self.name = name
        self.failures: list[tuple[bytes, BaseException]] = []  # the compiled part adds to it

    @property
    def format(self) -> str:
        """The Arrow type of the result."""
        return _TYPES[self.type][0]

    def add_to(self, query: _core.Query) -> _core.Query:
        return query.add_function(self.name, self.type, self.format, self.num_args, self)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "failures": []}

    def call(self, batch: _core.RecordBatch) -> object:
        """The results for the argument columns."""
        if self.arrays == "pyarrow":
            return self._call_pyarrow(batch)
        return self._call_numpy(batch)

    def _call_pyarrow(self, batch: _core.RecordBatch) -> object:
        pa = need("pyarrow", "a function of pyarrow's arrays")
        made = self.fn(*pa.record_batch(batch).columns)
        wanted = getattr(pa, _TYPES[self.type][2])()
        if isinstance(made, pa.ChunkedArray):
            made = made.combine_chunks()
        try:
            made = made.cast(wanted) if isinstance(made, pa.Array) else pa.array(made, wanted)
        except (pa.ArrowException, TypeError) as error:
            raise self._wrong(f"values that are not {self.type}") from error
        if len(made) != batch.num_rows:
            raise self._wrong(f"{len(made)} values for {batch.num_rows} elements", _ONE_EACH)
        return made

    def _call_numpy(self, batch: _core.RecordBatch) -> object:
        """Calls the function for the elements without null arguments: null in, null out."""
        np = need("numpy", "a function of numpy's arrays")
        columns = [batch.column(i) for i in range(batch.num_columns)]
        nulls = [np.asarray(c.null_mask(), bool) for c in columns if c.null_count > 0]
        if not nulls:
            return self._result(np, columns, batch.num_rows)
        rows = np.flatnonzero(~np.logical_or.reduce(nulls))
        made = self._result(np, [c.take(rows) for c in columns], len(rows))
        places = np.full(batch.num_rows, -1, "int64")
        places[rows] = np.arange(len(rows))
        return made.take([None if i < 0 else i for i in places.tolist()])

    def _result(self, np: Any, columns: list[_core.Array], length: int) -> _core.Array:
        made = np.asarray(self.fn(*[_numpy_of(np, column) for column in columns]))
        if made.shape != (length,):
            raise self._wrong(f"an array of shape {made.shape} for {length} elements", _ONE_EACH)
        if self.format in "UZ":
            return self._texts(made.tolist())
        kind = np.dtype(_TYPES[self.type][1])
        if made.dtype != kind and not np.can_cast(made.dtype, kind, "same_kind"):
            raise self._wrong(f"{made.dtype}, and its type is {self.type}")
        return array(made.astype(kind))

    def _texts(self, values: list[Any]) -> _core.Array:
        wanted = str if self.format == "U" else bytes
        for value in values:
            if value is not None and not isinstance(value, wanted):
                raise self._wrong(f"{type(value).__name__}, and its type is {wanted.__name__}")
        blank: Any = wanted()
        # The type is set even if all values are None.
        return array([*values, blank]).slice(0, len(values))

    def _wrong(self, gave: str, hint: str = "") -> Exception:
        name = getattr(self.fn, "__name__", "")
        return argument_error(f"the function {name} returned {gave}".replace("  ", " "), hint)


def _numpy_of(np: Any, column: _core.Array) -> Any:
    if column.schema.format in ("u", "U", "vu", "z", "Z", "vz"):
        return np.array([*column.to_pylist(), None], dtype=object)[:-1]
    return np.asarray(column)
