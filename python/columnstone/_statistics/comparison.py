"""The differences between two statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _core
from .._arrow.findings import rows
from .._base.public import public_in

if TYPE_CHECKING:
    from collections.abc import Iterator


@public_in("columnstone.stats")
@dataclass(frozen=True, slots=True)
class DriftAnomaly:
    """A threshold that was exceeded.

    kind: "drift", "skew", "version", "unique" or "rows".
    measure: the measure; value: its value, None if it cannot be computed.
    text: a readable sentence.
    """

    kind: str
    measure: str
    threshold: float
    value: float | None
    text: str

    def __str__(self) -> str:
        return self.text


@public_in("columnstone.stats")
@dataclass(frozen=True, slots=True)
class FeatureDrift:
    """How much one feature has changed. docs/drift.md defines the measures.

    what: the largest change, as text.
    score: from 0 (the same) to 1.
    """

    slice: tuple[dict[str, str], ...]
    path: str
    state: str
    score: float
    what: str
    type_before: str | None
    type_after: str | None
    rows_before: int | None
    rows_after: int | None
    presence_before: float | None
    presence_after: float | None
    presence_change: float | None
    mean_before: float | None
    mean_after: float | None
    linf: float | None
    linf_low: float | None
    linf_high: float | None
    normalized_abs_difference: float | None
    jensen_shannon: float | None
    psi: float | None
    ks: float | None
    resolution: float | None
    weighted: bool
    new_values: tuple[dict[str, Any], ...]
    lost_values: tuple[dict[str, Any], ...]
    anomalies: tuple[DriftAnomaly, ...]

    def __str__(self) -> str:
        of = ", ".join(f"{part['path']}={part['value']}" for part in self.slice)
        name = f"{self.path} of {of}" if of else self.path
        return f"{name}: {self.what}" if name else self.what


@public_in("columnstone.stats")
class Comparison:
    """Two statistics compared, feature by feature and slice by slice, the largest changes first. It
    is true if no threshold is exceeded. Any Arrow library accepts it as the table of
    docs/drift.md."""

    __slots__ = ("_features", "_table", "_totals", "_two")

    def __init__(self, found: _core.Findings, two: tuple[object, object]) -> None:
        self._table, self._totals = found
        self._two = two  # the tables
        self._features: list[FeatureDrift] | None = None

    @property
    def features(self) -> list[FeatureDrift]:
        """All features of either, the largest changes first."""
        if self._features is None:
            anything: dict[str, Any] = dict.fromkeys(("slice", "new_values", "lost_values"), dict)
            self._features = rows(self._table, FeatureDrift, anomalies=DriftAnomaly, **anything)
        return self._features

    def worst(self, most: int = 10) -> list[FeatureDrift]:
        """The features that changed most."""
        return self.features[:most]

    @property
    def anomalies(self) -> list[tuple[str, DriftAnomaly]]:
        """The exceeded thresholds: (path of the feature, anomaly)."""
        return [(one.path, anomaly) for one in self.features for anomaly in one.anomalies]

    @property
    def rows_before(self) -> int:
        """The number of rows in the first statistics."""
        return self._totals["num_rows_before"]

    @property
    def rows_after(self) -> int:
        """The number of rows in the second statistics."""
        return self._totals["num_rows_after"]

    def to_arrow(self) -> _core.RecordBatch:
        """The table (docs/drift.md)."""
        return self._table

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self._table.__arrow_c_array__(requested_schema)

    def to_pandas(self) -> Any:
        """The table as a data frame."""
        return self._table.to_pandas()

    def to_html(self, names: tuple[str, str] = ("before", "after")) -> str:
        """Both statistics side by side as one self-contained HTML page."""
        tables: tuple[Any, Any] = self._two
        return _core.statistics_page(tables, names, self._table).decode()

    def _repr_html_(self) -> str:
        from .notebook import framed

        return framed(self.to_html())

    def __bool__(self) -> bool:
        return self._totals["num_anomalies"] == 0

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[FeatureDrift]:
        return iter(self.features)

    def __str__(self) -> str:
        changed = [one for one in self.features if one.score > 0]
        lines = [str(one) for one in changed[:10]]
        if len(changed) > len(lines):
            lines.append(f"and {len(changed) - len(lines)} more")
        return "\n".join(lines) if lines else "nothing changed"

    def __repr__(self) -> str:
        return f"<columnstone.stats.Comparison of {len(self)} features>\n{self}"
