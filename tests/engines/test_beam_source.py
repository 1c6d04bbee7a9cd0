"""Beam's bounded sources: the records of a file, each once, however it is divided meanwhile."""

from __future__ import annotations

import ctypes
import functools
import itertools
import os
import pathlib
import pickle
import random
import struct
import sys
import threading
from collections.abc import Callable
from typing import Any

import apache_beam as beam
import beam_files
import columnstone as cst
import numpy as np
import pytest
import wide
from apache_beam.io import source_test_utils as test_utils
from apache_beam.io.concat_source import ConcatSource
from columnstone._beam.pieces import _OfSources, _Planned
from columnstone._beam.source import FileSource
from columnstone._beam.tracker import RecordTracker
from fsspec.implementations.local import LocalFileSystem

MUST = test_utils.ExpectedSplitOutcome.MUST_SUCCEED_AND_BE_CONSISTENT
CONSISTENT = test_utils.ExpectedSplitOutcome.MUST_BE_CONSISTENT_IF_SUCCEEDS
MUST_NOT = test_utils.ExpectedSplitOutcome.MUST_FAIL


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return beam_files.write(tmp_path_factory.mktemp("files") / "a.tfrecord", range(200))


def read(source: Any, start: Any = None, stop: Any = None) -> list[Any]:
    return list(source.read(source.get_range_tracker(start, stop)))


def numbers(batches: list[Any]) -> list[int]:
    return [number for batch in batches for number, _ in beam_files.checksum(batch)]


def opens_of(path: str, call: Callable[[], Any]) -> int:
    """How often a call opens a file, as Linux tells it: equal events that follow each other are
    one, but there are reads between two that open."""
    is_read, is_closed, is_open = 0x1, 0x10, 0x20
    libc = ctypes.CDLL(None)
    events = libc.inotify_init1(os.O_NONBLOCK)
    assert libc.inotify_add_watch(events, path.encode(), is_read | is_closed | is_open) >= 0
    try:
        call()
        masks = [mask for _, mask, *_ in struct.iter_unpack("iIII", os.read(events, 1 << 20))]
    finally:
        os.close(events)
    return sum(mask & is_open != 0 for mask in masks)


# ---- as Beam tests sources ----


@pytest.mark.parametrize("size", [300, 5000, 10**9])
def test_the_bundles_have_what_the_whole_has(path: str, size: int) -> None:
    source = beam_files.source_of(path, schema=beam_files.SCHEMA)
    bundles = list(source.split(size))
    assert (len(bundles) == 1) == (size == 10**9)
    parts = [(b.source, b.start_position, b.stop_position) for b in bundles]
    test_utils.assert_sources_equal_reference_source((source, None, None), parts)
    assert source.estimate_size() == sum(b.weight for b in bundles)
    found = [row for batch in read(source) for row in beam_files.checksum(batch)]
    assert sorted(found) == beam_files.expected(range(200))


@pytest.mark.parametrize("name", ["a.tfrecord", "a.tfrecord.gz"])
def test_a_range_is_read_with_one_open_of_its_file(tmp_path: pathlib.Path, name: str) -> None:
    """What kind of file it is, the plan has found out, or a name says."""
    path = beam_files.write(tmp_path / name, range(2000))
    source = beam_files.source_of(path, schema=beam_files.SCHEMA)
    bundles = list(source.split(20_000))
    assert (len(bundles) > 2) == (name == "a.tfrecord")
    for bundle in bundles:
        start, stop = bundle.start_position, bundle.stop_position
        assert opens_of(path, functools.partial(read, bundle.source, start, stop)) == 1


def test_split_at_every_fraction(tmp_path: pathlib.Path) -> None:
    path = beam_files.write(tmp_path / "a.tfrecord", range(6))
    source = beam_files.file_source(path, schema=beam_files.SCHEMA)
    test_utils.assert_split_at_fraction_exhaustive(source)
    test_utils.assert_reentrant_reads_succeed((source, None, None))


def test_batches_are_divided_after_the_last_one_that_was_handed_on(path: str) -> None:
    source = beam_files.file_source(path, 10, schema=beam_files.SCHEMA)
    for read_before in (1, 5, 12):
        primary, residual = test_utils.assert_split_at_fraction_behavior(
            beam_files.file_source(path, 1, schema=beam_files.SCHEMA), read_before * 10, 0.8, MUST
        )
        tracker = source.get_range_tracker(None, None)
        batches = source.read(tracker)
        first = list(itertools.islice(batches, read_before))
        position, _ = tracker.try_split(tracker.position_at_fraction(0.8))
        first += batches
        second = read(source, position, tracker_stop(source))
        assert numbers(first) == list(range(primary))
        assert numbers(second) == list(range(primary, primary + residual))
        assert [len(b) for b in first[:-1]] == [10] * (len(first) - 1)
    test_utils.assert_split_at_fraction_behavior(source, 19, 0.5, MUST_NOT)
    test_utils.assert_split_at_fraction_behavior(source, 0, 0.5, MUST_NOT)


def tracker_stop(source: FileSource) -> int:
    return source.get_range_tracker(None, None).stop_position()


def test_batches_by_bytes(path: str) -> None:
    source = beam_files.source_of(path, 1000, schema=beam_files.SCHEMA, batch_bytes=500)
    batches = read(source)
    assert numbers(batches) == list(range(200))
    assert 20 < len(batches) < 40


# ---- what payloads and damage look like ----


def hostile(seed: int) -> list[bytes]:
    """Records that hold files of records, and halves of them."""
    rng = random.Random(seed)
    records = []
    for i in range(12):
        inner = beam_files.framed(beam_files.noise(rng, 30) for _ in range(rng.randrange(5)))
        cut = rng.randrange(len(inner) + 1)
        payload = rng.choice([inner, inner[cut:], inner[:cut], beam_files.noise(rng, 40), b""])
        records.append(b"%d:" % i + payload)
    return records


def divided(source: FileSource, before: int, position: int) -> tuple[list[Any], list[Any] | None]:
    """What the reader gives, and the reader of what is divided off after some elements."""
    tracker = source.get_range_tracker(None, None)
    stop = tracker.stop_position()
    elements = source.read(tracker)
    first = list(itertools.islice(elements, before))
    split = tracker.try_split(position)
    first += elements
    return first, None if split is None else read(source, split[0], stop)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("batch_size", [1, 3])
def test_records_in_records(tmp_path: pathlib.Path, seed: int, batch_size: int) -> None:
    records = hostile(seed)
    data = beam_files.framed(records)
    path = tmp_path / "a.tfrecord"
    path.write_bytes(data)
    source = beam_files.file_source(str(path), batch_size, format="raw")
    splits = 0
    for position in range(0, len(data), 5):
        before = position % 4
        first, second = divided(source, before, position)
        assert [*beam_files.rows_of(first), *beam_files.rows_of(second or [])] == records
        splits += second is not None
    assert splits > len(data) // 40


@pytest.mark.parametrize("kind", ["data", "length", "not an example", "cut"])
def test_damage_is_reported_once(tmp_path: pathlib.Path, kind: str) -> None:
    """By the range that it lies in, wherever ranges begin."""
    records = beam_files.examples(range(14))
    starts = [len(beam_files.framed(records[:i])) for i in range(15)]
    for damaged in (0, 6, 13):
        bad = list(records)
        if kind == "not an example":
            bad[damaged] = b"\xff" * 30
        data = bytearray(beam_files.framed(bad))
        at = [len(beam_files.framed(bad[:i])) for i in range(15)]
        if kind == "data":
            data[at[damaged] + 14] ^= 1
        elif kind == "length":
            data[at[damaged] + 9] ^= 1
        elif kind == "cut":
            damaged = 13
            del data[starts[13] + 15 :]
        path = tmp_path / f"{kind} {damaged}.tfrecord"
        path.write_bytes(data)
        source = beam_files.file_source(
            str(path), 2, schema=beam_files.SCHEMA, on_error="skip", dead_letters=True
        )
        whole = read(source)
        letters = [e for e in whole if isinstance(e, cst.beam.DeadLetter)]
        batches = [e for e in whole if not isinstance(e, cst.beam.DeadLetter)]
        assert numbers(batches) == [i for i in range(14) if i != damaged]
        (letter,) = letters
        assert letter.file == str(path) and letter.offset == at[damaged]
        lies = bytes(data[at[damaged] : at[damaged] + letter.size])
        assert letter.bytes == (bad[damaged] if kind == "not an example" else lies)
        assert str(path) in letter.error and letter.kind
        for position in range(0, len(data), 23):
            first, second = divided(source, position % 4, position)
            both = [*first, *(second or [])]
            found = [e for e in both if isinstance(e, cst.beam.DeadLetter)]
            # Which record of the file it was is not known to a range.
            assert [e._replace(error="") for e in found] == [letter._replace(error="")]
            batches = [e for e in both if not isinstance(e, cst.beam.DeadLetter)]
            assert numbers(batches) == [i for i in range(14) if i != damaged], position


def test_damage_raises_in_one_range(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.tfrecord"
    data = bytearray(beam_files.framed(beam_files.examples(range(14))))
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    source = beam_files.file_source(str(path), 2, schema=beam_files.SCHEMA)
    for position in range(10, len(data), 20):
        failures = 0
        for start, stop in ((0, position), (position, len(data))):
            try:
                read(source, start, stop)
            except cst.errors.CorruptError:
                failures += 1
        assert failures == 1


# ---- while it is read ----


def race(source: FileSource, rng: random.Random) -> tuple[list[Any], int]:
    """Reads a source, while a thread divides it at random; all that the readers give."""
    found: list[Any] = []
    waiting = [(None, None)]
    splits = 0
    while waiting:
        start, stop = waiting.pop()
        tracker = source.get_range_tracker(start, stop)
        done = threading.Event()
        fractions = [rng.random() for _ in range(64)]
        more: list[Any] = []

        def divide(
            tracker: RecordTracker = tracker,
            done: threading.Event = done,
            fractions: list[float] = fractions,
            more: list[Any] = more,
        ) -> None:
            for fraction in itertools.cycle(fractions):
                if done.is_set():
                    return
                end = tracker.stop_position()
                split = tracker.try_split(tracker.position_at_fraction(fraction))
                if split is not None:
                    more.append((split[0], end))

        thread = threading.Thread(target=divide)
        thread.start()
        try:
            found += source.read(tracker)
        finally:
            done.set()
            thread.join()
        splits += len(more)
        waiting += more
    return found, splits


def test_divided_by_a_thread_while_it_is_read(tmp_path: pathlib.Path) -> None:
    """Many rounds: every row comes once."""
    rng = random.Random(1)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        splits = 0
        for i in range(20):
            records = hostile(i % 7) * 3
            path = tmp_path / "a.tfrecord"
            path.write_bytes(beam_files.framed(records))
            source = beam_files.file_source(str(path), 1 + i % 5, format="raw")
            for _ in range(3):
                found, made = race(source, rng)
                assert sorted(beam_files.rows_of(found)) == sorted(records)
                splits += made
    finally:
        sys.setswitchinterval(interval)
    assert splits > 20


def test_the_tracker_hands_out_no_record_twice() -> None:
    """Thousands of rounds of claims against divisions."""
    rng = random.Random(2)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(300):
            offsets = np.cumsum(np.array([rng.randrange(1, 9) for _ in range(60)]))
            tracker = RecordTracker(0, int(offsets[-1]) + 1)
            stops: list[int] = []

            def divide(
                tracker: RecordTracker = tracker,
                stops: list[int] = stops,
                seed: float = rng.random(),
            ) -> None:
                mine = random.Random(seed)
                for _ in range(40):
                    split = tracker.try_split(mine.randrange(tracker.stop_position()))
                    if split is not None:
                        stops.append(split[0])

            thread = threading.Thread(target=divide)
            thread.start()
            claimed: list[int] = []
            for at in range(0, 60, 4):
                batch = offsets[at : at + 4]
                count = tracker.claim(batch)
                claimed += batch[:count].tolist()
                if count < len(batch):
                    break
            stop = tracker.finish()
            thread.join()
            assert stops == sorted(stops, reverse=True)
            assert stop == (stops[-1] if stops else int(offsets[-1]) + 1) == tracker.stop_position()
            assert claimed == [offset for offset in offsets.tolist() if offset < stop]
            assert tracker.try_split(stop - 1) is None
            assert tracker.fraction_consumed() == 1.0
    finally:
        sys.setswitchinterval(interval)


# ---- what is not divided ----


def test_what_is_not_divided(tmp_path: pathlib.Path) -> None:
    path = beam_files.write(tmp_path / "a.tfrecord.gz", range(50), "gzip")
    other = tmp_path / "other"
    other.write_bytes(pathlib.Path(path).read_bytes())
    csv = tmp_path / "a.csv"
    csv.write_text("id\n" + "".join(f"{i}\n" for i in range(50)))
    for file, options in (
        (path, {"schema": beam_files.SCHEMA}),
        (str(csv), {"format": "csv"}),
    ):
        source = beam_files.source_of(file, **options)
        (bundle,) = source.split(100)
        tracker = bundle.source.get_range_tracker(None, None)
        batches = bundle.source.read(tracker)
        first = [next(batches)]
        assert tracker.try_split(tracker.position_at_fraction(0.5)) is None
        assert sum(map(len, [*first, *batches])) == 50
    # Of a compressed file of another name the second half is empty.
    source = beam_files.file_source(str(other), schema=beam_files.SCHEMA)
    for position in range(1, other.stat().st_size, 199):
        first, second = divided(source, 1, position)
        assert numbers([*first, *(second or [])]) == list(range(50))


def test_frames_of_a_file_that_does_not_say_that_it_is_compressed(tmp_path: pathlib.Path) -> None:
    """A zstd file with restart points has rows in several ranges, and none of these is divided."""
    rng = random.Random(3)
    records = [rng.randbytes(20_000) for _ in range(500)]
    path = tmp_path / "a.tfrecord"
    with cst.codec.TFRecordWriter(path, compression="zstd") as writer:
        for one in records:
            writer.write(one)
    source = beam_files.file_source(str(path), 10, format="raw")
    found: list[bytes] = []
    used = 0
    for bundle in source.split(1 << 20):
        tracker = bundle.source.get_range_tracker(bundle.start_position, bundle.stop_position)
        batches = bundle.source.read(tracker)
        rows = []
        for batch in batches:
            assert tracker.try_split(tracker.position_at_fraction(0.9)) is None
            rows += beam_files.rows_of([batch])
        found += rows
        used += bool(rows)
    assert found == records
    assert used > 1
    assert sorted(beam_files.rows_of(race(source, rng)[0])) == sorted(records)


def test_small_files_are_read_together_and_divided_between_them(tmp_path: pathlib.Path) -> None:
    for i in range(20):
        beam_files.write(tmp_path / f"{i:02}.tfrecord", range(i * 2, i * 2 + 2))
    source = beam_files.source_of(str(tmp_path / "*.tfrecord"), 1, schema=beam_files.SCHEMA)
    bundles = list(source.split(8 << 20))
    assert 1 < len(bundles) < 5
    for bundle in bundles:
        assert isinstance(bundle.source, ConcatSource)
        for fraction in (0.1, 0.3, 0.55, 0.9):
            test_utils.assert_split_at_fraction_behavior(bundle.source, 2, fraction, CONSISTENT)
    again = [(pickle.loads(pickle.dumps(b.source)), *b[2:]) for b in bundles]
    assert [n for one in again for n in numbers(read(*one))] == list(range(40))


def test_many_files_are_not_opened(tmp_path: pathlib.Path) -> None:
    """Bundles of many files pickle small: each has its own, and the options."""
    one = beam_files.write(tmp_path / "a.tfrecord", range(3))
    source = beam_files.source_of([one] * 1000, schema=beam_files.SCHEMA)
    bundles = list(source.split(64 << 20))
    assert len(bundles) == -(-1000 // 64)
    assert len(pickle.dumps(bundles[0])) < 30_000


@pytest.mark.parametrize("infers", [False, True])
def test_pieces_are_small(tmp_path: pathlib.Path, infers: bool) -> None:
    """What a runner keeps of each piece: the columns are a side input."""
    paths, schema = wide.write(tmp_path)
    source = beam_files.source_of(paths, 1, **({} if infers else {"schema": schema}))
    coder = _OfSources().restriction_coder()
    task = source.task()
    bundles = list(source.bundles(50_000, False, task.named()))
    assert len(bundles) > 4
    for bundle in bundles:
        assert len(pickle.dumps(bundle)) < wide.MOST
        assert len(coder.encode(_Planned().initial_restriction(bundle))) < wide.MOST
    there = pickle.loads(pickle.dumps(bundles))
    rows = [b.num_rows for one in there for b in read(one.source, *one[2:])]
    assert sum(rows) == 8
    run = beam_files.Run(cst.beam.Read(paths, **({} if infers else {"schema": schema})))
    assert run.table.num_rows == 8


def test_all_bundles_have_the_columns_of_all_files(tmp_path: pathlib.Path) -> None:
    """What is inferred is inferred once."""
    cst.write([{"a": 1}, {"a": 2}], tmp_path / "1.tfrecord", "example")
    cst.write([{"b": "x"}], tmp_path / "2.tfrecord", "example")
    source = beam_files.source_of(str(tmp_path / "*.tfrecord"), 10)
    batches = read(source)
    assert [b.schema.names for b in batches] == [["a", "b"]] * len(batches)


def test_the_coder_is_that_of_record_batches(path: str) -> None:
    assert isinstance(cst.beam.RecordBatchCoder(), beam.coders.Coder)
    source = beam_files.source_of(path)
    assert type(source.default_output_coder()) is cst.beam.RecordBatchCoder


# ---- what a reader opens ----


class _Counting(LocalFileSystem):  # type: ignore[misc]
    """Files of this machine, as of a server that is asked for each: what is opened is noted in a
    file, because workers have copies of the file system."""

    protocol = "counting"
    cachable = False

    def _open(self, path: str, *args: Any, **options: Any) -> Any:
        with open(self.storage_options["log"], "a") as log:
            log.write(f"{path}\n")
        return super()._open(path, *args, **options)


@pytest.mark.parametrize("name", ["a.tfrecord", "a.tfrecord.gz", "a.jsonl", "a.csv"])
def test_a_range_is_read_by_opening_its_file_once(tmp_path: pathlib.Path, name: str) -> None:
    path, log = tmp_path / name, tmp_path / "log"
    cst.write([{"id": i, "text": "x" * 50} for i in range(1000)], path)
    options = {"schema": 'feature { name: "id" type: INT }'} if "tfrecord" in name else {}
    source = beam_files.source_of(str(path), 100, filesystem=_Counting(log=str(log)), **options)
    rows = 0
    for bundle in source.split(path.stat().st_size // 3):
        log.write_text("")
        tracker = bundle.source.get_range_tracker(bundle.start_position, bundle.stop_position)
        rows += sum(map(len, bundle.source.read(tracker)))
        assert log.read_text().splitlines() == [str(path)]
    assert rows == 1000


def test_a_range_that_is_divided_opens_its_file_for_the_new_end(tmp_path: pathlib.Path) -> None:
    """Once more to find where the rest begins, and once to see that nothing lies between."""
    path, log = beam_files.write(tmp_path / "a.tfrecord", range(1000)), tmp_path / "log"
    source = beam_files.source_of(
        path, 100, filesystem=_Counting(log=str(log)), schema=beam_files.SCHEMA
    )
    (bundle,) = source.split(1 << 40)
    tracker = bundle.source.get_range_tracker(bundle.start_position, bundle.stop_position)
    log.write_text("")
    batches = bundle.source.read(tracker)
    rows = len(next(batches))
    assert tracker.try_split(bundle.stop_position // 2) is not None
    rows += sum(map(len, batches))
    assert 100 < rows < 1000
    assert len(log.read_text().splitlines()) <= 3
