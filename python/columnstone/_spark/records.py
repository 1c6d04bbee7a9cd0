"""Decodes and encodes columns of serialized records, batch by batch, in Spark's workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._base.errors import CorruptError, SchemaError, argument_error
from .types import arrow_schema, cast_batch, spark_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql.types import StructType

    from .._api.codec import Decoder, Encoder
    from .._core import Array


class Decoding:
    """Decodes binary arrays to structs of one type. It pickles: each worker has one."""

    def __init__(self, decoder: Decoder, column: str, on_error: str) -> None:
        self._decoder = decoder
        self._column = column
        self._goes_on = on_error != "raise"
        self.schema: StructType = spark_schema(pa.schema(decoder.arrow_schema))
        self._wanted = arrow_schema(self.schema)

    def structs(self, values: pa.Array) -> pa.Array:
        """A struct for each record; null for a null, and for a record that cannot be decoded."""
        decoded, rows = self.sound(values)
        structs = decoded.to_struct_array()
        if len(structs) == len(values):
            return structs
        places: list[int | None] = [None] * len(values)
        for at, row in enumerate(rows):
            places[row] = at
        return structs.take(pa.array(places, pa.int64()))

    def sound(self, values: pa.Array) -> tuple[pa.RecordBatch, Sequence[int]]:
        """The valid records, and their row numbers."""
        rows: Sequence[int] = range(len(values))
        if values.null_count > 0:
            rows = [row for row, there in enumerate(values.is_valid().to_pylist()) if there]
            values = values.drop_null()
        pieces, bad = self._pieces(values)
        if bad:
            left_out = set(bad)
            rows = [row for at, row in enumerate(rows) if at not in left_out]
        if len(pieces) == 1:
            return pieces[0], rows
        table = pa.Table.from_batches(pieces, self._wanted).combine_chunks()
        return (table.to_batches() or [pa.RecordBatch.from_pylist([], self._wanted)])[0], rows

    def _pieces(self, values: pa.Array) -> tuple[list[pa.RecordBatch], list[int]]:
        """The rows between bad records, and the numbers of the bad records. The error of a call
        names the first bad one, so that no record is decoded more than twice."""
        pieces: list[pa.RecordBatch] = []
        bad: list[int] = []
        begin = 0
        while begin < len(values) or not (pieces or bad):
            try:
                pieces.append(self._decode(values[begin:]))
                break
            except (CorruptError, SchemaError) as error:
                if not self._goes_on or error.record is None:
                    error.add_note(f"in column {self._column}, row {error.record} of a batch")
                    raise
                end = begin + error.record
                if end > begin:
                    pieces.append(self._decode(values[begin:end]))
                bad.append(end)
                begin = end + 1
        return pieces, bad

    def _decode(self, values: pa.Array) -> pa.RecordBatch:
        return cast_batch(pa.record_batch(self._decoder.decode(values)), self._wanted)


class Encoding:
    """Encodes struct arrays to serialized tf.Examples."""

    def __init__(self, encoder: Encoder[Array]) -> None:
        self._encoder = encoder

    def records(self, structs: pa.Array) -> pa.Array:
        """A record for each struct, null for a null."""
        there = structs.drop_null()
        records = pa.array(self._encoder.encode(pa.RecordBatch.from_struct_array(there)))
        records = records.cast(pa.binary())
        if structs.null_count == 0:
            return records
        at = iter(range(len(records)))
        valid = structs.is_valid().to_pylist()
        return records.take(pa.array([next(at) if there else None for there in valid], pa.int64()))


def decode_column(decoding: Decoding, column: Any) -> Any:
    """The column of structs that Spark makes from a binary column."""
    from pyspark.sql.functions import arrow_udf

    def decode(values: pa.Array) -> pa.Array:
        return decoding.structs(values)

    return arrow_udf(decode, decoding.schema)(column)


def encode_columns(encoding: Encoding, columns: Sequence[Any]) -> Any:
    """The binary column that Spark makes from columns."""
    from pyspark.sql.functions import arrow_udf, struct

    def encode(structs: pa.Array) -> pa.Array:
        return encoding.records(structs)

    return arrow_udf(encode, "binary")(struct(*columns))


def decode_frame(
    decoding: Decoding, frame: Any, column: str, keep: Sequence[str], on_error: str
) -> Any:
    """The data frame with the kept columns and then the decoded ones."""
    from pyspark.sql.types import StructField, StructType

    twice = sorted(set(keep).intersection(decoding.schema.names))
    if twice:
        raise argument_error(f"column {twice[0]} is both decoded and kept", "rename it first")
    fields = [StructField(name, frame.schema[name].dataType, True) for name in keep]
    skips = on_error == "skip"

    def decode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield _decoded(decoding, batch, skips)

    selected = frame.select(column, *keep)
    return selected.mapInArrow(decode, StructType([*fields, *decoding.schema.fields]))


def _decoded(decoding: Decoding, batch: pa.RecordBatch, skips: bool) -> pa.RecordBatch:
    """A batch with its first column decoded, after the other columns."""
    values = batch.column(0)
    kept = [batch.column(at) for at in range(1, batch.num_columns)]
    if skips:
        decoded, rows = decoding.sound(values)
        kept = [column.take(pa.array(rows, pa.int64())) for column in kept]
        made = decoded.columns
    else:
        made = decoding.structs(values).flatten()
    names = [*batch.schema.names[1:], *decoding.schema.names]
    return pa.RecordBatch.from_arrays([*kept, *made], names)
