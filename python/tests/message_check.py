"""Our decoder and encoder of messages against the reference: what a batch has to be, what has to be
refused, and the smallest record that shows a difference.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import columnstone as cst
import message_reference as ref
import pyarrow as pa
import pytest
from google.protobuf.message import DecodeError
from message_types import Case
from message_wire import is_map


def decoder_of(case: Case, options: ref.Options) -> cst.codec.Decoder:
    return cst.decoder(
        "message", message=case.message, descriptors=case.descriptors, **options.keywords()
    )


def encoder_of(case: Case, options: ref.Options) -> cst.codec.Encoder[cst.arrow.Array]:
    return cst.encoder(
        "message",
        message=case.message,
        descriptors=case.descriptors,
        unknown_fields=options.unknown_fields,
    )


def decoded(decoder: cst.codec.Decoder, records: list[bytes]) -> Any:
    batch = pa.record_batch(decoder.decode(pa.array(records, pa.large_binary())))
    batch.validate(full=True)
    for i, field in enumerate(batch.schema):
        ref.no_hidden_nulls(batch.column(i), field)
    return batch


def rows_of(batch: Any) -> list[Any]:
    return ref.plain_structs(batch.to_struct_array())


def schema_difference(ours: pa.Schema, expected: pa.Schema) -> str | None:
    if ours == expected:
        return None
    if ours.names != expected.names:
        return f"columns {ours.names}, not {expected.names}"
    pairs = zip(ours, expected, strict=True)
    return next(f"{a}\n{b} was expected" for a, b in pairs if a != b)


def check_batch(
    decoder: cst.codec.Decoder,
    reference: ref.Reference,
    records: list[bytes],
    rows: list[Any],
) -> Any:
    batch = decoded(decoder, records)
    wrong = schema_difference(batch.schema, reference.schema)
    assert wrong is None, wrong
    assert batch.num_rows == len(rows)
    for record, row, expected in zip(records, rows_of(batch), rows, strict=True):
        assert expected == row, record.hex()
    return batch


def check_refused(
    decoder: cst.codec.Decoder, record: bytes, kind: type[Exception] = cst.Error
) -> None:
    with pytest.raises(kind) as caught:
        decoder.decode([record])
    error = caught.value
    assert isinstance(error, cst.errors.CorruptError | cst.errors.SchemaError)
    assert error.record == 0
    if isinstance(error, cst.errors.SchemaError):
        assert error.path


class Expected:
    """What a record has to become: a row, a refusal, or (None) either."""

    def __init__(self, case: Case, reference: ref.Reference, record: bytes) -> None:
        self.message = case.cls()
        self.row: Any = None
        self.refused: bool | None = True
        self.kind: type[Exception] = cst.errors.CorruptError
        options = reference.options
        unread = reference.has_opaque or options.columns is not None
        try:
            self.message.ParseFromString(record)
        except DecodeError as error:
            if unread or (options.binary_strings and "UTF-8" in str(error)):
                self.refused = None
            return
        try:
            self.row = reference.row(self.message)
            self.refused = False
        except ref.Refused:
            self.kind = cst.errors.SchemaError
        except ref.Unreadable:
            self.refused = None


def has_field_zero(decoder: cst.codec.Decoder, *records: bytes) -> bool:
    """Malformed; but upb takes it in unknown groups, and in types without fields."""
    try:
        decoder.decode(records)
    except cst.errors.CorruptError as error:
        return "a field has the number 0" in str(error)
    return False


def difference(case: Case, reference: ref.Reference, record: bytes) -> str | None:
    """What is wrong with one record, or None."""
    expected = Expected(case, reference, record)
    decoder = decoder_of(case, reference.options)
    try:
        batch = decoded(decoder, [record])
    except cst.Error as error:
        if expected.refused is False:
            is_zero = "a field has the number 0" in str(error)
            return None if is_zero else f"refused: {error!r}"
        return None if expected.refused is None or isinstance(error, expected.kind) else repr(error)
    if expected.refused:
        return f"taken, not refused: {rows_of(batch)[0]}"
    row = rows_of(batch)[0]
    if expected.refused is None or expected.row == row:
        return None
    return f"expected {expected.row}\ngot {row}"


def shrunk(record: bytes, is_bad: Callable[[bytes], bool]) -> bytes:
    """With as many bytes left out as may be."""
    before = b"x" + record
    while len(record) < len(before):
        before = record
        size = len(record)
        while size > 0:
            at = 0
            while at < len(record):
                shorter = record[:at] + record[at + size :]
                if is_bad(shorter):
                    record = shorter
                else:
                    at += size
            size = size * 2 // 3
    return record


def report(case: Case, reference: ref.Reference, record: bytes) -> str:
    small = shrunk(record, lambda r: difference(case, reference, r) is not None)
    return (
        f"{case.message} with {reference.options.keywords()}: {small.hex()}\n"
        f"{difference(case, reference, small)}\nof the set {case.descriptors.hex()}"
    )


# ---- options ----


def random_options(r: Random, case: Case) -> ref.Options:
    if r.randrange(3) == 0:
        return ref.Options()
    columns = random_columns(r, case.cls.DESCRIPTOR) if r.randrange(3) == 0 else None
    return ref.Options(
        columns=columns,
        enums=r.choice(["dictionary", "dictionary", "text", "int32"]),
        defaults=r.randrange(3) == 0,
        nullable_lists=r.randrange(4) == 0,
        nullable_items=r.randrange(4) == 0,
        plain_types=r.randrange(4) == 0,
        binary_strings=r.randrange(4) == 0,
        timestamp_unit=r.choice(["ns", "us", "ms", "s"]),
        time_zone=r.choice(["UTC", None, "Europe/Berlin"]),
        duration_unit=r.choice(["ns", "us", "ms", "s"]),
        time_unit=r.choice(["ns", "us", "ms", "s"]),
        recursion=r.choice([0, 1, 2, 2]),
        # Nobody looks for unknown numbers of enums and in entries of maps that are not wanted.
        unknown_fields=r.choice([None, "unknown"]) if columns is None else None,
        list_item=r.choice(["item", "element"]),
        map_key=r.choice(["key", "k"]),
        map_value=r.choice(["value", "v"]),
        offsets=r.choice([64, 64, 32]),
        binary_views=r.randrange(5) == 0,
    )


def random_columns(r: Random, descriptor: Any) -> tuple[ref.Path, ...]:
    """Some paths, none of which goes into what another one is."""
    paths = [random_path(r, descriptor) for _ in range(r.randint(1, 5))]
    kept: list[ref.Path] = []
    for path in paths:
        if not any(path[: len(k)] == k or k[: len(path)] == path for k in kept):
            kept.append(path)
    return tuple(kept)


def random_path(r: Random, descriptor: Any) -> ref.Path:
    field = r.choice(ref.fields_of(descriptor))
    name = ref.name_of(field)
    if is_map(field):
        value = field.message_type.fields_by_name["value"].message_type
        if value is None or is_known(value) or r.randrange(2):
            return (name,)
        return (name, "value", *random_path(r, value))
    if field.message_type is None or is_known(field.message_type) or r.randrange(4) == 0:
        return (name,)
    return (name, *random_path(r, field.message_type))


def is_known(descriptor: Any) -> bool:
    return descriptor.full_name.startswith("google.") or not ref.fields_of(descriptor)
