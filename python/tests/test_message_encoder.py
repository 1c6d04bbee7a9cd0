"""Encoders of messages: what is encoded, and what is refused."""

from __future__ import annotations

import io
from typing import Any

import columnstone as cst
import messages
import polars as pl
import pyarrow as pa
import pytest

RECORDS = messages.sessions(20)
SESSION = messages.shop("Session")


@pytest.mark.parametrize(
    "make",
    [
        lambda batch: batch,
        pa.record_batch,
        pa.table,
        lambda batch: pa.table(batch).to_reader(7),
        lambda batch: pa.concat_tables([pa.table(batch).slice(0, 9), pa.table(batch).slice(9)]),
        pl.DataFrame,
    ],
)
def test_what_is_encoded(make) -> None:
    batch = cst.decoder("message", message=SESSION).decode(RECORDS)
    encoder = cst.encoder("message", message=SESSION)
    assert encoder.encode(make(batch)).to_pylist() == RECORDS


@pytest.mark.parametrize(
    "options",
    [
        {"enums": "text"},
        {"enums": "binary"},
        {"enums": "int32"},
        {"nullable_lists": True},
        {"nullable_items": True},
        {"plain_types": True},
        {"binary_strings": True},
        {"maps_as_lists": True},
        {"time_zone": None, "timestamp_unit": "ms", "duration_unit": "ms"},
        {"list_item": "element", "map_key": "k", "map_value": "v"},
        {"offsets": 32},
        {"binary_views": True},
    ],
)
def test_what_the_decoder_gives_is_taken(options: dict[str, Any]) -> None:
    batch = cst.decoder("message", message=SESSION, **options).decode(RECORDS)
    assert cst.encoder("message", message=SESSION).encode(batch).to_pylist() == RECORDS


def test_rows_of_python() -> None:
    """What pyarrow gives of the decoded columns, and dicts for maps."""
    encoder = cst.encoder("message", message=SESSION)
    rows = messages.rows(RECORDS)
    assert encoder.encode(rows).to_pylist() == RECORDS
    dicts = [{**row, "labels": dict(row["labels"])} for row in rows]
    assert encoder.encode(dicts).to_pylist() == RECORDS
    columns = {name: [row[name] for row in dicts] for name in dicts[0]}
    assert encoder.encode(columns).to_pylist() == RECORDS
    out = io.BytesIO()
    assert cst.write(iter(dicts), out, message=SESSION) == len(dicts)
    found = cst.open(io.BytesIO(out.getvalue()), "raw")
    assert [record for batch in found for record in batch.to_pydict()["record"]] == RECORDS
    assert encoder.encode([{"labels": {}}, {}]).to_pylist() == [b"", b""]
    with pytest.raises(cst.Error, match="labels"):
        encoder.encode([{"labels": 5}])


def test_maps_of_messages_in_rows() -> None:
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(name="m.proto", syntax="proto3")
    message = file.message_type.add(name="M")
    entry = message.nested_type.add(name="SubEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type="TYPE_INT32", label="LABEL_OPTIONAL")
    entry.field.add(
        name="value", number=2, type="TYPE_MESSAGE", label="LABEL_OPTIONAL", type_name=".M"
    )
    message.field.add(
        name="sub", number=1, type="TYPE_MESSAGE", label="LABEL_REPEATED", type_name=".M.SubEntry"
    )
    message.field.add(
        name="deep", number=2, type="TYPE_MESSAGE", label="LABEL_REPEATED", type_name=".M"
    )
    encoder = cst.encoder("message", message="M", descriptors=file)
    rows = [{"sub": {1: {"deep": [{"sub": {2: {}}}]}}}]
    inner = b"\x0a\x04\x08\x02\x12\x00"
    value = b"\x12" + bytes([len(inner)]) + inner
    entry_bytes = b"\x08\x01\x12" + bytes([len(value)]) + value
    assert encoder.encode(rows).to_pylist() == [b"\x0a" + bytes([len(entry_bytes)]) + entry_bytes]


def test_unknown_fields_come_back() -> None:
    records = [b"\x08\x05\xa0\x06\x01", b"\x08\x06"]
    batch = cst.decoder("message", message=SESSION, unknown_fields="rest").decode(records)
    encoder = cst.encoder("message", message=SESSION, unknown_fields="rest")
    assert encoder.encode(batch).to_pylist() == records
    with pytest.raises(cst.errors.NotFoundError, match="rest"):
        cst.encoder("message", message=SESSION).encode(batch)


def test_errors_of_encoding() -> None:
    encoder = cst.encoder("message", message=SESSION)
    with pytest.raises(cst.errors.NotFoundError, match="idd"):
        encoder.encode([{"idd": 1}])
    with pytest.raises(cst.errors.UnsupportedError) as caught:
        encoder.encode([{"coupon": {"percent": 1}}, {"coupon": {"percent": 2**31}}])
    assert (caught.value.record, caught.value.path) == (1, "coupon.percent")
    with pytest.raises(TypeError, match=r"encode\(\) takes"):
        encoder.encode(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["text", "json"])
def test_forms(form: Any) -> None:
    """What protobuf itself reads back as the same message."""
    from google.protobuf import json_format, text_format

    batch = cst.decoder("message", message=SESSION).decode(RECORDS)
    pool = SESSION.DESCRIPTOR.file.pool
    for text, record in zip(
        cst.encoder("message", message=SESSION, form=form).encode(batch).to_pylist(),
        RECORDS,
        strict=True,
    ):
        again = SESSION()
        if form == "text":
            text_format.Parse(text, again, descriptor_pool=pool)
        else:
            json_format.Parse(text, again, descriptor_pool=pool)
        assert again.SerializeToString(deterministic=True) == record


def test_forms_that_are_only_read() -> None:
    for form in ("confluent", "confluent_plain"):
        with pytest.raises(cst.errors.UnsupportedError, match="form"):
            cst.encoder("message", message=SESSION, form=form)  # type: ignore[arg-type]
