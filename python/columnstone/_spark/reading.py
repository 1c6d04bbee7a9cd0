"""The options of a load: its files, how they are read, and the resulting columns."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from .. import _core
from .._api.open import open
from .._base.errors import Error, FormatError, SchemaError, UnsupportedError, argument_error
from .._engines.options import self_contained
from .._engines.reading import Reading, read_by
from . import options as o
from .folders import Found, PartitionColumn, find_files, partition_columns
from .types import arrow_schema, check_casts, spark_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql.types import StructType

# The options of sources and formats, except those that Spark has itself, plus those of the data
# source.
_NOT_HERE = ("group", "environment", "legacy", "offsets", "binary_views", "fixed_size")
READ_OPTIONS: dict[str, o.Parser] = {
    **o.known_options(_core.SOURCE_OPTIONS, _NOT_HERE, writes=False),
    "target_bytes": o.int_option,
    "base_path": o.text_option,
    "max_files_per_trigger": o.int_option,
    "file_log": o.text_option,
}
_OF_THE_SOURCE = ("target_bytes", "base_path", "max_files_per_trigger", "file_log")
_OF_STREAMS = ("max_files_per_trigger", "file_log")
# A batch is copied on its way into the JVM: large enough to amortize the calls, small enough for
# memory.
_BATCH_SIZE, _BATCH_BYTES = 8192, 16 << 20
_SAID_BY = ("schema", "message", "descriptors", "view")  # options that leave nothing to infer
# The options that describe a record; enough to read some.
_OF_RECORDS = ("format", "container", "check_crc", "max_record_size", "max_inflation", "on_error")
_LOOK = 1000  # records that are looked at for names
_SAID = 20  # names that an error says
_TEXTS = ("csv", "json")
_INFERRED = ("example",)  # where a schema says what is read


class Load(NamedTuple):
    """The options of a load, parsed. Its pickle is small even if the options refer to files."""

    paths: list[str]
    options: dict[str, Any]  # of columnstone.open
    own: dict[str, Any]  # of the data source

    def find(self) -> list[Found]:
        return find_files(self.paths, self.own.get("base_path"))


class Table(NamedTuple):
    """The columns of the files of a load."""

    reading: Reading
    folders: list[PartitionColumn]

    def schema(self) -> StructType:
        """For Spark: the columns of the files, then the partition columns."""
        fields = list(self.reading.schema)
        return spark_schema(pa.schema([*fields, *(column.field() for column in self.folders)]))


def parse_load(options: Mapping[str, str], streams: bool = False) -> Load:
    """The options, with schemas and descriptors loaded from the files that they name."""
    given = o.parse_options(options, o.options_of(options, READ_OPTIONS), "reading")
    if not streams:
        for name in _OF_STREAMS:
            if name in given:
                raise argument_error(f"option {name} is only for readStream")
    own = {name: given.pop(name) for name in _OF_THE_SOURCE if name in given}
    given.setdefault("batch_size", _BATCH_SIZE)
    given.setdefault("batch_bytes", _BATCH_BYTES)
    of_query = ("message", "descriptors") if "view" in given else ()  # bound on the driver
    held = {name: given.pop(name) for name in of_query if name in given}
    given = {**self_contained(given), **held}
    if "view" not in given:
        given["offsets"] = 32
    return Load(o.paths_of(options), given, own)


def infer_table(load: Load, found: Sequence[Found]) -> Table:
    """The actual columns of the files; the options determine how much is read for this."""
    folders = partition_columns(found)
    names = {column.name for column in folders}
    options = dict(load.options)
    if "columns" in options:
        options["columns"] = [name for name in options["columns"] if name not in names]
    files = [entry.file for entry in found]
    if any(name in options for name in _SAID_BY):
        files = files[:1]
    threads = options.pop("threads", 1)
    inferring = max(threads, os.cpu_count() or 1)  # the driver has nothing else to do
    reading = read_by(files, {**options, "threads": inferring})
    _check_names(reading.schema, names)
    return Table(reading._replace(options={**reading.options, "threads": threads}), folders)


def given_table(
    load: Load, found: Sequence[Found], folder_names: Sequence[str], schema: StructType
) -> Table:
    """The columns of .schema(...), without inference."""
    types = arrow_schema(schema)
    folders = [
        PartitionColumn(name, types.field(name).type if name in types.names else pa.string())
        for name in folder_names
    ]
    in_files = pa.schema([field for field in types if field.name not in folder_names])
    options = dict(load.options)
    file = _first(found).file
    options.update(_said_by(in_files, options, file))
    reading = read_by(file, options)
    check_casts(reading.schema, in_files)
    return Table(reading, folders)


def _first(found: Sequence[Found]) -> Found:
    """The first file that is not empty: an empty one says nothing about its content."""
    return next((entry for entry in found if entry.size != 0), found[0])


def check_there(load: Load, found: Sequence[Found], schema: StructType) -> None:
    """SchemaError for a column of .schema(...) that none of the first records has: every value of a
    misspelt column would be null. Spark's own sources return nulls in this case, because their
    files have a header, or each record has its own names. Here, reading without inference is used
    for terabytes, where the mistake would be noticed late. Formats that name their columns are
    checked without this."""
    options = load.options
    if any(name in options for name in _SAID_BY):
        return
    file = _first(found).file
    try:
        there = _names_of(file, options)
    except Error:  # what is wrong with the data is for those to say who read it
        return
    beside = (options.get("raw_column"), options.get("offset_column"))
    known = {*there, *beside, *(name for name, _ in found[0].folders)}
    for name in schema.names:
        if there and name not in known:
            hint = (
                "check the spelling; if the column is rare, set the option schema to a TFMD schema"
            )
            raise SchemaError(
                f"{file}: column {name}: none of the first {_LOOK} records has it "
                f"(they have {_some(there)}) ({hint})",
                file=file,
                path=name,
                hint=hint,
            )


def _names_of(file: str, options: dict[str, Any]) -> list[str]:
    """The names in the first records, for formats whose records may lack one; otherwise none."""
    given = {name: options[name] for name in _OF_RECORDS if name in options}
    with open(file, sample_records=_LOOK, **given) as source:
        if source._core.format() not in (*_INFERRED, "json"):
            return []
        return list(pa.schema(source.arrow_schema).names)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SAID]) + (", ..." if len(names) > _SAID else "")


def _said_by(types: pa.Schema, options: dict[str, Any], file: str) -> dict[str, Any]:
    """Options with which columnstone.open reads these columns without inference."""
    said: dict[str, Any] = {}
    beside = (options.get("raw_column"), options.get("offset_column"))
    names = [name for name in types.names if name not in beside]
    if "columns" not in options:
        said["columns"] = names
    if any(name in options for name in _SAID_BY):
        return said
    with open(file, format=options.get("format"), container=options.get("container")) as source:
        format = source._core.format()
    if format == "sequence_example":
        raise argument_error(
            f"{file}: .schema(...) cannot describe sequences of steps", "use the option schema"
        )
    if format in _TEXTS:
        nullable = [pa.field(field.name, field.type) for field in types]
        return {**said, "types": pa.schema(nullable)}
    if format in _INFERRED:
        features, has_values = _features(types, names)
        said["schema"] = features
        if has_values:
            said["flat"] = True
    return said


def _features(types: pa.Schema, names: Sequence[str]) -> tuple[Any, bool]:
    """A schema of tf.Examples with columns of these types, and whether some are single values."""
    from .._schema.schema import Schema

    lines = []
    has_values = False
    for name in names:
        type = types.field(name).type
        is_list = pa.types.is_list(type)
        kind = _feature_type(type.value_type if is_list else type, name)
        one = "" if is_list else " value_count { min: 1 max: 1 }"
        has_values = has_values or not is_list
        lines.append(f'feature {{ name: "{_quoted(name)}" type: {kind}{one} }}\n')
    return Schema.from_text("".join(lines)), has_values


def _feature_type(type: pa.DataType, name: str) -> str:
    if pa.types.is_integer(type) or pa.types.is_decimal(type):
        return "INT"
    if pa.types.is_floating(type):
        return "FLOAT"
    if type in (pa.string(), pa.binary()):
        return "BYTES"
    hint = "integers, DECIMAL, FLOAT, DOUBLE, BINARY, STRING, and arrays of these"
    raise UnsupportedError(
        f"column {name}: tf.Examples cannot hold {type} (they hold {hint})", path=name, hint=hint
    )


def _quoted(name: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in name.encode())


def _check_names(schema: pa.Schema, folders: set[str]) -> None:
    both = sorted(folders.intersection(schema.names))
    if both:
        hint = "leave it out with the option columns, or load the files by a glob"
        raise FormatError(
            f"column {both[0]}: it is in the files, but also in the names of folders ({hint})",
            path=both[0],
            hint=hint,
        )
