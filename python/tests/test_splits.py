"""Splits at any places of any files: the records of the whole file, each once and in order."""

from __future__ import annotations

import io
import pathlib
from typing import Any

import columnstone as cst
import messages
import pyarrow as pa
import pytest
from conftest import SCHEMA, records
from hypothesis import example, given, settings
from hypothesis import strategies as st
from splitting import read_each, splits_at

TO_END = 2**63 - 1


def tfrecord(payloads: list[bytes]) -> bytes:
    file = io.BytesIO()
    with cst.codec.TFRecordWriter(file) as writer:
        for payload in payloads:
            writer.write(payload)
    return file.getvalue()


PLAIN = st.binary(max_size=40) | st.integers(0, 3000).map(bytes)
NESTED = st.lists(PLAIN, max_size=6).map(tfrecord)
CUT = st.builds(
    lambda data, a, b: data[a : len(data) - b], NESTED, st.integers(0, 20), st.integers(0, 20)
)
FILES = st.lists(PLAIN | NESTED | CUT | st.lists(NESTED, max_size=3).map(tfrecord), max_size=14)


def read(what: Any, **options: Any) -> tuple[list[bytes], list[tuple[int | None, int]]]:
    """The records, and (offset, bytes) of what was dropped."""
    rows: list[bytes] = []
    source = cst.open(what, "raw", batch_size=3, **options)
    for batch in source:
        rows += pa.record_batch(batch)["record"].to_pylist()
    return rows, [(drop.offset, drop.bytes) for drop in source.dropped]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("splits")


@settings(max_examples=80, deadline=None)
@given(payloads=FILES, places=st.lists(st.integers(0, 20000), max_size=6), data=st.data())
def test_nested_records(
    folder: pathlib.Path, payloads: list[bytes], places: list[int], data: st.DataObject
) -> None:
    path = folder / "nested.tfrecord"
    path.write_bytes(tfrecord(payloads))
    size = path.stat().st_size
    splits = splits_at(str(path), [p % (size + 1) for p in places], size)
    options = data.draw(
        st.sampled_from([{}, {"threads": 2}, {"memory_map": True}, {"on_error": "skip"}])
    )
    assert read_each(read, splits, **options) == (payloads, [])
    assert read(splits, **options) == (payloads, [])


@settings(max_examples=150, deadline=None)
@given(
    payloads=st.lists(PLAIN | NESTED, min_size=2, max_size=14),
    places=st.lists(st.integers(0, 20000), max_size=8),
    flips=st.lists(st.tuples(st.integers(0, 40000), st.integers(1, 255)), max_size=4),
    cut=st.integers(0, 30),
)
@example(payloads=[b""] * 4 + [tfrecord([b""] * 6)], places=[1], flips=[(13468, 1)], cut=4)
@example(payloads=[b"", b"a" * 40, b""], places=[20], flips=[(22, 1)], cut=0)
def test_damaged_records(
    folder: pathlib.Path,
    payloads: list[bytes],
    places: list[int],
    flips: list[tuple[int, int]],
    cut: int,
) -> None:
    file = bytearray(tfrecord(payloads))
    for at, bits in flips:
        file[at % len(file)] ^= bits
    path = folder / "damaged.tfrecord"
    path.write_bytes(file[: len(file) - cut])
    size = path.stat().st_size
    splits = splits_at(str(path), [p % (size + 1) for p in places], size)
    try:
        whole = read(str(path), container="tfrecord", on_error="skip")
    except cst.errors.FormatError:  # nothing of it looks like TFRecords
        return
    assert read_each(read, splits, container="tfrecord", on_error="skip") == whole
    assert read(splits, container="tfrecord", on_error="skip", threads=2) == whole


LINES = st.lists(st.text(st.sampled_from("ab\r"), max_size=5), max_size=20)


@settings(max_examples=80, deadline=None)
@given(lines=LINES, end=st.booleans(), places=st.lists(st.integers(0, 200), max_size=6))
def test_lines(folder: pathlib.Path, lines: list[str], end: bool, places: list[int]) -> None:
    path = folder / "lines.txt"
    path.write_bytes("\n".join(lines).encode() + b"\n" * end)
    size = path.stat().st_size
    whole = read(str(path), container="lines")
    assert read_each(read, splits_at(str(path), places, size), container="lines") == whole
    cuts = splits_at(str(path), places, size)
    cuts[-1] = cuts[-1]._replace(end=TO_END)
    assert read(cuts, container="lines") == whole


@settings(max_examples=80, deadline=None)
@given(payloads=FILES, places=st.lists(st.integers(0, 20000), max_size=4))
def test_lengths_alone(folder: pathlib.Path, payloads: list[bytes], places: list[int]) -> None:
    """Without checksums of the data, what a payload holds may look like the file's own records up
    to its end: the split before fails then."""
    path = folder / "lengths.tfrecord"
    path.write_bytes(tfrecord(payloads))
    size = path.stat().st_size
    splits = splits_at(str(path), [p % (size + 1) for p in places], size)
    try:
        found = read_each(read, splits, check_crc=False)
    except cst.errors.CorruptError as error:
        assert "`columnstone index` makes splitting exact" in str(error)
    else:
        assert found == (payloads, [])


def test_other_containers_belong_to_byte_0(folder: pathlib.Path) -> None:
    payloads = [b"", b"one", b"three" * 60]
    path = folder / "delimited"
    sizes = (b"\0", b"\3", b"\xac\2")
    path.write_bytes(b"".join(n + p for n, p in zip(sizes, payloads, strict=True)))
    one, none = folder / "file", folder / "empty"
    one.write_bytes(b"all of it")
    none.write_bytes(b"")
    for places in ([1], [2, 5], [3, 4, 300]):
        for file, container, whole in (
            (path, "delimited", payloads),
            (one, "file", [b"all of it"]),
            (none, "file", [b""]),
            (none, "tfrecord", []),
        ):
            splits = splits_at(str(file), places, file.stat().st_size)
            assert read_each(read, splits, container=container) == (whole, [])


# Everything else that a source does


@pytest.fixture(scope="module")
def examples(folder: pathlib.Path) -> list[str]:
    names = []
    for i in range(2):
        path = folder / f"{i}.tfrecord"
        path.write_bytes(tfrecord(records(60, 60 * i)))
        names.append(str(path))
    return names


def tables(splits: list[cst.source.Split], **options: Any) -> pa.Table:
    return pa.concat_tables([pa.table(cst.open(split, **options)) for split in splits])


@pytest.mark.parametrize(
    "options",
    [
        {"schema": SCHEMA},
        {"schema": SCHEMA, "columns": ["id"]},
        {"schema": SCHEMA, "flat": True, "threads": 2},
        {"schema": SCHEMA, "raw_column": "raw", "offset_column": "at"},
        {"format": "raw"},
    ],
    ids=str,
)
def test_options(examples: list[str], options: dict[str, Any]) -> None:
    splits = cst.plan(examples, target_bytes=700)
    assert len(splits) > 8
    whole = pa.table(cst.open(examples, **options))
    assert tables(splits, **options) == whole
    assert pa.table(cst.open(splits, **options)) == whole
    source = cst.open(splits[2:7], **options)
    part = pa.table(source)
    assert pa.concat_tables([pa.table(source.split(i, 3)) for i in range(3)]) == part
    assert source.num_rows == part.num_rows == sum(f.records for f in source.count())
    assert source.verify().faults == []


def test_messages_and_views(folder: pathlib.Path) -> None:
    session = messages.shop("Session")
    path = folder / "sessions.tfrecord"
    path.write_bytes(tfrecord(messages.sessions(50)))
    splits = cst.plan(path, target_bytes=600)
    view = cst.Query(session).output("q", "event.query")
    for options in ({"message": session}, {"view": view}, {"message": session, "on_error": "null"}):
        assert tables(splits, **options) == pa.table(cst.open(path, **options))


# Files that change


def test_an_index_that_comes_or_goes(folder: pathlib.Path) -> None:
    payloads = [bytes(i) for i in range(100)]
    path = folder / "index.tfrecord"
    path.write_bytes(tfrecord(payloads))
    sought = cst.plan(path, target_bytes=1000)
    assert not any(split.exact for split in sought)
    cst.source.Index.build(str(path))
    exact = cst.plan(path, target_bytes=1000)
    assert all(split.exact for split in exact)
    for splits in (sought, exact):
        assert read_each(read, splits) == (payloads, [])
    half = len(exact) // 2
    mixed = [*exact[:half], sought[0]._replace(begin=exact[half].begin, end=path.stat().st_size)]
    assert read_each(read, mixed) == read(mixed) == (payloads, [])
    path.with_name("index.tfrecord.cstidx").unlink()
    assert read_each(read, exact) == (payloads, [])


def test_a_damaged_record_before_the_end_of_a_split(folder: pathlib.Path) -> None:
    """What is dropped, and why, is the same: a record whose length is beyond the split's end, whose
    header is, and one before bytes that are no record, also after a record that the file cuts."""
    path = folder / "ends.tfrecord"
    empty, long = tfrecord([b""]), tfrecord([b"a" * 40])
    inner = tfrecord([b"", b"", b""])
    cut = tfrecord([bytes(5000)])[:-5]
    crossing = tfrecord([inner + bytes(50)])[: 12 + len(inner)]
    wrong = long[:-1] + bytes([long[-1] ^ 1])
    for damage in (long[:12], long[:5], wrong + b"abc", crossing, cut[:700] + long + crossing):
        path.write_bytes(empty + damage + long * 3)
        size = path.stat().st_size
        whole = faults(str(path))
        for place in range(1, size):
            splits = splits_at(str(path), [place], size)
            assert [fault for split in splits for fault in faults(split)] == whole


def faults(what: Any) -> list[tuple[str, int | None, int]]:
    source = cst.open(what, "raw", container="tfrecord", on_error="skip", offset_column="offset")
    rows = [place for batch in source for place in batch["offset"].to_pylist()]
    dropped = [(drop.kind, drop.offset, drop.bytes) for drop in source.dropped]
    return sorted(dropped + [("sound", place, 0) for place in rows], key=lambda fault: fault[1])


def test_places_are_not_cut_off(folder: pathlib.Path) -> None:
    path = folder / "places.tfrecord"
    path.write_bytes(tfrecord([b"a", b"b"]))
    for begin, end in ((0, 2**64 + 17), (0, 2**63), (-1, 17), (-(2**64), 17)):
        with pytest.raises((cst.errors.ArgumentError, OverflowError)):
            cst.open(cst.source.Split(str(path), begin, end))


def test_names_of_formats_are_checked(folder: pathlib.Path) -> None:
    path = folder / "names.tfrecord"
    path.write_bytes(b"")
    with pytest.raises(cst.errors.NotFoundError, match="exmple"):
        cst.plan(str(path), "exmple")
    with pytest.raises(cst.errors.NotFoundError, match="tfrecrd"):
        cst.plan(str(path), container="tfrecrd")


def test_files_that_grow_and_shrink(folder: pathlib.Path) -> None:
    payloads = [bytes(i) for i in range(100)]
    path = folder / "grows.tfrecord"
    path.write_bytes(tfrecord(payloads))
    splits = cst.plan(path, target_bytes=1000)
    small = cst.plan(path)
    with path.open("ab") as file:
        file.write(tfrecord([b"more"] * 9))
    for planned in (splits, small):
        assert read_each(read, planned) == (payloads, [])
    path.write_bytes(tfrecord(payloads)[:-500])
    for planned in (splits[-1:], small):
        with pytest.raises(cst.errors.StateError, match="changed since it was planned"):
            cst.open(planned, "raw")
