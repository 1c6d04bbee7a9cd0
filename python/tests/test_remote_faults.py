"""Remote files under load: servers that refuse, fail, cut and fall silent, while several threads
read the splits of one file."""

from __future__ import annotations

import concurrent.futures
import io
import random
from collections.abc import Iterator

import columnstone as cst
import fsspec
import pyarrow.fs
import pytest
import servers

RECORDS = [b"%06d" % i + bytes([i % 251]) * (i * 37 % 9000) for i in range(2000)]


def tfrecord() -> bytes:
    file = io.BytesIO()
    with cst.codec.TFRecordWriter(file) as writer:
        for record in RECORDS:
            writer.write(record)
    return file.getvalue()


DATA = tfrecord()


@pytest.fixture
def http() -> Iterator[tuple[str, servers.Behaviour]]:
    with servers.http_server() as (url, behaviour):
        behaviour.files["big.tfrecord"] = DATA
        yield url, behaviour


def rows(source: cst.Source) -> list[bytes]:
    return [record for batch in source for record in batch.to_pydict()["record"]]


def read_in_splits(url: str, threads: int) -> list[bytes]:
    splits = cst.plan(url, "raw", target_bytes=1 << 20)
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        parts = pool.map(lambda split: rows(cst.open(split, "raw")), splits)
        return [row for part in parts for row in part]


@pytest.mark.parametrize("trouble", ["busy", "502", "reset", "cut"])
def test_each_kind_of_trouble(http: tuple[str, servers.Behaviour], trouble: str) -> None:
    source = cst.open(f"{http[0]}/big.tfrecord", "raw")
    http[1].troubles = iter([trouble] * 3)
    assert rows(source) == RECORDS


def test_a_server_that_falls_silent(
    http: tuple[str, servers.Behaviour], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("columnstone._io.http._SILENCE", 0.2)
    source = cst.open(f"{http[0]}/big.tfrecord", "raw")
    http[1].troubles = iter(["stall"])
    assert rows(source) == RECORDS


@pytest.mark.parametrize("seed", range(3))
def test_splits_of_a_server_in_trouble(http: tuple[str, servers.Behaviour], seed: int) -> None:
    chance = random.Random(seed)
    kinds = [*[""] * 9, "busy", "502", "reset", "cut"]
    http[1].troubles = iter(lambda: chance.choice(kinds), None)
    assert read_in_splits(f"{http[0]}/big.tfrecord", 4) == RECORDS


@pytest.mark.parametrize("trouble", ["busy", "502", "reset", "cut"])
def test_it_gives_up(http: tuple[str, servers.Behaviour], trouble: str) -> None:
    source = cst.open(f"{http[0]}/big.tfrecord", "raw")
    http[1].troubles = iter([trouble] * 1000)
    with pytest.raises(cst.errors.FileError, match="tried 6 times") as caught:
        rows(source)
    assert caught.value.file == f"{http[0]}/big.tfrecord"
    http[1].troubles = iter(())
    assert rows(source) == RECORDS


def test_a_file_that_changes_is_not_tried_again(http: tuple[str, servers.Behaviour]) -> None:
    http[1].etag = '"{}"'  # another one with each answer
    source = cst.open(f"{http[0]}/big.tfrecord", "raw")
    before = http[1].answers
    with pytest.raises(cst.errors.FileError, match="has changed"):
        rows(source)
    assert http[1].answers - before <= 2


def test_a_server_without_ranges(http: tuple[str, servers.Behaviour]) -> None:
    http[1].ranges = False
    source = cst.open(f"{http[0]}/big.tfrecord", "raw")
    http[1].troubles = iter(["cut", "busy", "cut"])
    assert rows(source) == RECORDS


# --- S3, whose file systems try again by themselves ---


@pytest.fixture(scope="module")
def s3() -> Iterator[tuple[dict[str, str], servers.Behaviour]]:
    with servers.s3_server() as (options, behaviour):
        fsspec.filesystem("s3", **options).pipe_file("bucket/big.tfrecord", DATA)
        yield options, behaviour


@pytest.mark.parametrize("kind", ["fsspec", "pyarrow"])
def test_splits_of_s3_in_trouble(s3: tuple[dict[str, str], servers.Behaviour], kind: str) -> None:
    options, behaviour = s3
    system: object = fsspec.filesystem("s3", **options)
    if kind == "pyarrow":
        system = pyarrow.fs.S3FileSystem(
            access_key=options["key"],
            secret_key=options["secret"],
            endpoint_override=options["endpoint_url"],
            region="us-east-1",
        )
    behaviour.troubles = iter(["", "busy", "", "502", "", "", "reset", "", "busy"])
    splits = cst.plan("bucket/big.tfrecord", "raw", target_bytes=1 << 20, filesystem=system)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        parts = pool.map(lambda split: rows(cst.open(split, "raw", filesystem=system)), splits)
        assert [row for part in parts for row in part] == RECORDS
    behaviour.troubles = iter(())
