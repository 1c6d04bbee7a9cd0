"""tfx_bsl.coders.csv_decoder: converts lines of CSV to record batches in a Beam pipeline."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2, statistics_pb2

from ._csv_lines import LineReader, Misfit, cells_of
from .batch_util import BatchRecords, GetBatchElementsKwargs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

PARSE_CSV_LINE_YIELDS_RAW_RECORDS = True

CSVCell = bytes
CSVLine = str
ColumnName = str

_LOOK = 8  # lines that say what types to try first
_INFER_BATCH = 1000
_INT64 = 2**63


class ColumnType(enum.IntEnum):
    """The type of a column: the wider type is the greater one."""

    IGNORE = -2  # not in the record batches
    UNKNOWN = -1  # has no values: its type is null
    INT = statistics_pb2.FeatureNameStatistics.INT
    FLOAT = statistics_pb2.FeatureNameStatistics.FLOAT
    STRING = statistics_pb2.FeatureNameStatistics.STRING


class ColumnInfo(NamedTuple):
    """A column of the lines."""

    name: ColumnName
    type: ColumnType


_OF_SCHEMA = {
    schema_pb2.INT: ColumnType.INT,
    schema_pb2.FLOAT: ColumnType.FLOAT,
    schema_pb2.BYTES: ColumnType.STRING,
}
_ARROW = {
    ColumnType.UNKNOWN: pa.null(),
    ColumnType.INT: pa.large_list(pa.int64()),
    ColumnType.FLOAT: pa.large_list(pa.float32()),
    ColumnType.STRING: pa.large_list(pa.large_binary()),
}
_VALUE: dict[ColumnType, Callable[[bytes], Any]] = {
    ColumnType.INT: int,
    ColumnType.FLOAT: float,
    ColumnType.STRING: bytes,
}


@beam.ptransform_fn
@beam.typehints.with_input_types(CSVLine)
@beam.typehints.with_output_types(pa.RecordBatch)
def CSVToRecordBatch(
    lines: beam.PCollection,
    column_names: list[str],
    desired_batch_size: int | None,
    delimiter: str = ",",
    skip_blank_lines: bool = True,
    schema: schema_pb2.Schema | None = None,
    multivalent_columns: list[str] | None = None,
    secondary_delimiter: str | None = None,
    raw_record_column_name: str | None = None,
) -> beam.PCollection:
    """Converts lines to record batches with the columns in the order of column_names: lists of
    int64, float32 and bytes.

    desired_batch_size: rows of a batch; None: Beam tunes it.
    skip_blank_lines: skip blank lines, instead of making rows of nulls.
    schema: of the wanted columns; without one, a first pass over all lines determines the types.
    multivalent_columns, secondary_delimiter: columns whose cells contain several values, and the
        delimiter between these.
    raw_record_column_name: adds a last column with this name that contains the lines.

    Raises ValueError for a schema with other types, or if the raw column has the name of another
    column. The pipeline fails with it for a line with another number of cells."""
    _check_raw_name(raw_record_column_name, column_names)
    dialect = _Dialect(delimiter, skip_blank_lines, multivalent_columns, secondary_delimiter)
    infos: Any
    if schema is not None:
        infos = _infos_of_schema(schema, column_names)
    else:
        infos = beam.pvalue.AsSingleton(
            lines
            | "BatchLinesToInfer" >> beam.BatchElements(**GetBatchElementsKwargs(_INFER_BATCH))
            | "InferColumnTypes" >> beam.CombineGlobally(_InferOfLines(column_names, dialect))
        )
    return (
        lines
        | "BatchCSVLines"
        >> BatchRecords(
            desired_batch_size,
            telemetry_descriptors=["CSVToRecordBatch"],
            record_size_fn=lambda line: len(line) << 1,
        )
        | "BatchedCSVLinesToArrow"
        >> beam.ParDo(_LinesToRecordBatch(dialect, raw_record_column_name), infos)
    )


@beam.typehints.with_input_types(CSVLine)
@beam.typehints.with_output_types(tuple[list[CSVCell], CSVLine])
class ParseCSVLine(beam.DoFn):
    """Returns the cells of each line, and the line. A blank line has no cells."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter

    def process(self, csv_line: CSVLine) -> Iterable[tuple[list[CSVCell], CSVLine]]:
        yield cells_of(csv_line, self._delimiter), csv_line


@beam.typehints.with_input_types(list[CSVCell])
@beam.typehints.with_output_types(list[ColumnInfo])
class ColumnTypeInferrer(beam.CombineFn):
    """Finds the narrowest type of each column that fits all its cells.

    Accumulators contain the types by name. Raises ValueError for a line with another number of
    cells."""

    def __init__(
        self,
        column_names: list[ColumnName],
        skip_blank_lines: bool,
        multivalent_columns: Collection[ColumnName] | None = None,
        secondary_delimiter: str | None = None,
    ) -> None:
        self._column_names = column_names
        self._skip_blank_lines = skip_blank_lines
        self._multivalent = multivalent_columns or ()
        self._secondary_delimiter = _need_secondary(multivalent_columns, secondary_delimiter)

    def create_accumulator(self) -> dict[ColumnName, ColumnType]:
        return {}

    def add_input(
        self, accumulator: dict[ColumnName, ColumnType], cells: list[CSVCell]
    ) -> dict[ColumnName, ColumnType]:
        if not cells and not self._skip_blank_lines:
            cells = [b""] * len(self._column_names)
        elif cells and len(cells) != len(self._column_names):
            raise ValueError(
                f"Columns do not match specified csv headers: {self._column_names} -> {cells}"
            )
        for name, cell in zip(self._column_names, cells, strict=False):
            secondary = self._secondary_delimiter if name in self._multivalent else None
            _widen(accumulator, name, _type_of_cell(cell, secondary))
        return accumulator

    def merge_accumulators(
        self, accumulators: Iterable[dict[ColumnName, ColumnType]]
    ) -> dict[ColumnName, ColumnType]:
        merged: dict[ColumnName, ColumnType] = {}
        for accumulator in accumulators:
            for name, type in accumulator.items():
                _widen(merged, name, type)
        return merged

    def extract_output(self, accumulator: dict[ColumnName, ColumnType]) -> list[ColumnInfo]:
        return [
            ColumnInfo(name, accumulator.get(name, ColumnType.UNKNOWN))
            for name in self._column_names
        ]


@beam.typehints.with_input_types(list[tuple[list[CSVCell], CSVLine]], list[ColumnInfo])
@beam.typehints.with_output_types(pa.RecordBatch)
class BatchedCSVRowsToRecordBatch(beam.DoFn):
    """Makes a record batch from batches of ParseCSVLine's results, and from the types of the
    columns."""

    def __init__(
        self,
        skip_blank_lines: bool,
        multivalent_columns: Collection[ColumnName] | None = None,
        secondary_delimiter: str | None = None,
        raw_record_column_name: str | None = None,
    ) -> None:
        self._skip_blank_lines = skip_blank_lines
        self._multivalent = multivalent_columns or ()
        self._secondary_delimiter = _need_secondary(multivalent_columns, secondary_delimiter)
        self._raw_name = raw_record_column_name

    def process(
        self,
        batch_of_tuple: list[tuple[list[CSVCell], CSVLine]],
        column_infos: list[ColumnInfo],
    ) -> Iterable[pa.RecordBatch]:
        blank = [b""] * len(column_infos)
        kept = [
            (cells or blank, line)
            for cells, line in batch_of_tuple
            if cells or not self._skip_blank_lines
        ]
        for cells, _ in kept:
            if len(cells) != len(column_infos):
                raise ValueError(
                    f"Encountered a row of unexpected number of columns: {len(cells)} vs. "
                    f"{len(column_infos)}"
                )
        columns = {
            i: self._column(info, [cells[i] for cells, _ in kept])
            for i, info in enumerate(column_infos)
            if info.type != ColumnType.IGNORE
        }
        names = [column_infos[i].name for i in columns]
        arrays = list(columns.values())
        if self._raw_name is not None:
            arrays.append(pa.array([[line] for _, line in kept], _ARROW[ColumnType.STRING]))
            names.append(self._raw_name)
        yield pa.RecordBatch.from_arrays(arrays, names)

    def _column(self, info: ColumnInfo, cells: Sequence[CSVCell]) -> pa.Array:
        is_multivalent = info.name in self._multivalent
        if info.type == ColumnType.UNKNOWN:
            if not is_multivalent and any(cells):
                raise pa.ArrowInvalid(f"{info.name}: a column of unknown type has values")
            return pa.nulls(len(cells))
        value = _VALUE[info.type]
        secondary = self._secondary_delimiter
        rows: Iterator[list[Any] | None]
        if is_multivalent and secondary is not None:
            rows = (
                [value(part) for part in cells_of(cell.decode(), secondary)] if cell else None
                for cell in cells
            )
        else:
            rows = ([value(cell)] if cell else None for cell in cells)
        return pa.array(rows, _ARROW[info.type])


def GetArrowSchema(
    column_names: list[str],
    schema: schema_pb2.Schema,
    raw_record_column_name: str | None = None,
) -> pa.Schema:
    """The Arrow schema of the batches that CSVToRecordBatch makes with this schema.

    Raises ValueError for a feature that is not a column or has another type than INT, FLOAT and
    BYTES, and if the raw column has the name of another column."""
    features = {feature.name: feature for feature in schema.feature}
    if not features.keys() <= set(column_names):
        raise ValueError(
            f"Schema features are not a subset of column names: {list(features)} vs {column_names}"
        )
    fields = []
    for name in column_names:
        feature = features.get(name)
        if feature is None:
            continue
        if feature.type not in _OF_SCHEMA:
            raise ValueError(f"Feature {name} has unsupport type {feature.type}")
        fields.append(pa.field(name, _ARROW[_OF_SCHEMA[feature.type]]))
    if raw_record_column_name is not None:
        _check_raw_name(raw_record_column_name, column_names)
        fields.append(pa.field(raw_record_column_name, _ARROW[ColumnType.STRING]))
    return pa.schema(fields)


# ---- whole lines ----


class _Dialect(NamedTuple):
    delimiter: str
    skip_blank_lines: bool
    multivalent_columns: Collection[ColumnName] | None
    secondary_delimiter: str | None

    def reader(self, width: int) -> LineReader:
        return LineReader(width, self.delimiter, self.skip_blank_lines, self.secondary_delimiter)

    def multivalent(self, names: Sequence[ColumnName]) -> list[int]:
        several = self.multivalent_columns or ()
        return [i for i, name in enumerate(names) if name in several]


@beam.typehints.with_input_types(list[CSVLine], list[ColumnInfo])
@beam.typehints.with_output_types(pa.RecordBatch)
class _LinesToRecordBatch(beam.DoFn):
    """Converts batches of lines to record batches, with Columnstone's decoder if it supports all of
    the lines."""

    def __init__(self, dialect: _Dialect, raw_name: str | None) -> None:
        self._dialect = dialect
        self._raw_name = raw_name
        self._by_cells = BatchedCSVRowsToRecordBatch(*dialect[1:], raw_record_column_name=raw_name)

    def process(
        self, lines: list[CSVLine], column_infos: list[ColumnInfo]
    ) -> Iterable[pa.RecordBatch]:
        try:
            columns = self._columns(lines, column_infos)
        except Misfit:  # by our rules: Python's numbers have more spellings
            columns = None
        if columns is None:
            rows = [(cells_of(line, self._dialect.delimiter), line) for line in lines]
            yield from self._by_cells.process(rows, column_infos)
            return
        names = [info.name for info in column_infos if info.type != ColumnType.IGNORE]
        if self._raw_name is not None:
            names.append(self._raw_name)
        yield pa.RecordBatch.from_arrays(columns, names)

    def _columns(
        self, lines: Sequence[CSVLine], infos: Sequence[ColumnInfo]
    ) -> list[pa.Array] | None:
        names = [info.name for info in infos]
        multivalent = self._dialect.multivalent(names)
        types = [_READ.get(info.type) for info in infos]
        absent = [i for i in multivalent if infos[i].type == ColumnType.UNKNOWN]
        for i in absent:  # null, whatever is in its cells
            types[i] = None
        if all(type is None for type in types):
            return None
        multivalent = [i for i in multivalent if types[i] is not None]
        raw = self._raw_name is not None
        read = self._dialect.reader(len(infos)).read(lines, types, multivalent, raw)
        if read is None:
            return None
        columns = iter(read)
        rows = len(read[0])
        found = [
            pa.nulls(rows) if i in absent else _narrowed(next(columns))
            for i, info in enumerate(infos)
            if info.type != ColumnType.IGNORE
        ]
        return [*found, *columns]


# float32 from float64, like Python's floats: rounded twice
_DOUBLE = pa.large_list(pa.float64())
_READ = {**_ARROW, ColumnType.FLOAT: _DOUBLE}


def _narrowed(column: pa.Array) -> pa.Array:
    return column.cast(_ARROW[ColumnType.FLOAT]) if column.type == _DOUBLE else column


@beam.typehints.with_input_types(list[CSVLine])
@beam.typehints.with_output_types(list[ColumnInfo])
class _InferOfLines(ColumnTypeInferrer):
    """The same for batches of lines."""

    def __init__(self, column_names: list[ColumnName], dialect: _Dialect) -> None:
        super().__init__(column_names, *dialect[1:])
        self._dialect = dialect

    def add_input(
        self, accumulator: dict[ColumnName, ColumnType], lines: Any
    ) -> dict[ColumnName, ColumnType]:
        if not accumulator:
            accumulator = self._by_cells(accumulator, lines[:_LOOK])
        found = self._by_columns(accumulator, lines)
        if found is None:
            return self._by_cells(accumulator, lines)
        for name, type in zip(self._column_names, found, strict=True):
            _widen(accumulator, name, type)
        return accumulator

    def _by_cells(
        self, accumulator: dict[ColumnName, ColumnType], lines: Sequence[CSVLine]
    ) -> dict[ColumnName, ColumnType]:
        for line in lines:
            cells = cells_of(line, self._dialect.delimiter)
            accumulator = super().add_input(accumulator, cells)
        return accumulator

    def _by_columns(
        self, known: dict[ColumnName, ColumnType], lines: Sequence[CSVLine]
    ) -> list[ColumnType] | None:
        """Columns that fit the known types need no check of their cells; others are read as text
        and checked."""
        names = self._column_names
        reader = self._dialect.reader(len(names))
        several = self._dialect.multivalent(names)
        guesses = [max(known.get(name, ColumnType.INT), ColumnType.INT) for name in names]
        looked_at: set[int] = set()
        while True:
            types = [
                pa.large_binary() if i in looked_at else _list_or_value(guess, i in several)
                for i, guess in enumerate(guesses)
            ]
            try:
                read = reader.read(lines, types, [i for i in several if i not in looked_at])
            except Misfit as misfit:
                looked_at.add(misfit.column)
                continue
            if read is None:
                return None
            wide = {i for i, column in enumerate(read) if _has_wide(column)}
            if wide:
                looked_at |= wide
                continue
            return [
                self._type_of_column(column, guesses[i], i in looked_at, i in several)
                for i, column in enumerate(read)
            ]

    def _type_of_column(
        self, column: pa.Array, guess: ColumnType, looks: bool, is_multivalent: bool
    ) -> ColumnType:
        if not looks:
            return guess if column.null_count < len(column) else ColumnType.UNKNOWN
        secondary = self._secondary_delimiter if is_multivalent else None
        cells = (cell for cell in column.to_pylist() if cell)
        return max((_type_of_cell(cell, secondary) for cell in cells), default=ColumnType.UNKNOWN)


_TRIED = {
    ColumnType.INT: pa.int64(),
    ColumnType.FLOAT: pa.float64(),
    ColumnType.STRING: pa.large_binary(),
}


def _list_or_value(type: ColumnType, is_list: bool) -> pa.DataType:
    return pa.large_list(_TRIED[type]) if is_list else _TRIED[type]


def _has_wide(column: pa.Array) -> bool:
    """True if a number could be an integer beyond int64, which is a text."""
    values = column.flatten() if pa.types.is_large_list(column.type) else column
    if values.type != pa.float64():
        return False
    return bool((np.abs(values.drop_null().to_numpy()) >= _INT64).any())


# ---- shared by both ways ----


def _type_of_cell(cell: CSVCell, secondary_delimiter: str | None) -> ColumnType:
    if secondary_delimiter is None:
        return _type_of_value(cell)
    values = cells_of(cell.decode(), secondary_delimiter)
    return max(map(_type_of_value, values), default=ColumnType.UNKNOWN)


def _type_of_value(value: CSVCell) -> ColumnType:
    if not value:
        return ColumnType.UNKNOWN
    try:
        return ColumnType.INT if -_INT64 <= int(value) < _INT64 else ColumnType.STRING
    except ValueError:
        pass
    try:
        float(value)
    except ValueError:
        return ColumnType.STRING
    return ColumnType.FLOAT


def _widen(types: dict[ColumnName, ColumnType], name: ColumnName, type: ColumnType) -> None:
    types[name] = max(types.get(name, type), type)


def _need_secondary(
    multivalent_columns: Collection[ColumnName] | None, secondary_delimiter: str | None
) -> str | None:
    assert not multivalent_columns or secondary_delimiter, (
        "secondary_delimiter must be specified if there are multivalent columns"
    )
    return secondary_delimiter


def _check_raw_name(name: str | None, column_names: Collection[str]) -> None:
    if name is not None and name in column_names:
        raise ValueError(
            f"raw_record_column_name: {name} is already an existing column name. "
            "Please choose a different name."
        )


def _infos_of_schema(schema: schema_pb2.Schema, column_names: Sequence[str]) -> list[ColumnInfo]:
    types = {}
    for feature in schema.feature:
        if feature.type not in _OF_SCHEMA:
            name = schema_pb2.FeatureType.Name(feature.type)
            raise ValueError(f"Schema contains invalid type: {name}.")
        types[feature.name] = _OF_SCHEMA[feature.type]
    return [ColumnInfo(name, types.get(name, ColumnType.IGNORE)) for name in column_names]
