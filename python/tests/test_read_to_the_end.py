"""Files are read to their end: a read that fails there, and a wrong checksum of the compression
around a file, are errors and no ends."""

from __future__ import annotations

import gzip
import io
import pathlib
from typing import Any

import columnstone as cst
import pytest

ROWS = [{"id": i, "text": f"row {i}"} for i in range(30000)]
FORMATS = ["csv", "json", "arrow", "arrows", "avro"]
every_format = pytest.mark.parametrize("format", FORMATS)


def written(format: str) -> bytes:
    out = io.BytesIO()
    options: dict[str, Any] = {"avro_codec": "null"} if format == "avro" else {}
    cst.write(ROWS, out, format=format, **options)
    return out.getvalue()


class Broken:
    """A file whose reads fail from a byte on."""

    def __init__(self, data: bytes, sound: int) -> None:
        self.file = io.BytesIO(data)
        self.sound = sound

    def read(self, size: int) -> bytes:
        left = self.sound - self.file.tell()
        if left <= 0 < size:
            raise OSError("the line is dead")
        return self.file.read(min(size, left))


def read(
    file: io.BytesIO | Broken, format: str, **options: Any
) -> tuple[int, str | None, list[str]]:
    rows = 0
    try:
        source = cst.open(file, format=format, **options)
        for batch in source:
            rows += batch.num_rows
    except (cst.Error, OSError) as error:
        return rows, str(error), []
    return rows, None, [str(dropped.error) for dropped in source.dropped]


@every_format
@pytest.mark.parametrize("threads", [1, 3])
def test_a_read_that_fails_is_no_end(format: str, threads: int) -> None:
    data = written(format)
    for sound in (len(data) - 1, len(data) // 2, 700):
        file = Broken(data, sound)
        _, error, _ = read(file, format, threads=threads, batch_size=100)
        assert error == "the line is dead"


def test_failures_between_blocks() -> None:
    """The end of a block could be that of the file."""
    data = written("avro")
    marker = data[-16:]
    ends = [i + 16 for i in range(len(data)) if data.startswith(marker, i)]
    assert len(ends) > 5
    for end in ends:
        assert read(Broken(data, end), "avro")[1] == "the line is dead"


@every_format
def test_checksums_of_compression(format: str) -> None:
    packed = bytearray(gzip.compress(written(format)))
    packed[-8] ^= 1
    rows, error, _ = read(io.BytesIO(packed), format, batch_size=100)
    assert rows > 0 or format in ("csv", "json")  # their types are inferred before
    assert error is not None
    assert "wrong checksum" in error


def test_damaged_compression_of_avro_is_counted() -> None:
    packed = gzip.compress(written("avro"))
    rows, error, dropped = read(io.BytesIO(packed[: len(packed) // 2]), "avro", on_error="skip")
    assert 0 < rows < len(ROWS)
    assert error is None
    assert len(dropped) == 1
    assert "inside its gzip data" in dropped[0]


@pytest.mark.parametrize("format", ["csv", "json", "avro"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_damaged_file_hides_no_other(format: str, place: int, tmp_path: pathlib.Path) -> None:
    """Its columns are found over all files, which fails for all of them."""
    bad = {"csv": b"id,text,x\n1\n", "json": b'{"id":\n', "avro": b"no avro"}[format]
    paths = [tmp_path / f"{i}.{format}" for i in range(4)]
    for path in paths:
        path.write_bytes(written(format))
    for path in (paths[place], paths[3]):
        path.write_bytes(bad)
    found = cst.open(paths, format=format).verify()
    assert [fault.file for fault in found.faults] == [str(paths[place]), str(paths[3])]
    records = [0 if i in (place, 3) else len(ROWS) for i in range(4)]
    assert [file.records for file in found.files] == records
