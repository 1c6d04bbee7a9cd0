"""Avro container files in splits at any places: the rows of the whole file, each once, in order."""

from __future__ import annotations

import io
import itertools
import pathlib
from typing import Any

import avro_files as avro
import columnstone as cst
import fastavro
import fsspec
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from splitting import read_each, splits_at

SCHEMA = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "s", "type": "bytes"},
        {"name": "i", "type": "long"},
        {"name": "x", "type": "double"},
    ],
}
MARKER = avro.SYNC


def made(values: list[bytes], codec: str = "null", block_rows: int = 3) -> bytes:
    rows = [{"s": value, "i": i, "x": i / 7} for i, value in enumerate(values)]
    return avro.container(SCHEMA, rows, codec=codec, block_rows=block_rows)


INNER = made([b"inner", b"", b"of a value"], block_rows=1)
PLAIN = st.binary(max_size=40) | st.integers(0, 500).map(bytes)
FALSE = st.sampled_from(
    [MARKER, MARKER * 3, b"x" + MARKER + b"\x02\x04ab" + MARKER, INNER, INNER[:-1], INNER + INNER]
)
VALUES = st.lists(PLAIN | FALSE, max_size=14)
CODECS = ["null", "deflate", "snappy", "zstandard"]


def read(what: Any, **options: Any) -> tuple[list[Any], list[Any]]:
    """The rows, and what was dropped."""
    rows: list[Any] = []
    source = cst.open(what, "avro", batch_size=3, **options)
    for batch in source:
        rows += pa.record_batch(batch).to_pylist()
    return rows, [(drop.kind, drop.offset, drop.bytes) for drop in source.dropped]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("splits") / "a.avro")


def check(path: str, data: bytes, places: list[int], **options: Any) -> None:
    pathlib.Path(path).write_bytes(data)
    whole = read(path, **options)
    splits = splits_at(path, [place % (len(data) + 1) for place in places], len(data))
    assert read_each(read, splits, **options) == whole
    threaded = pa.table(source := cst.open(path, "avro", batch_size=3, threads=3, **options))
    assert threaded.to_pylist() == whole[0]
    assert [(drop.kind, drop.offset, drop.bytes) for drop in source.dropped] == whole[1]
    for n in {1, 2, len(places) + 1}:
        source = cst.open(path, "avro", batch_size=4, **options)
        parts = [pa.table(source.split(i, n)).to_pylist() for i in range(n)]
        assert list(itertools.chain.from_iterable(parts)) == whole[0]


@settings(max_examples=60, deadline=None)
@given(VALUES, st.sampled_from(CODECS), st.lists(st.integers(0, 10**6), max_size=9))
@example([MARKER] * 9, "null", list(range(150, 700, 16)))
@example([INNER, INNER + MARKER], "null", list(range(150, 900, 40)))
def test_any_places(path: str, values: list[bytes], codec: str, places: list[int]) -> None:
    check(path, made(values, codec), places)


@settings(max_examples=60, deadline=None)
@given(
    VALUES.filter(lambda values: len(values) > 3),
    st.sampled_from(CODECS),
    st.lists(st.integers(0, 10**6), max_size=5),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), min_size=1, max_size=3),
    st.integers(0, 30),
)
def test_damage_in_the_middle(
    path: str,
    values: list[bytes],
    codec: str,
    places: list[int],
    flips: list[tuple[int, int]],
    cut: int,
) -> None:
    data = bytearray(made(values, codec))
    first = data.index(MARKER) + 16
    for place, bits in flips:
        data[first + place % (len(data) - first)] ^= bits
    check(path, bytes(data[: max(first, len(data) - cut)]), places, on_error="skip")


def test_every_place(path: str) -> None:
    data = made([bytes(i) for i in range(12)] + [MARKER, INNER], "null", 2)
    pathlib.Path(path).write_bytes(data)
    whole = read(path)
    for place in range(1, len(data)):
        assert read_each(read, splits_at(path, [place], len(data))) == whole
    every = [cst.source.Split(path, i, i + 1) for i in range(len(data))]
    counts = [pa.table(cst.open(split)).num_rows for split in every]
    assert sum(counts) == 14
    assert [i for i, count in enumerate(counts) if count > 0] == begins(data)[:-1]


def begins(data: bytes) -> list[int]:
    """Where the blocks of a file begin, by fastavro, and its end."""
    file = io.BytesIO(data)
    blocks = list(fastavro.block_reader(file))
    ends = [block.offset + block.size for block in blocks]
    return [blocks[0].offset, *ends]


def test_embedded_files_that_are_too_large_fail_and_lose_nothing(tmp_path: pathlib.Path) -> None:
    inner = made([bytes(1 << 20)] * 12, block_rows=1)
    data = made([b"a", inner, b"b", b"c"], block_rows=1)
    file = tmp_path / "a.avro"
    file.write_bytes(data)
    assert [row["i"] for row in read(str(file))[0]] == [0, 1, 2, 3]
    splits = splits_at(str(file), [data.index(inner) + (1 << 20)], len(data))
    for on_error in ("raise", "skip"):
        with pytest.raises(cst.errors.CorruptError, match=r"no Avro block begins at byte \d+"):
            read(splits[0], on_error=on_error)


def test_what_looks_like_a_block_fails_and_loses_nothing(path: str) -> None:
    """Rows that are a number and bytes, with a marker at their end, are blocks by all signs."""
    fields = [{"name": "i", "type": "long"}, {"name": "s", "type": "bytes"}]
    schema = {**SCHEMA, "fields": fields}
    data = avro.container(schema, [{"i": i, "s": MARKER} for i in range(9)], block_rows=3)
    pathlib.Path(path).write_bytes(data)
    outcomes = set()
    for place in range(1, len(data)):
        try:
            rows = read_each(read, splits_at(path, [place], len(data)))[0]
            assert [row["i"] for row in rows] == list(range(9))
            outcomes.add("all rows")
        except cst.errors.CorruptError as error:
            assert "no Avro block begins at byte" in str(error)
            outcomes.add("refused")
    assert outcomes == {"all rows", "refused"}


def test_plan(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "a.avro"
    file.write_bytes(made([bytes(1000)] * 100))
    splits = cst.plan(str(file), target_bytes=20_000)
    assert len(splits) == 6
    assert [split.exact for split in splits] == [False] * 6
    assert [row["i"] for row in read_each(read, splits)[0]] == list(range(100))
    assert [row["i"] for row in read(splits)[0]] == list(range(100))
    named = cst.plan(f"file://{file}", target_bytes=20_000)  # by name and size alone
    assert [(s.begin, s.end) for s in named] == [(s.begin, s.end) for s in splits]
    packed = tmp_path / "a.avro.gz"
    cst.write(pa.table(cst.open(str(file))), str(packed))
    assert len(cst.plan(str(packed), target_bytes=100)) == 1


def test_files_of_several_schemas_are_read_as_the_first_in_every_part(
    tmp_path: pathlib.Path,
) -> None:
    more = {**SCHEMA, "fields": [*SCHEMA["fields"], {"name": "t", "type": "int"}]}
    rows = [{"s": b"", "i": i, "x": 0.5, "t": i} for i in range(50)]
    (tmp_path / "a.avro").write_bytes(made([b""] * 50))
    (tmp_path / "b.avro").write_bytes(avro.container(more, rows))
    source = cst.open([str(tmp_path / "a.avro"), str(tmp_path / "b.avro")])
    for n in (2, 3, 7):
        parts = [pa.table(source.split(i, n)) for i in range(n)]
        assert pa.concat_tables(parts)["i"].to_pylist() == [*range(50), *range(50)]
    epoch = source.dataset(batch_size=10, shuffle="window", seed=1, epochs=1)
    assert sorted(i for batch in epoch for i in pa.record_batch(batch)["i"].to_pylist()) == sorted(
        [*range(50), *range(50)]
    )


def test_numbers_of_records(path: str) -> None:
    data = bytearray(made([b"v"] * 30))
    places = begins(bytes(data))
    data[places[4] + 2] = 0x81  # the length of the first value of the fifth block: record 12
    pathlib.Path(path).write_bytes(data)
    with pytest.raises(cst.errors.CorruptError) as whole:
        read(path)
    assert whole.value.record == 12
    splits = splits_at(path, [places[2]], len(data))
    with pytest.raises(cst.errors.CorruptError) as second:
        read(splits[1])
    assert second.value.record is None
    assert second.value.offset == whole.value.offset
    source = cst.open(splits[1], on_error="skip")
    assert pa.table(source)["i"].to_pylist() == [*range(6, 12), *range(15, 30)]
    assert [drop.record for drop in source.dropped] == [None]
    numbered = cst.open(path, on_error="skip").dataset(batch_size=4, ids=True, as_batches=True)
    ids = [n for batch in numbered for n in pa.record_batch(batch)["__record__"].to_pylist()]
    assert ids[:13] == [*range(12), 13]  # the damaged one counts as one
    numbered = source.dataset(batch_size=4, ids=True, as_batches=True)
    assert {n for batch in numbered for n in pa.record_batch(batch)["__record__"].to_pylist()} == {
        -1
    }


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_threads(tmp_path: pathlib.Path, codec: str) -> None:
    """Batches, numbers of records and drops are those of one thread."""
    paths = []
    for k in range(3):
        data = bytearray(made([bytes(i % 90) for i in range(20_000)], codec, 40))
        places = begins(bytes(data))
        data[places[70 + k] + 3] ^= 0xFF
        paths.append(tmp_path / f"{k}.avro")
        paths[-1].write_bytes(data)

    def seen(threads: int) -> Any:
        options = {"batch_size": 100, "threads": threads, "on_error": "skip"}
        source = cst.open([str(path) for path in paths], **options)
        batches = [pa.record_batch(batch) for batch in source]
        drops = [
            (d.file, d.kind, d.record, d.offset, d.bytes, str(d.error)) for d in source.dropped
        ]
        return [batch.num_rows for batch in batches], pa.Table.from_batches(batches), drops

    alone = seen(1)
    assert len(alone[2]) == 3
    assert seen(2) == alone
    assert seen(4) == alone
    with pytest.raises(cst.errors.CorruptError) as one:
        list(cst.open(str(paths[0])))
    with pytest.raises(cst.errors.CorruptError) as two:
        list(cst.open(str(paths[0]), threads=2))
    assert str(two.value) == str(one.value)
    assert (two.value.record, two.value.offset) == (one.value.record, one.value.offset)


def test_an_early_stop_of_threads(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.avro"
    path.write_bytes(made([bytes(500)] * 20_000))
    for _ in range(20):
        next(iter(cst.open(str(path), threads=3)))
    with pytest.raises(cst.errors.LimitError):
        list(cst.open(str(path), threads=3, max_record_size=100))


def test_datasets_of_parts(path: str) -> None:
    pathlib.Path(path).write_bytes(made([b"v"] * 200))
    source = cst.open(path, batch_size=8)
    seen: list[int] = []
    for i in range(3):
        part = source.split(i, 3)
        dataset = part.dataset(batch_size=7, shuffle="window", seed=3, epochs=1)
        batches = iter(dataset)
        first = [pa.record_batch(next(batches))["i"].to_pylist() for _ in range(2)]
        state = batches.state_dict()
        rest = [pa.record_batch(batch)["i"].to_pylist() for batch in batches]
        again = part.dataset(batch_size=7, shuffle="window", seed=3, epochs=1)
        again.load_state_dict(state)
        assert [pa.record_batch(batch)["i"].to_pylist() for batch in again] == rest
        seen += itertools.chain.from_iterable(first + rest)
    assert sorted(seen) == list(range(200))


def test_readers_that_are_not_files(path: str) -> None:
    data = made([bytes(i) for i in range(90)])
    fsspec.filesystem("memory").pipe("/splits.avro", data)
    whole = [row["i"] for row in avro_rows(data)]
    splits = cst.plan("memory://splits.avro", target_bytes=900)
    assert len(splits) > 3
    assert [row["i"] for row in read_each(read, splits)[0]] == whole
    source = cst.open(io.BytesIO(data))
    parts = [pa.table(source.split(i, 4))["i"].to_pylist() for i in range(4)]
    assert list(itertools.chain.from_iterable(parts)) == whole


def avro_rows(data: bytes) -> list[Any]:
    return list(fastavro.reader(io.BytesIO(data)))


def test_a_file_that_grows(path: str) -> None:
    """Whoever meets half of a block says so, and reads on when it is whole."""
    data = made([b"v" * 50] * 30)
    places = begins(data)
    growing = pathlib.Path(path)
    growing.write_bytes(data[: places[6] + 9])
    with pytest.raises(cst.errors.CorruptError, match="ends within a block"):
        read(path)
    rows, [(kind, offset, lost)] = read(path, on_error="skip")
    assert (kind, offset, lost) == ("framing", places[6], 9)
    assert [row["i"] for row in rows] == list(range(18))
    planned = cst.plan(path, target_bytes=300)
    growing.write_bytes(data)
    assert [row["i"] for row in read_each(read, planned)[0]] == list(
        range(21)
    )  # what began by then
    assert [row["i"] for row in read(path)[0]] == list(range(30))
