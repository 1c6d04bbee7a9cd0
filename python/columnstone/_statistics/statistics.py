"""Statistics, and how they are computed."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .. import _core
from .._arrow.objects import is_arrow
from .._arrow.table import record_batch
from .._base.errors import NotFoundError, argument_error
from .._base.markup import or_text, table, titled
from .._base.public import public, public_in
from .._schema.schema import as_core
from .._source.accumulate import AnyAccumulator, settings
from .comparison import Comparison
from .feature import FeatureStatistics
from .notebook import framed
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from .._schema.schema import SchemaLike


def _text(value: object) -> str:
    """A value of a slice as text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@public_in("columnstone.stats")
class Features(Mapping[str, FeatureStatistics]):
    """The features of all rows or of a slice, by their paths."""

    __slots__ = ("_places", "_table")

    def __init__(self, table: Table, places: dict[str, int]) -> None:
        self._table = table
        self._places = places

    def __getitem__(self, path: str) -> FeatureStatistics:
        number = self._places.get(path)
        if number is None:
            near = difflib.get_close_matches(str(path), self._places, 1)
            meant = f" (did you mean {near[0]!r}?)" if near else ""
            raise KeyError(f"there is no feature {path!r}{meant}")
        return FeatureStatistics(self._table, number)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"<columnstone.stats.Features: {', '.join(self._places)}>"

    @or_text
    def _repr_html_(self) -> str:
        rows = [
            (one.path, one.type, one.present, one.rows, one.mean, one.distinct)
            for one in self.values()
        ]
        names = ("feature", "type", "present", "rows", "mean", "distinct")
        return titled(f"Features, {len(self):,}", table(names, rows))


class Tells(Mapping[str, FeatureStatistics]):
    """An object with a table of features. As a mapping, it contains the features of all rows by
    path. Any Arrow library accepts it as the table (docs/statistics.md)."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return object.__hash__(self)

    @property
    def _table(self) -> Table:
        raise NotImplementedError

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return self._table.totals["num_rows"]

    @property
    def totals(self) -> dict[str, int]:
        """The totals of the table."""
        return dict(self._table.totals)

    def to_arrow(self) -> _core.RecordBatch:
        """The table: one row for each feature of all rows, then of each slice."""
        return self._table.batch

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self._table.batch.__arrow_c_array__(requested_schema)

    def to_pandas(self) -> Any:
        """The table as a data frame."""
        return self._table.batch.to_pandas()

    # Features

    def __getitem__(self, path: str) -> FeatureStatistics:
        return self._features()[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.places[()])

    def __len__(self) -> int:
        return len(self._table.places[()])

    def _features(self) -> Features:
        return Features(self._table, self._table.places[()])

    @property
    def slices(self) -> list[dict[str, str]]:
        """The slices: the values of the `by` columns of each."""
        return [dict(key) for key in self._table.places if key]

    def slice(self, values: Mapping[str, Any] | None = None, **more: Any) -> Features:
        """The features of a slice: slice(company="Blue", hour=7). Pass a mapping if a name is not a
        Python identifier. NotFoundError if there is no such slice."""
        named = {**(values or {}), **more}
        wanted = tuple(sorted((path, _text(value)) for path, value in named.items()))
        places = self._table.places.get(wanted) if wanted else None
        if places is None:
            told = ", ".join(f"{path}={value!r}" for path, value in wanted)
            raise NotFoundError(f"there is no slice of {told}", hint="`slices` lists them")
        return Features(self._table, places)

    # Comparing and displaying

    def compare(self, after: Tells, schema: SchemaLike | None = None, **options: Any) -> Comparison:
        """Compares these statistics with later ones (docs/drift.md).

        schema: a schema whose comparators and constraints are the thresholds.
        options: kind="drift", "skew" or "version" selects the comparators. linf,
            normalized_abs_difference, jensen_shannon, psi, ks, presence and rows are thresholds for
            all features. slices=True compares slices too.

        >>> before = cst.statistics({"fare": [1.0, 2.0, 3.0]})
        >>> after = cst.statistics({"fare": [10.0, 20.0, 30.0]})
        >>> before.compare(after).worst(1)[0].path
        'fare'
        """
        given = tuple((name, _text(value)) for name, value in options.items() if value is not None)
        two = (self.to_arrow(), after.to_arrow())
        return Comparison(_core.statistics_compare(*two, as_core(schema), given), two)

    def to_tfdv(self, name: str | None = None) -> bytes:
        """The statistics as TFDV's serialized DatasetFeatureStatisticsList (docs/tfdv.md)."""
        return _core.statistics_to_tfdv((self.to_arrow(),), (name,))

    def to_html(self, name: str = "data") -> str:
        """The statistics as one self-contained HTML page (docs/statistics-page.md)."""
        return _core.statistics_page((self.to_arrow(),), (name,), None).decode()

    def _repr_html_(self) -> str:
        return framed(self.to_html())

    def plot(self, path: str, *, weighted: bool = False, ax: Any = None) -> Any:
        """Plots a feature with matplotlib and returns the axes."""
        from .plot import plot

        return plot(self[path], weighted, ax)


@public_in("columnstone.stats")
class FeatureTable(Tells):
    """Read-only statistics from a table or from another program."""

    __slots__ = ("_now",)

    def __init__(self, found: _core.Findings) -> None:
        self._now = Table(found, None)

    @property
    def _table(self) -> Table:
        return self._now

    @classmethod
    def from_tfdv(cls, proto: bytes, dataset: str | None = None) -> Self:
        """Reads TFDV's serialized DatasetFeatureStatisticsList: one dataset by name, or all of
        them, as slices of the first one (docs/tfdv.md)."""
        return cls(_core.statistics_from_tfdv(bytes(proto), dataset))

    @classmethod
    def from_arrow(cls, table: _core.ArrowArrayExportable | _core.ArrowStreamExportable) -> Self:
        """Reads a statistics table from any Arrow data."""
        batch = record_batch(table)
        missing = [name for name in ("slice", "path", "rows") if name not in batch.column_names]
        if missing:
            raise argument_error(f"not a table of features: the column {missing[0]!r} is missing")
        return cls(_core.statistics_table(batch))

    def __repr__(self) -> str:
        return f"<columnstone.stats.FeatureTable: {self.num_rows} rows, {len(self)} features>"


@public
class Statistics(AnyAccumulator["Statistics"], Tells):
    """Statistics of data: presence, numbers, quantiles, distinct and frequent values of each
    feature, for all rows and for slices. docs/statistics.md says which of them are exact.

    You can add rows and merge the statistics of parts. Statistics pickle, and `columnstone stats`
    reads them from files. They are a mapping from paths to features of all rows, and an Arrow table
    for other libraries.

    columns: top-level columns to include; None: all.
    by: columns whose values define the slices.
    weight: the column with the weights of the rows.
    options: further options of the accumulator "statistics" (columnstone.accumulate.accumulators).

    >>> stats = cst.Statistics(by=["company"])
    >>> stats.add(cst.record_batch({"company": ["Blue", "Red"], "fare": [9.5, 12.0]}))
    2
    >>> stats["fare"].mean, stats["fare"].quantiles([0.0, 1.0])
    (10.75, [9.5, 12.0])
    >>> stats.slice(company="Blue")["fare"].mean
    9.5
    """

    __slots__ = ("_now",)
    _now: Table | None

    def __new__(
        cls,
        *,
        columns: Sequence[str] | None = None,
        by: Sequence[str] | None = None,
        weight: str | None = None,
        **options: Any,
    ) -> Self:
        given = {"columns": columns, "by": by, "weight": weight, **options}
        return cls._of("statistics", settings("statistics", given))

    @classmethod
    def _made(
        cls, name: str, options: tuple[tuple[str, str], ...], handle: _core.Accumulator
    ) -> Self:
        made = super()._made(name, options, handle)
        made._now = None
        return made

    # Files

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Reads statistics that `save` or `columnstone stats -o` wrote."""
        return cls._loaded_as(_core.Accumulator.open(os.fsencode(path)))

    @classmethod
    def from_bytes(cls, saved: bytes) -> Self:
        """Statistics from bytes(statistics)."""
        return cls._loaded_as(_core.Accumulator.load(bytes(saved)))

    @classmethod
    def _loaded_as(cls, handle: _core.Accumulator) -> Self:
        if handle.name() != "statistics":
            raise argument_error(f"saved by the accumulator {handle.name()!r}, expected statistics")
        options = handle.options()[0].to_pydict()
        named = tuple(zip(options["name"], options["value"], strict=True))
        return cls._made("statistics", named, handle)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the statistics to a file, compressed if its name ends in .gz or .zst."""
        self._handle.save_as(os.fsencode(path))

    def __bytes__(self) -> bytes:
        return self._handle.save()

    # The table

    @property
    def _table(self) -> Table:
        if self._now is None:
            self._now = Table(self._handle.finish(), self._handle)
        return self._now

    def _outdate(self) -> None:
        if self._now is not None:
            self._now.outdate()
            self._now = None

    def add(
        self,
        batches: _core.ArrowArrayExportable | _core.ArrowStreamExportable,
        *,
        file: str | os.PathLike[str] = "",
        record: int | None = None,
    ) -> int:
        """Adds rows and returns their number; see `accumulate.Accumulator.add`."""
        self._outdate()
        return super().add(batches, file=file, record=record)

    def merge(self, other: Self) -> None:
        """Adds the rows of other statistics with the same options."""
        super().merge(other)
        self._outdate()

    def finish(self) -> Statistics:
        """Returns these statistics, which are always up to date."""
        self._outdate()
        return self

    def _describe(self, found: Statistics) -> str:
        return f"{found.num_rows} rows, {len(found)} features"


@public
def statistics(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    weight: str | None = None,
    **options: Any,
) -> Statistics:
    """Computes the statistics of Arrow data, a data frame, Python rows or columns, or a list or
    iterator of batches. The arguments are those of `Statistics`.

    >>> stats = cst.statistics({"fare": [9.5, 12.0, None]})
    >>> stats["fare"].present, stats["fare"].mean
    (2, 10.75)
    """
    made = Statistics(columns=columns, by=by, weight=weight, **options)
    is_many = isinstance(data, Iterator) or (isinstance(data, list) and all(map(is_arrow, data)))
    for batch in data if is_many and not is_arrow(data) else (data,):
        made.add(batch)
    return made
