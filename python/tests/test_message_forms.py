"""Messages in protobuf's JSON and text format, ours against the protobuf package: the same texts
are taken, with the same values, and what is written is read back by it.
"""

from __future__ import annotations

import json
import pathlib
from random import Random
from typing import Any

import columnstone as cst
import messages
import pyarrow as pa
import pytest
from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    json_format,
    message_factory,
    text_format,
)
from message_types import Case, random_case, stored_case
from message_wire import random_record

STORED = [("everything2", "Everything"), ("everything3", "Everything"), ("editions", "Everything")]


def pool_of(case: Case) -> descriptor_pool.DescriptorPool:
    return case.cls.DESCRIPTOR.file.pool


def printed(case: Case, message: Any, form: str) -> bytes | None:
    """The message as the protobuf package prints it; None if it does not."""
    try:
        if form == "text":
            text = text_format.MessageToString(message, descriptor_pool=pool_of(case))
        else:
            text = json_format.MessageToJson(message, descriptor_pool=pool_of(case))
    except (json_format.SerializeToJsonError, TypeError, ValueError):
        return None
    except Exception as error:  # the content of an Any that does not parse
        assert "Error parsing" in str(error), error
        return None
    return text.encode()


def parsed(case: Case, text: bytes, form: str) -> Any:
    if form == "text":
        return text_format.Parse(text.decode(), case.cls(), descriptor_pool=pool_of(case))
    return json_format.Parse(text.decode(), case.cls(), descriptor_pool=pool_of(case))


def bytes_of(message: Any) -> bytes:
    return message.SerializePartialToString(deterministic=True)


def known_messages(r: Random, case: Case, count: int) -> list[Any]:
    """Random messages that protobuf reads, without unknown fields."""
    made = []
    for _ in range(count):
        message = case.cls()
        try:
            message.ParseFromString(random_record(r, case, False))
        except Exception:
            continue
        message.DiscardUnknownFields()
        if message.IsInitialized():
            made.append(message)
    return made


def texts_of(case: Case, made: list[Any], form: str) -> list[tuple[bytes, Any]]:
    """Texts of messages, and what the protobuf package reads in them."""
    pairs = []
    for message in made:
        text = printed(case, message, form)
        if text is None:
            continue
        try:
            pairs.append((text, parsed(case, text, form)))
        except json_format.ParseError as error:  # not even that which it has printed
            assert "Float value too" in str(error)
    return pairs


def check(case: Case, made: list[Any], form: str) -> int:
    """Texts become what they say; and columns become texts that say the same."""
    kind: dict[str, Any] = {"descriptors": case.descriptors}
    text_kind: dict[str, Any] = {**kind, "form": form}
    decoder = cst.decoder("message", message=case.message, plain_types=True, **text_kind)
    pairs = texts_of(case, made, form)
    try:
        batch = decoder.decode([text for text, _ in pairs])
    except cst.errors.SchemaError as error:
        assert "UTF-8" in str(error)  # strings of proto2 may be anything, columns may not
        return 0
    encoded = cst.encoder("message", message=case.message, **kind).encode(batch).to_pylist()
    again = cst.encoder("message", message=case.message, **text_kind).encode(batch).to_pylist()
    for (text, wanted), record, written in zip(pairs, encoded, again, strict=True):
        assert bytes_of(case.cls.FromString(record)) == bytes_of(wanted), text
        assert b"\n" not in written
        try:
            back = parsed(case, written, form)
        except json_format.ParseError as error:
            assert "Float value too" in str(error)
            continue
        assert bytes_of(back) == bytes_of(wanted), written
    return len(pairs)


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(("name", "message"), STORED)
def test_stored_types(name: str, message: str, form: str) -> None:
    case = stored_case(name, message)
    r = Random(7)
    assert sum(check(case, known_messages(r, case, 10), form) for _ in range(10)) > 0


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("seed", range(5))
def test_random_types(seed: int, form: str) -> None:
    r = Random(seed)
    for _ in range(8):
        case = random_case(r, 12)
        check(case, known_messages(r, case, 8), form)


@pytest.mark.parametrize(
    ("text", "path", "part"),
    [
        ('{"id": "x"}', "id", "not a number"),
        ('{"event": [{"nothing": 1}]}', "event", "no field 'nothing'"),
        ('{"at": 1}', "at", "Timestamp"),
        ('{"nothing": 1}', None, "no field 'nothing'"),
        ('{"id": 1, "id": 2}', None, "duplicate key"),
        ("[]", None, "expected an object"),
        ("", None, "empty"),
    ],
)
def test_bad_json_names_record_path_and_place(text: str, path: str | None, part: str) -> None:
    case = stored_case("shop", "Session")
    decoder = cst.decoder(
        "message", message=case.message, descriptors=case.descriptors, form="json"
    )
    with pytest.raises(cst.errors.CorruptError) as caught:
        decoder.decode([b"{}", text.encode()])
    assert caught.value.record == 1
    assert caught.value.path == path
    assert part in str(caught.value)
    assert "at byte" in str(caught.value)


def strangers(r: Random, value: Any, depth: int = 0) -> Any:
    """Parsed JSON with members, and names in the place of numbers, that no type has."""
    if isinstance(value, dict):
        made = {key: strangers(r, item, depth + 1) for key, item in value.items()}
        if r.random() < 0.3:
            made["noSuchField"] = r.choice([{}, {"a": [None, "x", 1]}])
        return made
    if isinstance(value, list):
        return [strangers(r, item, depth + 1) for item in value]
    return "NO_SUCH_NAME" if isinstance(value, str) and value.isupper() else value


def test_what_is_unknown_is_passed_over() -> None:
    """As json_format's ignore_unknown_fields has it, whatever it then takes and refuses."""
    r = Random(3)
    counts = {"same": 0, "refused": 0}
    for name, message in STORED:
        case = stored_case(name, message)
        kind: dict[str, Any] = {"descriptors": case.descriptors, "form": "json"}
        decoder = cst.decoder(
            "message", message=case.message, plain_types=True, ignore_unknown=True, **kind
        )
        encoder = cst.encoder("message", message=case.message, descriptors=case.descriptors)
        for text, _ in texts_of(case, known_messages(r, case, 60), "json"):
            changed = json.dumps(strangers(r, json.loads(text)))
            try:
                wanted = json_format.Parse(
                    changed,
                    case.cls(),
                    ignore_unknown_fields=True,
                    descriptor_pool=pool_of(case),
                )
            except json_format.ParseError:  # a map's key is no number, a struct has no such form
                with pytest.raises(cst.errors.CorruptError):
                    decoder.decode([changed.encode()])
                counts["refused"] += 1
                continue
            if not wanted.IsInitialized():  # a required enum has a name that is passed over
                with pytest.raises(cst.errors.SchemaError, match="required"):
                    decoder.decode([changed.encode()])
                continue
            [record] = encoder.encode(decoder.decode([changed.encode()])).to_pylist()
            assert bytes_of(case.cls.FromString(record)) == bytes_of(wanted), changed
            counts["same"] += 1
    assert counts["same"] > 20, counts


def test_keys_of_json_come_in_any_order() -> None:
    """Also where a message's bytes are shown, below the last level of its recursion."""
    file = descriptor_pb2.FileDescriptorProto(name="tree.proto", package="tree", syntax="proto3")
    tree = file.message_type.add(name="Tree")
    tree.field.add(name="a", number=1, type=5, label=1)
    tree.field.add(name="b", number=2, type=9, label=1)
    tree.field.add(name="kid", number=3, type=11, label=1, type_name=".tree.Tree")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    cls = message_factory.GetMessageClass(pool.FindMessageTypeByName("tree.Tree"))
    decoder = cst.decoder("message", message=cls, form="json", recursion=0)
    text, other = b'{"kid": {"a": 1, "b": "x"}}', b'{"kid": {"b": "x", "a": 1}}'
    first, second = pa.record_batch(decoder.decode([text, other])).to_pylist()
    assert first["kid"] == second["kid"] == cls(a=1, b="x").SerializeToString()
    text, other = b'{"a": 1, "b": "x"}', b'{"b": "x", "a": 1}'
    first, second = pa.record_batch(decoder.decode([text, other])).to_pylist()
    assert first == second and (first["a"], first["b"]) == (1, "x")


def test_views_of_json_pass_over_what_is_unknown() -> None:
    case = stored_case("shop", "Session")
    text = "from message shop.Session with form = json{} output device = device"
    record = b'{"id": 1, "strap": {"length": 12}, "device": "WATCH"}'
    query = cst.Query.from_text(
        text.format(", ignore_unknown = true"), descriptors=case.descriptors
    )
    assert query.view().run([record]).to_pydict() == {"device": ["DEVICE_UNKNOWN"]}
    with pytest.raises(cst.errors.CorruptError, match="no field"):
        cst.Query.from_text(text.format(""), descriptors=case.descriptors).view().run([record])


def test_message_sets_are_bytes() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="set.proto", package="sets")
    made = file.message_type.add(name="Set")
    made.options.message_set_wire_format = True
    made.extension_range.add(start=4, end=2**31 - 1)
    row = file.message_type.add(name="Row")
    row.field.add(name="id", number=1, type=3, label=1)
    row.field.add(name="set", number=2, type=11, label=1, type_name=".sets.Set")
    row.extension.add(
        name="more", number=900, type=11, label=1, type_name=".sets.Row", extendee=".sets.Set"
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    cls = message_factory.GetMessageClassesForFiles(["set.proto"], pool)["sets.Row"]
    message = cls(id=1)
    message.set.Extensions[cls.DESCRIPTOR.extensions_by_name["more"]].id = 7
    records = [message.SerializeToString(), b""]
    batch = cst.decoder("message", message=cls).decode(records)
    assert batch.to_pydict() == {"id": [1, None], "set": [message.set.SerializeToString(), None]}
    assert cst.encoder("message", message=cls).encode(batch).to_pylist() == records
    text = cst.encoder("message", message=cls, form="text").encode(batch)
    assert (
        cst.decoder("message", message=cls, form="text").decode(text).to_pydict()
        == batch.to_pydict()
    )
    with pytest.raises(cst.errors.UnsupportedError, match="message set"):
        cst.encoder("message", message=cls, form="json").encode(batch)
    with pytest.raises(cst.errors.CorruptError, match="message set"):
        cst.decoder("message", message=cls, form="json").decode(
            [json_format.MessageToJson(message).encode()]
        )
    with pytest.raises(cst.errors.CorruptError, match="message set"):
        cst.decoder("message", message=cls, form="text").decode([str(message).encode()])
    view = cst.Query.from_text("from message sets.Row output s = set", descriptors=cls).view()
    assert view.run(records).to_pydict() == {"s": batch.to_pydict()["set"]}


def test_errors_name_the_option_that_takes_the_value() -> None:
    case = stored_case("shop", "Session")
    with pytest.raises(cst.errors.SchemaError, match="plain_types=True"):
        cst.decoder(
            "message", message=case.message, descriptors=case.descriptors, form="json"
        ).decode([b'{"at": "0001-01-01T00:00:00Z"}'])
    case = stored_case("everything2", "Everything")
    string = next(
        f
        for f in case.cls.DESCRIPTOR.fields_by_name["scalars"].message_type.fields
        if f.type == f.TYPE_STRING
    )
    inner = bytes([(string.number & 15) << 3 | 2, 1, 255])
    with pytest.raises(cst.errors.SchemaError, match="binary_strings=True"):
        cst.decoder("message", message=string.containing_type).decode([inner])
    session = {"message": "shop.Session", "descriptors": messages.SHOP}  # proto3 checks by itself
    with pytest.raises(cst.errors.CorruptError, match="binary_strings=True"):
        cst.decoder("message", **session).decode([b"\x12\x01\xff"])
    taken = cst.decoder("message", **session, binary_strings=True).decode([b"\x12\x01\xff"])
    assert taken["user"].to_pylist() == [b"\xff"]


def test_ignoring_is_not_for_the_text_format() -> None:
    case = stored_case("shop", "Session")
    with pytest.raises(ValueError, match="ignore_unknown"):
        cst.decoder(
            "message",
            message=case.message,
            descriptors=case.descriptors,
            form="text",
            ignore_unknown=True,
        )


def test_lines_of_json_are_records(tmp_path: pathlib.Path) -> None:
    case = stored_case("shop", "Session")
    records = messages.sessions(20)
    file = tmp_path / "sessions.ndjson"
    lines = [
        json.dumps(
            json_format.MessageToDict(case.cls.FromString(record), descriptor_pool=pool_of(case))
        )
        for record in records
    ]
    file.write_text("\n".join(lines) + "\n")
    source = cst.open(
        file,
        container="lines",
        format="message",
        message=case.message,
        descriptors=case.descriptors,
        message_options={"form": "json"},
    )
    wanted = cst.decoder("message", message=case.message, descriptors=case.descriptors).decode(
        records
    )
    encoder = cst.encoder(
        "message", message=case.message, descriptors=case.descriptors
    )  # sorts the maps
    assert encoder.encode(pa.table(source)).to_pylist() == encoder.encode(wanted).to_pylist()


def test_what_cannot_be_written_as_json() -> None:
    case = stored_case("everything3", "Known")
    options: dict[str, Any] = {"descriptors": case.descriptors, "plain_types": True}
    message = case.cls()
    message.timestamp.nanos = -1
    batch = cst.decoder("message", message=case.message, **options).decode(
        [message.SerializeToString()]
    )
    encoder = cst.encoder(
        "message", message=case.message, descriptors=case.descriptors, form="json"
    )
    with pytest.raises(cst.errors.UnsupportedError, match="timestamp") as caught:
        encoder.encode(batch)
    assert caught.value.path == "timestamp"
    with pytest.raises(cst.Error, match="unknown_fields"):
        cst.encoder(
            "message",
            message=case.message,
            descriptors=case.descriptors,
            form="json",
            unknown_fields="rest",
        )
