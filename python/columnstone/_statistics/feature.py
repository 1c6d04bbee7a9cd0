"""The statistics of one feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from .. import _core
from .._base.errors import argument_error
from .._base.markup import facts, or_text, titled
from .._base.public import public_in
from .._sketch.distinct import Distinct
from .._sketch.heavy_hitters import HeavyHitters
from .._sketch.quantiles import Quantiles

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from .._sketch.sketch import Sketch
    from .table import Table

_Value = TypeVar("_Value")
_SKETCHES: dict[str, type[Sketch]] = {
    "quantiles": Quantiles,
    "heavy_hitters": HeavyHitters,
    "distinct": Distinct,
}


class _Column(Generic[_Value]):
    """A column of the table as an attribute."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, feature: None, owner: type) -> Self: ...
    @overload
    def __get__(self, feature: FeatureStatistics, owner: type) -> _Value: ...
    def __get__(self, feature: FeatureStatistics | None, owner: type) -> Self | _Value:
        if feature is None:
            return self
        value: _Value = feature._row[self._name]
        return value


@public_in("columnstone.stats")
class FeatureStatistics:
    """The statistics of one feature, for all rows or for a slice. Attributes have the names of the
    columns of the table (docs/statistics.md), and are None if a number does not apply."""

    __slots__ = ("_number", "_row", "_table")

    path: _Column[str] = _Column[str]('"a.b" for a field of a struct.')
    type: _Column[str] = _Column[str](
        "NULL, BOOL, INT, UINT, FLOAT, TIME, STRING, BYTES, STRUCT or OTHER."
    )
    rows: _Column[int] = _Column[int]("The number of rows, or of structs with this field.")
    present: _Column[int] = _Column[int]("The number of rows in which it is not null.")
    rows_weight: _Column[float | None] = _Column["float | None"]("The total weight of the rows.")
    present_weight: _Column[float | None] = _Column["float | None"](
        "The total weight of the rows in which it is not null."
    )
    values: _Column[int] = _Column[int]("The number of values that are not null, in all lists.")
    values_weight: _Column[float | None] = _Column["float | None"](
        "The total weight of values; for numbers, of finite values."
    )
    levels: _Column[list[dict[str, Any]]] = _Column["list[dict[str, Any]]"](
        "The nesting levels of its lists, the outermost first."
    )
    lengths: _Column[list[float]] = _Column["list[float]"](
        "The deciles of the lengths of the outermost lists."
    )
    mean: _Column[float | None] = _Column["float | None"](
        "The mean of numbers, without NaN and infinities."
    )
    std_dev: _Column[float | None] = _Column["float | None"](
        "The standard deviation of the population."
    )
    zeros: _Column[int | None] = _Column["int | None"]("The number of zeros.")
    negatives: _Column[int | None] = _Column["int | None"]("The number of finite values below 0.")
    nan: _Column[int | None] = _Column["int | None"]("The number of NaN.")
    plus_infinity: _Column[int | None] = _Column["int | None"](
        "The number of values that are +infinity."
    )
    minus_infinity: _Column[int | None] = _Column["int | None"](
        "The number of values that are -infinity."
    )
    histogram: _Column[list[dict[str, float]]] = _Column["list[dict[str, float]]"](
        "Bins of equal width: low, high, weight."
    )
    weighted_mean: _Column[float | None] = _Column["float | None"]("The weighted mean.")
    weighted_std_dev: _Column[float | None] = _Column["float | None"](
        "The weighted standard deviation."
    )
    weighted_histogram: _Column[list[dict[str, float]]] = _Column["list[dict[str, float]]"](
        "The weighted histogram."
    )
    mean_length: _Column[float | None] = _Column["float | None"](
        "The total size of strings and bytes, in bytes."
    )
    min_length: _Column[int | None] = _Column["int | None"](
        "The size of the shortest value, in bytes."
    )
    max_length: _Column[int | None] = _Column["int | None"](
        "The size of the longest value, in bytes."
    )
    weighted_mean_length: _Column[float | None] = _Column["float | None"]("The weighted mean size.")
    mean_tokens: _Column[float | None] = _Column["float | None"]("The number of words in strings.")
    not_utf8: _Column[int | None] = _Column["int | None"](
        "The number of values that are not valid text."
    )
    distinct: _Column[float | None] = _Column["float | None"]("The number of distinct values.")
    pairs: _Column[list[dict[str, Any]]] = _Column["list[dict[str, Any]]"](
        "Relations to other columns."
    )

    def __init__(self, table: Table, number: int) -> None:
        self._table = table
        self._number = number
        self._row = table.rows[number]

    @property
    def slice(self) -> dict[str, str]:
        """The values of the features that define the slice; empty: all rows."""
        return {part["path"]: part["value"] for part in self._row["slice"]}

    @property
    def missing(self) -> int:
        """The number of rows in which it is null."""
        return self.rows - self.present

    @property
    def min(self) -> int | float | None:
        """The smallest number (exact)."""
        return self._extreme("min")

    @property
    def max(self) -> int | float | None:
        """The largest number (exact)."""
        return self._extreme("max")

    def _extreme(self, name: str) -> int | float | None:
        exact, number = self._row[f"exact_{name}"], self._row[name]
        if exact is not None:
            return int(exact)
        return number if number is None or self.type == "FLOAT" else int(number)

    @property
    def median(self) -> int | float | None:
        """The median of the numbers."""
        return self.quantiles([0.5])[0]

    @property
    def distinct_bounds(self) -> tuple[float, float] | None:
        """Bounds that contain the number of distinct values with high probability."""
        low, high = self._row["distinct_low"], self._row["distinct_high"]
        return None if low is None or high is None else (low, high)

    def sketch(self, kind: str, *, weighted: bool = False) -> Sketch:
        """Returns a copy of a sketch of its values (columnstone.sketch): "quantiles" for numbers,
        "heavy_hitters" for all types but floats, "distinct". weighted: use the values with their
        weights. UnsupportedError for a feature without such values."""
        handle = _core.statistics_sketch(self._table.sketched(), self._number, kind, weighted)
        made = object.__new__(_SKETCHES[kind])
        made._handle = handle
        return made

    def quantiles(
        self, ranks: Sequence[float], *, weighted: bool = False
    ) -> list[int] | list[float] | list[None]:
        """Returns for each rank, from 0 to 1, the smallest number with at least that rank; None if
        there are no numbers. Without sketches, the quantiles in the table are used.
        """
        bounds = self._row["weighted_quantiles" if weighted else "quantiles"]
        if not bounds:
            return [None] * len(ranks)
        if self._table.has_sketches:
            found = self.sketch("quantiles", weighted=weighted)
            assert isinstance(found, Quantiles)
            return found.quantiles(ranks)
        for rank in ranks:
            if not 0 <= rank <= 1:
                raise argument_error(f"the rank {rank} is not between 0 and 1")
        return [bounds[round(rank * (len(bounds) - 1))] for rank in ranks]

    def top(self, most: int = 10, *, weighted: bool = False) -> list[tuple[Any, float, float]]:
        """The most frequent values: (value, lower, upper), where lower and upper are bounds of the
        count, or of the weight. Empty for floats."""
        told = self._row["weighted_top" if weighted else "top"]
        if not told or not self._table.has_sketches:
            return [(one["value"], one["lower"], one["upper"]) for one in told[:most]]
        found = self.sketch("heavy_hitters", weighted=weighted)
        assert isinstance(found, HeavyHitters)
        values = found.top(most)
        if self.type == "BOOL":
            return [(bool(value), lower, upper) for value, lower, upper in values]
        return values

    def to_dict(self) -> dict[str, Any]:
        """The row of the table."""
        return dict(self._row)

    def __repr__(self) -> str:
        of = ", ".join(f"{path}={value}" for path, value in self.slice.items())
        name = f"{self.path} of {of}" if of else self.path
        return f"<{name}: {self.type}, present in {self.present} of {self.rows} rows>"

    @or_text
    def _repr_html_(self) -> str:
        of = ", ".join(f"{path}={value}" for path, value in self.slice.items())
        known: list[tuple[str, object]] = [
            ("type", self.type),
            ("present", f"{self.present:,} of {self.rows:,} rows"),
            ("mean", self.mean),
            ("standard deviation", self.std_dev),
            ("zeros", self.zeros),
            ("distinct", self.distinct),
            ("shortest", self.min_length),
            ("longest", self.max_length),
        ]
        return titled(f"{self.path} of {of}" if of else self.path, facts(known))
