"""Descriptors: from files, bytes, .proto text, classes and modules, and what is wrong with them."""

from __future__ import annotations

import pathlib
import pickle
import subprocess
import sys

import columnstone as cst
import messages
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, timestamp_pb2

FOLDER = messages.FOLDER
NAMES = ("shop.Item", "shop.Event", "shop.Session", "shop.Coupon")


@pytest.mark.parametrize(
    "make",
    [
        lambda: FOLDER / "shop.desc",
        lambda: str(FOLDER / "shop.desc"),
        lambda: messages.SHOP,
        lambda: bytearray(messages.SHOP),
        lambda: memoryview(messages.SHOP),
        lambda: FOLDER / "shop.proto",
        lambda: [FOLDER / "shop.proto", FOLDER / "shop.desc"],
        lambda: descriptor_pb2.FileDescriptorSet.FromString(messages.SHOP),
        lambda: cst.schema.Descriptors(messages.SHOP),
        lambda: messages.shop("Session"),
        lambda: messages.shop("Session")(),
        lambda: messages.shop("Session").DESCRIPTOR,
        lambda: messages.shop("Session").DESCRIPTOR.file,
        lambda: messages.shop("Session").DESCRIPTOR.fields_by_name["device"],
        lambda: (messages.shop("Session"), [messages.shop("Event")]),
        lambda: messages.module(),
    ],
)
def test_inputs(make) -> None:
    descriptors = cst.schema.Descriptors(make())
    assert descriptors.messages == NAMES  # without what comes with protobuf


def test_a_single_file_gets_what_is_built_in() -> None:
    file = messages.shop("Session").DESCRIPTOR.file.serialized_pb
    assert cst.schema.Descriptors(file).messages == NAMES
    assert cst.schema.Descriptors([file]).messages == NAMES


def test_lists_are_merged_and_the_first_of_a_name_counts() -> None:
    one = descriptor_pb2.FileDescriptorProto(name="a.proto", package="a")
    one.message_type.add(name="A")
    other = descriptor_pb2.FileDescriptorProto(name="a.proto", package="a")
    other.message_type.add(name="B")
    second = descriptor_pb2.FileDescriptorProto(name="b.proto", dependency=["a.proto"])
    second.message_type.add(name="C").field.add(
        name="a", number=1, type="TYPE_MESSAGE", label="LABEL_OPTIONAL", type_name=".a.A"
    )
    assert cst.schema.Descriptors([second, one, other]).messages == ("C", "a.A")
    assert cst.schema.Descriptors([other]).messages == ("a.B",)
    assert cst.schema.Descriptors([]).messages == ()


def test_it_is_a_value() -> None:
    one, other = cst.schema.Descriptors(messages.SHOP), cst.schema.Descriptors(FOLDER / "shop.desc")
    assert (one == other, hash(one) == hash(other)) == (True, True)
    assert one != cst.schema.Descriptors(timestamp_pb2)
    assert one != messages.SHOP
    again = pickle.loads(pickle.dumps(one))
    assert (again == one, again.messages, again.to_bytes()) == (True, one.messages, messages.SHOP)
    assert repr(one) == f"<columnstone.schema.Descriptors: {', '.join(NAMES)}>"
    assert repr(cst.schema.Descriptors(b"")) == "<columnstone.schema.Descriptors: no messages>"
    core = pickle.loads(pickle.dumps(one._core))
    assert (core.bytes, core.messages) == (messages.SHOP, one.messages)


def test_protobuf_is_not_imported() -> None:
    code = (
        "import sys, columnstone as cst; cst.schema.Descriptors(sys.argv[1]).messages;"
        "assert 'google.protobuf' not in sys.modules"
    )
    for name in ("shop.desc", "shop.proto"):
        subprocess.run([sys.executable, "-c", code, str(FOLDER / name)], check=True)


def test_includes(tmp_path: pathlib.Path) -> None:
    (tmp_path / "base" / "shop").mkdir(parents=True)
    (tmp_path / "base" / "shop" / "a.proto").write_text('syntax = "proto3"; message A {}')
    used = tmp_path / "base" / "shop" / "b.proto"
    used.write_text('syntax = "proto3"; import "shop/a.proto"; message B { A a = 1; }')
    found = cst.schema.Descriptors(used, include=[tmp_path / "base"])
    assert set(found.messages) == {"A", "B"}
    with pytest.raises(cst.errors.SchemaError, match=r"(?s)shop/a.proto: File not found.*include="):
        cst.schema.Descriptors(used)
    date = tmp_path / "date.proto"
    date.write_text(
        'import "google/type/date.proto"; message D { optional google.type.Date d = 1; }'
    )
    assert "D" in cst.schema.Descriptors(date).messages


def test_what_the_compiler_says(tmp_path: pathlib.Path) -> None:
    wrong = tmp_path / "wrong.proto"
    wrong.write_text('syntax = "proto3";\nmessage A {\n  int33 x = 1;\n}\n')
    with pytest.raises(
        cst.errors.SchemaError, match=r'wrong.proto:3:3: "int33" is not defined'
    ) as caught:
        cst.schema.Descriptors(wrong)
    assert (caught.value.file, caught.value.line, caught.value.column) == (str(wrong), 3, 3)


def test_without_grpcio_tools(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("columnstone._message.compile._has_grpcio_tools", lambda: False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(cst.errors.UnsupportedError, match="pip install grpcio-tools"):
        cst.schema.Descriptors(FOLDER / "shop.proto")
    protoc = tmp_path / "protoc"
    protoc.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m grpc_tools.protoc "$@"\n')
    protoc.chmod(0o755)
    assert cst.schema.Descriptors(FOLDER / "shop.proto").messages == NAMES


_CODE = "open(%r, 'w').write('it ran')\n"


@pytest.mark.parametrize("name", ["@x.proto", "--plugin=x.proto", "-x.proto", "ü.proto"])
def test_names_are_no_options(
    name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pathlib.Path(name).write_bytes((FOLDER / "shop.proto").read_bytes())
    assert cst.schema.Descriptors(name).messages == NAMES


def test_nothing_runs_out_of_the_current_folder(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "grpc_tools").mkdir()
    for module in ["grpc_tools/__init__", "grpc_tools/protoc", "runpy", "os", "site"]:
        (tmp_path / f"{module}.py").write_text(_CODE % str(ran))
    for program in ["protoc", "python3"]:
        (tmp_path / program).write_text(f"#!/bin/sh\necho > '{ran}'\n")
        (tmp_path / program).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".::", prepend=":")
    monkeypatch.setenv("PYTHONPATH", ".")
    assert cst.schema.Descriptors(FOLDER / "shop.proto").messages == NAMES
    monkeypatch.setattr("columnstone._message.compile._has_grpcio_tools", lambda: False)
    monkeypatch.setenv("PATH", ".::")
    with pytest.raises(cst.errors.UnsupportedError, match="pip install grpcio-tools"):
        cst.schema.Descriptors(FOLDER / "shop.proto")
    assert not ran.exists()


@pytest.mark.parametrize("wrong", [None, 1, object(), int, [1], {"a": 1}, sys])
def test_wrong_types(wrong: object) -> None:
    with pytest.raises(TypeError, match="expected the path or the bytes"):
        cst.schema.Descriptors(wrong)  # type: ignore[arg-type]


def test_pools_are_asked_for_a_message() -> None:
    with pytest.raises(TypeError, match="pool"):
        cst.schema.Descriptors(descriptor_pool.Default())


def test_include_is_a_list() -> None:
    with pytest.raises(TypeError, match="include"):
        cst.schema.Descriptors(messages.SHOP, include="protos")


@pytest.mark.parametrize("path", ["none.desc", "none.proto", ""])
def test_missing_files(path: str) -> None:
    with pytest.raises(cst.errors.NotFoundError, match=r"no such file|is empty") as caught:
        cst.schema.Descriptors(path)
    assert caught.value.file == path


@pytest.mark.parametrize(
    "data",
    [b"\0", b"garbage", messages.SHOP[:-1], messages.SHOP + b"\x0a\x05", b"\x0a\xff\xff\xff"],
)
def test_damage(data: bytes, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "damaged.desc"
    path.write_bytes(data)
    for given in (data, path, [data], [data, messages.SHOP]):
        with pytest.raises((cst.errors.CorruptError, cst.errors.SchemaError)):
            cst.schema.Descriptors(given)  # type: ignore[arg-type]


def test_what_contradicts_itself() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="a.proto")
    file.message_type.add(name="A").field.add(
        name="b", number=1, type="TYPE_MESSAGE", label="LABEL_OPTIONAL", type_name=".B"
    )
    with pytest.raises(cst.errors.SchemaError, match="B"):
        cst.schema.Descriptors(file)


def test_guess() -> None:
    descriptors = cst.schema.Descriptors(messages.SHOP)
    records = messages.sessions(20)
    best, second, *_ = descriptors.guess(records)
    assert best.message == "shop.Session" and best.fits
    assert (best.records, best.bytes) == (20, sum(map(len, records)))
    assert not second.fits and second.bytes < best.bytes
    assert descriptors.guess(map(memoryview, records))[0] == best  # type: ignore[arg-type]


def test_guess_of_records_that_do_not_tell() -> None:
    descriptors = cst.schema.Descriptors(messages.SHOP)
    guesses = descriptors.guess([messages.shop("Item")(sku="a").SerializeToString()])
    equal = [g.message for g in guesses if g.fits]
    assert equal == ["shop.Item", "shop.Event", "shop.Coupon"]
    assert [g.message for g in descriptors.guess([])] == list(NAMES)
    assert all(g.fits for g in descriptors.guess([]))
    with pytest.raises(TypeError, match="memoryview"):
        descriptors.guess(["text"])  # type: ignore[list-item]
