"""Saved views: their bytes as docs/views.md says, and the descriptors in them, which protobuf's own
pool takes and which decode as all of them do."""

from __future__ import annotations

import hashlib
import pathlib
import random
import subprocess
import sys
from typing import Any

import columnstone as cst
import messages
import pyarrow as pa
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message
from message_types import Case, random_case, stored_case
from message_wire import random_record

VIEWS = pathlib.Path(__file__).parents[2] / "tests" / "data" / "views"
HEAD, DIGEST = 16, 32


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data: bytes) -> dict[int, list[bytes]]:
    """The fields of a serialized message that have bytes."""
    found: dict[int, list[bytes]] = {}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        size, at = varint(data, at)
        if tag & 7 == 2:
            found.setdefault(tag >> 3, []).append(data[at : at + size])
            at += size
    return found


def content(view: bytes) -> dict[int, list[bytes]]:
    assert view[:8] == b"CSTVIEW\n"
    assert int.from_bytes(view[8:12], "little") == 1
    assert int.from_bytes(view[12:16], "little") == len(view) - HEAD - DIGEST
    assert hashlib.sha256(view[:-DIGEST]).digest() == view[-DIGEST:]
    return fields(view[HEAD:-DIGEST])


def descriptors_of(view: bytes) -> list[descriptor_pb2.FileDescriptorProto]:
    (options,) = content(view)[4]
    (data,) = fields(options)[1]
    return list(descriptor_pb2.FileDescriptorSet.FromString(data).file)


def pool_of(view: bytes) -> descriptor_pool.DescriptorPool:
    """Every file comes after those that it imports."""
    pool = descriptor_pool.DescriptorPool()
    for file in descriptors_of(view):
        pool.AddSerializedFile(file.SerializeToString())
    return pool


@pytest.mark.parametrize("path", sorted(VIEWS.glob("v*/*.cstv")), ids=lambda path: path.stem)
def test_the_corpus(path: pathlib.Path) -> None:
    data = path.read_bytes()
    view = cst.View(data)
    assert view.digest == data[-DIGEST:].hex()
    assert view.to_bytes() == data
    parts = content(data)
    assert parts[2] == [view.text.encode()]
    assert [fields(output)[1][0].decode() for output in parts[10]] == list(view.outputs)
    assert [part.decode() for part in parts.get(11, [])] == list(view.source_paths())
    if view.message is not None:
        assert pool_of(data).FindMessageTypeByName(view.message).full_name == view.message


def test_what_nobody_wants_is_not_there() -> None:
    query = cst.Query(messages.shop("Session")).output("q", "event.query")
    data = query.view().to_bytes()
    session = pool_of(data).FindMessageTypeByName("shop.Session")
    assert [field.name for field in session.fields] == ["event"]
    assert [field.name for field in session.fields[0].message_type.fields] == ["query"]
    assert [file.name for file in descriptors_of(data)] == ["shop.proto"]
    assert len(data) < 400


def same_field(kept: Any, given: Any) -> bool:
    return all(
        getattr(kept, name) == getattr(given, name)
        for name in (
            "name",
            "number",
            "type",
            "is_repeated",
            "is_required",
            "has_presence",
            "is_packed",
        )
    )


def expression_of(field: Any) -> str:
    """All of a field, or the values of a message, because it may hold itself."""
    below = field.message_type
    is_value = below is None or below.full_name.startswith("google.")
    return f"`{field.name}`" if is_value else f"only(`{field.name}`, *)"


def is_simple(field: Any) -> bool:
    """No map of messages, which may hold themselves."""
    below = field.message_type
    is_map = below is not None and below.GetOptions().map_entry
    return not is_map or below.fields_by_name["value"].message_type is None


def is_sound(record: bytes, case: Case) -> bool:
    """What is damaged where a view does not look may be told of or not."""
    try:
        case.cls.FromString(record)
    except message.DecodeError:
        return False
    return True


def check_case(r: random.Random, case: Case) -> None:
    given = case.cls.DESCRIPTOR
    simple = [field for field in given.fields if is_simple(field)]
    wanted = r.sample(simple, k=min(len(simple), r.randint(1, 4)))
    if not wanted:
        return
    text = f"from message {case.message}"
    for i, field in enumerate(wanted):
        text += f"\noutput x{i} = {expression_of(field)}"
    query = cst.Query.from_text(text, descriptors=case.descriptors)
    view = query.view()
    data = view.to_bytes()
    kept = pool_of(data).FindMessageTypeByName(case.message)
    for field in kept.fields:
        assert same_field(field, given.fields_by_name[field.name]), field.name
        if field.containing_oneof is not None:
            siblings = given.fields_by_name[field.name].containing_oneof.fields
            assert [f.name for f in field.containing_oneof.fields] == [f.name for f in siblings]
    records = [
        record
        for record in (random_record(r, case, True) for _ in range(12))
        if is_sound(record, case)
    ]
    again = cst.View(data)
    assert outcome(again, records) == outcome(view, records)


def outcome(view: cst.View, records: list[bytes]) -> Any:
    try:
        return repr(pa.record_batch(view.run(records)).to_pylist())  # NaN is NaN
    except cst.Error as error:
        return type(error), error.record


def test_random_types() -> None:
    r = random.Random(14)
    for _ in range(60):
        check_case(r, random_case(r))


@pytest.mark.parametrize("name", ["everything2", "everything3", "editions"])
def test_types_of_every_syntax(name: str) -> None:
    r = random.Random(name)
    for _ in range(10):
        check_case(r, stored_case(name))


@pytest.mark.parametrize(
    "said",
    [
        "",
        " with recursion = 2",
        ' with time_zone = "UTC", enums = dictionary, map_key = key',
        ' with field_number_key = "PARQUET:field_id", unknown_fields = rest',
    ],
)
def test_the_program_saves_the_same(tmp_path: pathlib.Path, said: str) -> None:
    text = "from message shop.Session{}\nparam n: int64 = 3\noutput id = id + n\n"
    (tmp_path / "q.cstq").write_text(text.format(said))
    (tmp_path / "shop.desc").write_bytes(messages.SHOP)
    program = pathlib.Path(sys.executable).with_name("columnstone")
    build = [program, "view", "build", "q.cstq", "--proto-set", "shop.desc", "-o", "q.cstv"]
    options = ["--param", "n= 3", "--message-option", "list_item=element"]
    subprocess.run([*build, *options], cwd=tmp_path, check=True, capture_output=True)
    query = cst.Query.from_file(tmp_path / "q.cstq", descriptors=messages.SHOP)
    query.save(tmp_path / "p.cstv")
    usual = cst.Query.from_text(text.format(""), descriptors=messages.SHOP).view()
    assert (tmp_path / "q.cstv").read_bytes() == (tmp_path / "p.cstv").read_bytes()
    assert (tmp_path / "q.cstv").read_bytes() == usual.to_bytes()
    assert cst.View(tmp_path / "q.cstv").diff(usual) == ("", 0, 0)
