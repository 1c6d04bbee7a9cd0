"""What all sketches have in common: values in, merging, bytes."""

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
    """All kinds of sketches that there are: `name`, `summary`, and `options`, a list of structs of
    `name`, `kind`, `default` and `help`."""
    return _core.Sketch.all()[0]


@public_in("columnstone.sketch")
class Sketch:
    """What all sketches have in common. They are added to, merged in any tree, and saved as bytes;
    they can be pickled."""

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
        numpy array, a list. Lists in it are gone through; nulls are left out, and counted.

        weights: a number for each row of the column, which all values in it weigh.

        Raises UnsupportedError for a type that cannot be looked at, SchemaError for values of
        another family of types than before, ArgumentError for weights that are none.
        """
        if weights is not None:
            self._handle.add(array(values), array(weights))
        else:
            self._handle.add(values if is_arrow(values) else array(values), None)

    def merge(self, other: Self) -> None:
        """Adds what another sketch has, which is of the same options (else an ArgumentError). The
        other one stays as it is."""
        if type(other) is not type(self):
            raise TypeError(f"expected a {type(self).__name__}, not {type(other).__name__}")
        self._handle.merge(other._handle)

    @property
    def count(self) -> int:
        """How many values were added."""
        return self._handle.facts()[1]

    @property
    def nulls(self) -> int:
        """How many nulls were left out."""
        return self._handle.facts()[2]

    @property
    def memory(self) -> int:
        """Bytes of memory that it holds."""
        return self._handle.facts()[3]

    def __bytes__(self) -> bytes:
        return self._handle.save()

    @classmethod
    def from_bytes(cls, saved: bytes) -> Self:
        """A sketch from bytes(sketch). Raises CorruptError if they are damaged, UnsupportedError if
        another version of the library has saved them."""
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
    """An option's value as the library takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
