"""SchemaCheck and Anomaly: what validating data against a schema finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from .._arrow.findings import rows
from .._base.errors import SchemaError
from .._base.markup import counted, or_text, table, titled
from .._base.public import public_in
from .schema import as_columns, as_core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .. import _core
    from .._core import ArrowArrayExportable
    from .schema import SchemaLike


@public_in("columnstone.schema")
class AnomalyPlace(NamedTuple):
    """A record that has an anomaly.

    file: its name in `Source.files`; "" for tables (CSV, Parquet, ...) in several files.
    record: its number in the file, from 0 (without a file: in all files together); None if unknown.
    found: the value found, such as a number or "3 values"; never a string from the data. "" if not
        applicable.
    """

    file: str
    record: int | None
    found: str


@public_in("columnstone.schema")
@dataclass(frozen=True, slots=True)
class Anomaly:
    """One way in which data and schema disagree; `str(anomaly)` is a readable line.

    kind: "unexpected-feature", "missing-feature", "type", "presence", "value-count", "shape",
        "int-domain", "float-domain", "string-domain", "bool-domain", "utf8", "representation" (rows
        do not fit a tensor) or "record" (damaged, or cannot be parsed); for statistics, "drift",
        "skew", "unique", "rows" or "statistics" (missing).
    path: the feature, "a.b" in a struct; "" for records and the number of records.
    tensor, group: for a "representation", otherwise None.
    message: what was found, and what the schema requires.
    hint: how to change the schema or the data.
    count: the number of affected records.
    places: the first affected records, in reading order.
    """

    kind: str
    path: str
    tensor: str | None
    group: str | None
    message: str
    hint: str
    count: int
    places: tuple[AnomalyPlace, ...]

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        first = ""
        if self.places:
            place = self.places[0]
            number = "" if place.record is None else f"record {place.record}"
            named = " ".join(part for part in (place.file, number) if part)
            first = f" (first: {named})" if named else ""
        return f"{self.kind}  {where}{self.message}{first}"


@public_in("columnstone.schema")
@dataclass(frozen=True, slots=True)
class SchemaCheck:
    """What `Source.validate` found. True if there is no anomaly; `str(check)` is a report.

    num_rows: records that could be read.
    batch: the anomalies as a RecordBatch, for pyarrow, Polars, DuckDB.
    """

    num_rows: int
    anomalies: list[Anomaly]
    batch: _core.RecordBatch = field(compare=False, repr=False)

    @property
    def ok(self) -> bool:
        """True if there is no anomaly."""
        return not self.anomalies

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [f"{anomaly}\n    {anomaly.hint}" for anomaly in self.anomalies]
        count = len(self.anomalies)
        records = f"{self.num_rows} record{'' if self.num_rows == 1 else 's'}"
        found = "anomaly" if count == 1 else "anomalies"
        return "\n".join([*lines, f"{records}: {count or 'no'} {found}"])

    @or_text
    def _repr_html_(self) -> str:
        rows = [(one.kind, one.path, one.count, one.message, one.hint) for one in self.anomalies]
        found = (
            f"{len(rows):,} anomal{'y' if len(rows) == 1 else 'ies'}" if rows else "no anomalies"
        )
        head = f"SchemaCheck, {counted(self.num_rows, 'record')}, {found}"
        names = ("anomaly", "feature", "records", "message", "hint")
        return titled(head, *([table(names, rows)] if rows else []))

    def raise_if_any(self) -> None:
        """Raises SchemaError, with the place of the first anomaly, if there is one."""
        if self.ok:
            return
        first = self.anomalies[0]
        place = first.places[0] if first.places else AnomalyPlace("", None, "")
        more = len(self.anomalies) - 1
        others = f"; and {more} more anomal{'y' if more == 1 else 'ies'}" if more else ""
        raise SchemaError(
            f"{first} ({first.hint}){others}",
            file=place.file or None,
            record=place.record,
            path=first.path or None,
            hint=first.hint,
        )


def validate(
    core: _core.Source,
    schema: SchemaLike | None,
    group: str | Iterable[str] | None,
    environment: str | None,
    tensors: bool,
    ignore_unexpected: bool,
    places: int,
    progress: Callable[[int, int], bool | None] | None,
    previous: ArrowArrayExportable | None,
    serving: ArrowArrayExportable | None,
) -> SchemaCheck:
    """Implements Source.validate."""
    names = as_columns([group] if isinstance(group, str) else group)
    return check_of(
        *core.validate(
            as_core(schema),
            names or None,
            environment,
            not tensors,
            ignore_unexpected,
            places,
            progress,
            previous,
            serving,
        )
    )


def check_of(batch: _core.RecordBatch, totals: dict[str, int]) -> SchemaCheck:
    """The result of a validation in the core."""
    return SchemaCheck(totals["num_rows"], rows(batch, Anomaly, places=AnomalyPlace), batch)
