"""Arrow types as Spark types: exactly, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import types as spark

from .._base.errors import SchemaError, UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_SIMPLE = {
    pa.bool_(): spark.BooleanType,
    pa.int8(): spark.ByteType,
    pa.int16(): spark.ShortType,
    pa.int32(): spark.IntegerType,
    pa.int64(): spark.LongType,
    pa.uint8(): spark.ShortType,
    pa.uint16(): spark.IntegerType,
    pa.uint32(): spark.LongType,
    pa.float16(): spark.FloatType,
    pa.float32(): spark.FloatType,
    pa.float64(): spark.DoubleType,
    pa.string(): spark.StringType,
    pa.large_string(): spark.StringType,
    pa.string_view(): spark.StringType,
    pa.binary(): spark.BinaryType,
    pa.large_binary(): spark.BinaryType,
    pa.binary_view(): spark.BinaryType,
    pa.date32(): spark.DateType,
    pa.date64(): spark.TimestampNTZType,  # milliseconds
    pa.null(): spark.NullType,
}
# Names for the JVM, by the name of Spark's class.
_ARROW = {
    "BooleanType": pa.bool_(),
    "ByteType": pa.int8(),
    "ShortType": pa.int16(),
    "IntegerType": pa.int32(),
    "LongType": pa.int64(),
    "FloatType": pa.float32(),
    "DoubleType": pa.float64(),
    "StringType": pa.string(),
    "BinaryType": pa.binary(),
    "DateType": pa.date32(),
    "TimestampType": pa.timestamp("us", "UTC"),
    "TimestampNTZType": pa.timestamp("us"),
    "DayTimeIntervalType": pa.duration("us"),
    "TimeType": pa.time64("ns"),
    "NullType": pa.null(),
}


def spark_schema(schema: pa.Schema) -> StructType:
    """The columns as Spark types. All are nullable, as in Spark's own file sources.
    UnsupportedError, with the column, for a type without a counterpart in Spark."""
    repeated = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if repeated:
        raise UnsupportedError(f"several columns have the name {repeated[0]!r}", path=repeated[0])
    return spark.StructType(
        [spark.StructField(f.name, _to_spark(f.type, f.name), True) for f in schema]
    )


def arrow_schema(schema: StructType) -> pa.Schema:
    """The columns as Spark's workers pass them to the JVM: with 32-bit offsets."""
    return pa.schema(
        [pa.field(f.name, arrow_type(f.dataType, f.name), f.nullable) for f in schema.fields]
    )


def _to_spark(type: pa.DataType, path: str) -> DataType:
    known = _SIMPLE.get(type)
    if known is not None:
        return known()
    for fits, make in _MAKERS:
        if fits(type):
            return make(type, path)
    raise _unsupported(type, path)


def _unsupported(type: pa.DataType, path: str) -> UnsupportedError:
    hint = "leave it out with the option columns, or read it with columnstone.open"
    return UnsupportedError(f"column {path}: {type} is not supported by Spark ({hint})", path=path)


def _decimal(type: Any, path: str) -> DataType:
    if type.precision > 38 or not 0 <= type.scale <= type.precision:
        raise _unsupported(type, path)
    return spark.DecimalType(type.precision, type.scale)


def _timestamp(type: Any, path: str) -> DataType:
    return spark.TimestampNTZType() if type.tz is None else spark.TimestampType()


def _time(type: Any, path: str) -> DataType:
    if not hasattr(spark, "TimeType"):  # before Spark 4.1
        raise _unsupported(type, path)
    return spark.TimeType()


def _struct(type: Any, path: str) -> DataType:
    names = [field.name for field in type]
    if len(set(names)) < len(names):
        raise _unsupported(type, path)
    fields = [
        spark.StructField(field.name, _to_spark(field.type, f"{path}.{field.name}"), True)
        for field in type
    ]
    return spark.StructType(fields)


_MAKERS: list[tuple[Any, Any]] = [
    (lambda t: t == pa.uint64(), lambda t, path: spark.DecimalType(20, 0)),
    (pa.types.is_fixed_size_binary, lambda t, path: spark.BinaryType()),
    (pa.types.is_decimal, _decimal),
    (pa.types.is_timestamp, _timestamp),
    (pa.types.is_time, _time),
    (pa.types.is_duration, lambda t, path: spark.DayTimeIntervalType()),
    (
        lambda t: (
            pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t)
        ),
        lambda t, path: spark.ArrayType(_to_spark(t.value_type, path), True),
    ),
    (
        pa.types.is_map,
        lambda t, path: spark.MapType(_to_spark(t.key_type, path), _to_spark(t.item_type, path)),
    ),
    (pa.types.is_struct, _struct),
    (pa.types.is_dictionary, lambda t, path: _to_spark(t.value_type, path)),
    (
        lambda t: isinstance(t, pa.BaseExtensionType),
        lambda t, path: _to_spark(t.storage_type, path),
    ),
]


def arrow_type(type: DataType, path: str) -> pa.DataType:
    """The Arrow type for a Spark type, as Spark's workers must return it."""
    known = _ARROW.get(type.__class__.__name__)
    if known is not None:
        return known
    if isinstance(type, spark.DecimalType):
        return pa.decimal128(type.precision, type.scale)
    if isinstance(type, spark.ArrayType):
        item = arrow_type(type.elementType, path)
        return pa.list_(pa.field("element", item, type.containsNull))
    if isinstance(type, spark.MapType):
        value = arrow_type(type.valueType, path)
        return pa.map_(
            pa.field("key", arrow_type(type.keyType, path), False),
            pa.field("value", value, type.valueContainsNull),
        )
    if isinstance(type, spark.StructType):
        return pa.struct(
            [
                pa.field(f.name, arrow_type(f.dataType, f"{path}.{f.name}"), f.nullable)
                for f in type.fields
            ]
        )
    raise UnsupportedError(
        f"column {path}: Spark's {type.simpleString()} has no Arrow type", path=path
    )


# Casts


def check_casts(found: pa.Schema, wanted: pa.Schema) -> None:
    """SchemaError, with column and types, unless each wanted column exists with a type that can be
    converted to the wanted type without loss; `cast_column` finds single values that cannot be."""
    for field in wanted:
        if found.get_field_index(field.name) < 0:
            near = ", ".join(found.names[:20])
            raise SchemaError(
                f"column {field.name}: it is in the schema for Spark, but not in the data "
                f"(the data has {near})",
                path=field.name,
            )
        _check(found.field(field.name).type, field.type, field.name)


def cast_batch(batch: pa.RecordBatch, wanted: pa.Schema) -> pa.RecordBatch:
    """The wanted columns of a batch that passed check_casts, in the wanted types."""
    columns = [cast_column(batch.column(field.name), field) for field in wanted]
    return pa.RecordBatch.from_arrays(columns, schema=wanted)


def cast_column(column: pa.Array, field: pa.Field) -> pa.Array:
    """A column with the type of the field. SchemaError, without the value, if a value cannot be
    converted."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if not column.type.equals(field.type):
        found = column.type
        try:
            column = column.cast(field.type)
        except pa.ArrowInvalid:
            hint = ", or ".join(_hints(found, field.type))
            raise SchemaError(
                f"column {field.name}: a value of {found} cannot be {field.type} without loss"
                + (f" ({hint})" if hint else ""),
                path=field.name,
                hint=hint or None,
            ) from None
    if not field.nullable and column.null_count > 0:
        raise SchemaError(
            f"column {field.name}: a value is null, but the schema for Spark says NOT NULL",
            path=field.name,
        )
    return column


def _hints(found: pa.DataType, wanted: pa.DataType) -> list[str]:
    text = str(found)
    hints = []
    if "[ns" in text:
        hints.append('of messages: message_options {"timestamp_unit": "us", "duration_unit": "us"}')
    if "binary" in text and "string" in str(wanted):
        hints.append("for bytes that are not UTF-8, use BINARY")
    return hints


def _check(found: pa.DataType, wanted: pa.DataType, path: str) -> None:
    if isinstance(found, pa.BaseExtensionType):
        found = found.storage_type
    if pa.types.is_dictionary(found):
        found = found.value_type
    if found == wanted or pa.types.is_null(found):
        return
    kind = _kind(found)
    if (
        kind is None
        or _kind(wanted) not in _BECOMES.get(kind, (kind,))
        or (pa.types.is_floating(found) and wanted.bit_width < found.bit_width)
        or (pa.types.is_timestamp(found) and (found.tz is None) != (wanted.tz is None))
    ):
        raise SchemaError(
            f"column {path}: found {found} in the data, expected {wanted} as in the schema for "
            "Spark",
            path=path,
        )
    _check_children(kind, found, wanted, path)


def _check_children(kind: str, found: pa.DataType, wanted: pa.DataType, path: str) -> None:
    if kind == "list":
        if not wanted.value_field.nullable and found.value_field.nullable:
            raise _not_null(path)
        _check(found.value_type, wanted.value_type, path)
    elif kind == "map":
        if not wanted.item_field.nullable and found.item_field.nullable:
            raise _not_null(path)
        _check(found.key_type, wanted.key_type, path)
        _check(found.item_type, wanted.item_type, path)
    elif kind == "struct":
        for field in wanted:
            inner = f"{path}.{field.name}"
            at = found.get_field_index(field.name)
            if at < 0:
                raise SchemaError(
                    f"column {inner}: it is in the schema for Spark, but not in the data",
                    path=inner,
                )
            if not field.nullable and found.field(at).nullable:
                raise _not_null(inner)
            _check(found.field(at).type, field.type, inner)


def _not_null(path: str) -> SchemaError:
    hint = "declare it nullable"
    return SchemaError(
        f"column {path}: its values may be null, but the schema for Spark says NOT NULL ({hint})",
        path=path,
        hint=hint,
    )


def _kind(type: pa.DataType) -> str | None:
    return next((name for name, fits in _KINDS if fits(type)), None)


_KINDS: list[tuple[str, Any]] = [
    ("bool", pa.types.is_boolean),
    ("int", pa.types.is_integer),
    ("float", pa.types.is_floating),
    ("decimal", pa.types.is_decimal),
    ("text", lambda t: t in (pa.string(), pa.large_string(), pa.string_view())),
    (
        "bytes",
        lambda t: (
            t in (pa.binary(), pa.large_binary(), pa.binary_view())
            or pa.types.is_fixed_size_binary(t)
        ),
    ),
    ("date", pa.types.is_date32),
    ("timestamp", lambda t: pa.types.is_timestamp(t) or t == pa.date64()),
    ("time", pa.types.is_time),
    ("duration", pa.types.is_duration),
    (
        "list",
        lambda t: (
            pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t)
        ),
    ),
    ("map", pa.types.is_map),
    ("struct", pa.types.is_struct),
]
# The types that a kind can be converted to, besides itself, without loss or with an error: Arrow
# checks the values.
_BECOMES = {
    "int": ("int", "float", "decimal"),
    "text": ("text", "bytes"),
    "bytes": ("bytes", "text"),
}
