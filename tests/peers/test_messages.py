"""Messages as columns beside ptars 0.0.25 and protarrow 0.16: the same types and values for the
same options, and what they do otherwise. protobuf's upb judges (python/tests/message_reference.py).
"""

from __future__ import annotations

from random import Random
from typing import Any

import columnstone as cst
import message_reference as ref
import pyarrow as pa
import pytest
from message_check import decoder_of
from message_corners import ID_STATE, field, group, number
from message_types import Case, stored_case
from message_wire import random_record

protarrow = pytest.importorskip("protarrow")
ptars = pytest.importorskip("ptars")

THEIRS = ref.Options(enums="int32", offsets=32)  # what both have when nothing is said
COMMON = [
    ("everything3", "Scalars"),
    ("everything3", "Optionals"),
    ("everything3", "Lists"),
    ("everything2", "Scalars"),
    ("everything2", "Lists"),
]


def ours(case: Case, options: ref.Options, records: list[bytes]) -> Any:
    return pa.record_batch(decoder_of(case, options).decode(records))


def ptars_batch(case: Case, records: list[bytes], **options: Any) -> Any:
    config = ptars.PtarsConfig(**options)
    pool = ptars.HandlerPool([case.cls.DESCRIPTOR.file], config)
    return pool.get_for_message(case.cls.DESCRIPTOR).list_to_record_batch(records)


def ours_of(case: Case, record: bytes) -> Any:
    return ref.plain_structs(ours(case, THEIRS, [record]).to_struct_array())[0]


def ptars_of(case: Case, record: bytes) -> Any:
    return ptars_batch(case, [record]).to_pylist()[0]


# ---- the same ----


@pytest.mark.parametrize("package, message", COMMON)
def test_the_same_types_and_values(package: str, message: str) -> None:
    case = stored_case(package, message)
    r = Random(message)
    records = [random_record(r, case, loose=False) for _ in range(50)]
    batch = ours(case, THEIRS, records)
    messages = [case.cls.FromString(record) for record in records]
    for theirs in (
        ptars_batch(case, records),
        protarrow.messages_to_record_batch(messages, case.cls),
    ):
        assert theirs.schema == batch.schema
        rows = ref.plain_structs(batch.to_struct_array())
        assert ref.plain_structs(theirs.to_struct_array()) == rows


@pytest.mark.parametrize(
    "column, theirs, mine",
    [
        ("timestamp", {"timestamp_tz": None}, {"time_zone": None}),
        ("timestamp", {"timestamp_unit": "ms"}, {"timestamp_unit": "ms"}),
        ("duration", {"duration_unit": "us"}, {"duration_unit": "us"}),
        ("time_of_day", {"time_unit": "s"}, {"time_unit": "s"}),
        ("date", {}, {}),
        ("w_int64", {}, {}),
        ("w_string", {"use_large_string": True, "use_large_list": True}, {"offsets": 64}),
        ("w_bytes", {"use_large_binary": True}, {"offsets": 64}),
        ("null_value", {"enum_repr": "string"}, {"enums": "text"}),
        ("null_value", {"enum_repr": "binary"}, {"enums": "binary"}),
        ("w_int64s", {"list_value_name": "element"}, {"list_item": "element"}),
        ("w_int64s", {"list_nullable": True}, {"nullable_lists": True}),
        ("w_int64s", {"list_value_nullable": True}, {"nullable_items": True}),
        ("timestamp_of", {"map_nullable": True}, {"nullable_lists": True}),
        ("timestamp_of", {"map_value_nullable": True}, {"nullable_items": True}),
    ],
)
def test_the_same_options(column: str, theirs: dict[str, Any], mine: dict[str, Any]) -> None:
    case = stored_case("everything3", "Known")
    config = ptars.PtarsConfig(**theirs)
    options = {"enums": "int32", "offsets": 32, **mine}
    decoder = cst.decoder(
        "message", message=case.message, columns=[column], descriptors=case.descriptors, **options
    )
    schema = ptars.get_schema(case.cls.DESCRIPTOR, config)
    assert pa.schema(decoder.arrow_schema).field(column) == schema.field(column)


# ---- what ptars gets wrong ----

O3, K3, E3 = (stored_case("everything3", name) for name in ("Optionals", "Known", "Everything"))
S2, L2, E2 = (stored_case("everything2", name) for name in ("Scalars", "Lists", "Everything"))
KEY, FIRST, LAST = field(1, b"k"), field(2, b"v"), field(2, b"w")


@pytest.mark.parametrize(
    "case, record, column, right, wrong",
    [
        (E3, number(9, 1) + number(10, 1), "yes", None, True),
        (
            E3,
            field(5, KEY, FIRST) + field(5, KEY, LAST),
            "labels",
            {"k": "w"},
            [("k", "v"), ("k", "w")],
        ),
        (E3, field(5, KEY, number(3, 1)), "labels", {}, [("k", "")]),
        (S2, number(14, 77), "f_enum", None, 77),
        (L2, number(14, 1) + number(14, 77), "f_enum", [1], [1, 77]),
    ],
    ids=["oneof of two members", "map key twice", "odd map entry", "closed enum", "closed enums"],
)
def test_values_that_ptars_gets_wrong(
    case: Case, record: bytes, column: str, right: Any, wrong: Any
) -> None:
    options = ref.Options(columns=((column,),), enums="int32", offsets=32)
    row = ref.plain_structs(ours(case, options, [record]).to_struct_array())[0]
    assert row == ref.Reference(case.cls.DESCRIPTOR, options).row(case.cls.FromString(record))
    assert row[column] == right
    assert ptars_of(case, record)[column] == wrong


@pytest.mark.parametrize(
    "record, column, wrong",
    [
        (field(3, number(2, 5)), "date", 0),
        (field(3, number(1, 2023), number(2, 2), number(3, 30)), "date", 0),
        (field(1, number(1, 2**62)), "timestamp", 2**63 - 1),
        (field(4, number(1, 25)), "time_of_day", 25 * 3600 * 10**9),
    ],
    ids=["date without a year", "30 February", "far timestamp", "25 o'clock"],
)
def test_values_that_ptars_makes_up(record: bytes, column: str, wrong: int) -> None:
    with pytest.raises(cst.errors.SchemaError) as caught:
        ours(K3, THEIRS, [record])
    assert caught.value.path == column
    assert ref.plain(ptars_batch(K3, [record]).column(column)) == [wrong]


@pytest.mark.parametrize(
    "case, record, column, right",
    [
        (K3, field(41, KEY), "timestamp_of", {"k": 0}),
        (E3, field(8), "by_number", None),
    ],
    ids=["a timestamp", "a message"],
)
def test_map_entries_without_a_value_end_ptars(
    case: Case, record: bytes, column: str, right: Any
) -> None:
    value = ours_of(case, record)[column]
    assert value == right or (right is None and list(value) == [0])
    with pytest.raises(BaseException, match="unmasked nulls"):
        ptars_of(case, record)


def test_ptars_takes_messages_without_their_required_fields() -> None:
    with pytest.raises(cst.errors.SchemaError, match="required"):
        ours(E2, THEIRS, [b"\x08\x01"])
    assert ptars_of(E2, b"\x08\x01")["id"] == 1


def test_ptars_leaves_groups_and_extensions_out() -> None:
    record = ID_STATE + group(5, b"\x09" + b"\0" * 8) + number(1000, 7)
    row = ours_of(E2, record)
    assert row["point"] == {"x": "0.0", "y": None} and row["(everything2.extra)"] == 7
    theirs = ptars_of(E2, record)
    assert theirs["point"] is None and not any("extra" in name for name in theirs)


def test_ptars_does_not_know_editions() -> None:
    case = stored_case("editions")
    assert ours_of(case, b"\x18\x01")["required"] == 1
    with pytest.raises(BaseException, match="index out of bounds"):
        ptars_of(case, b"\x18\x01")


def test_ptars_refuses_text_of_proto2_that_is_not_utf8_even_as_bytes() -> None:
    record = field(9, b"\xff")
    options = ref.Options(binary_strings=True, offsets=32)
    assert ours(S2, options, [record]).column("f_string").to_pylist() == [b"\xff"]
    with pytest.raises(ValueError, match="UTF-8"):
        ptars_of(S2, record)


# ---- what protarrow does not do ----


@pytest.mark.parametrize(
    "case, message", [(E2, "TYPE_GROUP"), (E3, "Recursive structure")], ids=["groups", "recursion"]
)
def test_types_that_protarrow_refuses(case: Case, message: str) -> None:
    assert len(decoder_of(case, THEIRS).arrow_schema) > 10
    with pytest.raises(TypeError, match=message):
        protarrow.message_type_to_schema(case.cls)


def test_protarrow_gives_unknown_numbers_the_first_name() -> None:
    case = stored_case("everything3", "Scalars")
    record = number(14, 77)
    options = ref.Options(enums="text")
    assert ours(case, options, [record]).column("f_enum").to_pylist() == ["77"]
    config = protarrow.ProtarrowConfig(enum_type=pa.string())
    theirs = protarrow.messages_to_record_batch([case.cls.FromString(record)], case.cls, config)
    assert theirs.column("f_enum").to_pylist() == ["UNKNOWN"]
