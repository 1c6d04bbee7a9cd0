"""The common part of all sketches: adding values, merging, bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .. import _core
from .._arrow.objects import is_arrow
from .._arrow.table import array
from .._base.errors import argument_error
from .._base.markup import facts, or_text, titled
from .._base.public import public_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self


@public_in("columnstone.sketch")
def sketches() -> _core.RecordBatch:
    """Lists all kinds of sketches: `name`, `summary`, and `options`, a list of structs of `name`,
    `kind`, `default` and `help`."""
    return _core.Sketch.all()[0]


@public_in("columnstone.sketch")
class Sketch:
    """The common part of all sketches. You can add values to a sketch, merge sketches in any order,
    save them as bytes, and pickle them."""

    __slots__ = ("_handle",)
    _handle: _core.Sketch
    _kind: ClassVar[str]

    def __init__(self, **options: object) -> None:
        given = ((name, value) for name, value in options.items() if value is not None)
        self._handle = _core.Sketch.new(
            self._kind, tuple((name, _text_of(value)) for name, value in given)
        )

    def add(self, values: Any, weights: Any = None) -> None:
        """Adds the values of a column: anything with __arrow_c_array__ or __arrow_c_stream__, a
        numpy array, or a list. Values inside lists are added too. Nulls are skipped and counted.

        weights: a number for each row of the column; all values of that row have this weight.

        Raises UnsupportedError for an unsupported type, SchemaError for values of another family of
        types than before, ArgumentError for invalid weights.
        """
        if weights is not None:
            self._handle.add(array(values), array(weights))
        else:
            self._handle.add(values if is_arrow(values) else array(values), None)

    def merge(self, other: Self) -> None:
        """Adds the values of another sketch, which does not change. ArgumentError if its options
        differ."""
        if type(other) is not type(self):
            raise TypeError(f"expected a {type(self).__name__}, not {type(other).__name__}")
        self._handle.merge(other._handle)

    @property
    def count(self) -> int:
        """The number of values that were added."""
        return self._handle.facts()[1]

    @property
    def nulls(self) -> int:
        """The number of nulls that were skipped."""
        return self._handle.facts()[2]

    @property
    def memory(self) -> int:
        """The memory in use, in bytes."""
        return self._handle.facts()[3]

    def __bytes__(self) -> bytes:
        return self._handle.save()

    @classmethod
    def from_bytes(cls, saved: bytes) -> Self:
        """Loads a sketch from bytes(sketch). Raises CorruptError if they are damaged,
        UnsupportedError if a later version of the library saved them."""
        handle = _core.Sketch.load(bytes(saved))
        kind = handle.facts()[0]
        if kind != cls._kind:
            raise argument_error(f"these bytes are a sketch of {kind}, not of {cls._kind}")
        made = object.__new__(cls)
        made._handle = handle
        return made

    def __reduce__(self) -> tuple[Callable[[bytes], Self], tuple[bytes]]:
        return type(self).from_bytes, (bytes(self),)

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__}: {self.count} values>"

    @or_text
    def _repr_html_(self) -> str:
        counts = (("values", self.count), ("nulls", self.nulls), ("bytes of memory", self.memory))
        known = facts((name, f"{count:,}") for name, count in counts)
        return titled(type(self).__name__, known)


def _text_of(value: object) -> str:
    """The value of an option for the library."""
    return str(value).lower() if isinstance(value, bool) else str(value)
