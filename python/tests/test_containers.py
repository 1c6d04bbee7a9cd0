"""Records in other containers than TFRecord: protobuf's own delimited messages, and lines."""

import io
import pathlib

import columnstone as cst
import pytest
from google.protobuf import proto
from google.protobuf.internal.encoder import _VarintBytes

NUMBERS = [1, 300, 70_000, 2**40]


def examples(count: int = 50) -> list[bytes]:
    rows = [{"n": [NUMBERS[i % 4]], "s": [b"x" * (i * 7)]} for i in range(count)]
    return [bytes(record) for record in cst.encoder("example").encode(cst.record_batch(rows))]


def delimited(records: list[bytes]) -> bytes:
    return b"".join(_VarintBytes(len(record)) + record for record in records)


@pytest.mark.parametrize("name", ["x.bin", "x.bin.gz", "x.bin.zst"])
def test_what_protobuf_writes_is_found_and_read(tmp_path: pathlib.Path, name: str) -> None:
    records = examples()
    path = tmp_path / name
    with cst.codec.TFRecordWriter(path, container="delimited") as writer:
        for record in records:
            writer.write(record)
    if name == "x.bin":
        assert path.read_bytes() == delimited(records)
    source = cst.open(path)
    rows = [row for batch in source for row in batch.to_pydict()["n"]]
    assert rows == [[NUMBERS[i % 4]] for i in range(50)]
    raw = [record for batch in cst.open(path, "raw") for record in batch.to_pydict()["record"]]
    assert raw == records


def test_the_protobuf_library_reads_what_is_written(tmp_path: pathlib.Path) -> None:
    from google.protobuf.struct_pb2 import Value

    path = tmp_path / "x.bin"
    messages = [Value(string_value="a" * i) for i in range(0, 300, 50)]
    with cst.codec.TFRecordWriter(path, container="delimited") as writer:
        for message in messages:
            writer.write(message.SerializeToString())
    stream = io.BytesIO(path.read_bytes())
    assert [proto.parse_length_prefixed(Value, stream) for _ in messages] == messages
    assert stream.read() == b""
    written = io.BytesIO()
    for message in messages:
        proto.serialize_length_prefixed(message, written)
    assert written.getvalue() == path.read_bytes()
    source = cst.open(io.BytesIO(written.getvalue()), "raw", container="delimited")
    assert [row for batch in source for row in batch.to_pydict()["record"]] == [
        message.SerializeToString() for message in messages
    ]


def test_lines_are_records(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"first\r\n\nlast without an end")
    source = cst.open(path, container="lines")
    rows = [row for batch in source for row in batch.to_pydict()["record"]]
    assert rows == [b"first", b"", b"last without an end"]
    assert source[1].to_pydict() == {"record": [b""]}
    copy = tmp_path / "y.txt.gz"
    assert cst.convert(source, copy, to="raw", to_container="lines") == 3
    again = cst.open(copy, container="lines")
    assert [row for batch in again for row in batch.to_pydict()["record"]] == rows


def test_records_with_line_ends_are_refused_by_lines(tmp_path: pathlib.Path) -> None:
    batch = cst.record_batch([{"record": b"fine"}, {"record": b"not\nfine"}])
    with pytest.raises(
        cst.errors.UnsupportedError, match="a line cannot contain a record with a line break"
    ) as raised:
        cst.write(batch, tmp_path / "x.txt", "raw", container="lines")
    assert raised.value.record == 1
    assert not list(tmp_path.iterdir())


def test_indexes_and_parts(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"".join(b"%d\n" % i for i in range(100)))
    index = cst.source.Index.build(path, container="lines")
    assert len(index) == 100
    assert index[10] == (20, 3)
    source = cst.open(path, "raw", container="lines")
    parts = [source.split(i, 4) for i in range(4)]
    assert [len(part) for part in parts] == [25] * 4


def test_a_damaged_length_loses_the_rest(tmp_path: pathlib.Path) -> None:
    records = examples()
    data = delimited(records[:10]) + b"\xff" * 11 + delimited(records[10:])
    path = tmp_path / "x.bin"
    path.write_bytes(data)
    source = cst.open(path, "raw", on_error="skip")
    rows = [row for batch in source for row in batch.to_pydict()["record"]]
    assert rows == records[:10]
    [dropped] = source.dropped
    assert (dropped.kind, dropped.record) == ("length", 10)
    assert dropped.bytes == len(data) - len(delimited(records[:10]))


@pytest.mark.parametrize("format", ["csv", "json", "arrow", "parquet"])
def test_other_formats_have_no_container(tmp_path: pathlib.Path, format: str) -> None:
    batch = cst.record_batch([{"a": 1}])
    with pytest.raises(cst.errors.UnsupportedError, match="leave the container out"):
        cst.write(batch, tmp_path / "x", format, container="lines")


def test_an_unknown_container(tmp_path: pathlib.Path) -> None:
    with pytest.raises(cst.errors.NotFoundError, match="did you mean 'lines'"):
        cst.codec.TFRecordWriter(tmp_path / "x", container="line")
