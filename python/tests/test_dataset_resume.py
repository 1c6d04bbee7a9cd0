"""Datasets taken up again: behind every batch, with other workers and threads, after kills."""

from __future__ import annotations

import json
import pathlib
import signal
import subprocess
import sys
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROWS = 700
SCHEMA = 'feature { name: "id" type: INT shape {} presence { min_fraction: 1 min_count: 1 } }'

Kind = str
Item = tuple[int, int, list[int]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The same rows as plain and compressed TFRecords, as CSV and as Parquet, in three files."""
    folder = tmp_path_factory.mktemp("resume")
    borders = [0, 300, 310, ROWS]
    for i in range(3):
        ids = list(range(borders[i], borders[i + 1]))
        lists = pa.record_batch({"id": pa.array([[k] for k in ids], pa.large_list(pa.int64()))})
        flat = pa.record_batch({"id": pa.array(ids, pa.int64())})
        cst.write([lists], folder / f"{i}.tfrecord", "example")
        cst.write([lists], folder / f"{i}.gz", "example")
        cst.write([flat], folder / f"{i}.csv")
        cst.write([flat], folder / f"{i}.parquet")
    return folder


KINDS = ["tfrecord", "gz", "csv", "parquet"]


def open_kind(folder: pathlib.Path, kind: Kind) -> cst.Source:
    schema = None if kind == "parquet" else SCHEMA
    return cst.open(str(folder / f"*.{kind}"), schema=schema)


def make(source: cst.Source, **options: Any) -> cst.Dataset:
    given: dict[str, Any] = {"shuffle": True, "seed": 3, "epochs": 2, "window": 96}
    return source.dataset(32, **{**given, **options, "as_batches": True})


def ids_of(batch: cst.RecordBatch) -> list[int]:
    values = batch.column("id").to_pylist()
    return [v[0] if isinstance(v, list) else v for v in values]


def items(iteration: Any) -> list[Item]:
    return [(iteration.position.epoch, iteration.position.batch, ids_of(b)) for b in iteration]


def in_turns(dataset: cst.Dataset, workers: int, start: Any = None) -> list[Item]:
    """What workers give in turns."""
    running = [dataset.iterate(w, workers, start) for w in range(workers)]
    found: list[Item] = []
    while True:
        one = running[len(found) % workers]
        batch = next(one, None)
        if batch is None:
            return found
        assert one.position is not None
        found.append((one.position.epoch, one.position.batch, ids_of(batch)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("drop_last", [False, True])
def test_behind_every_batch(folder: pathlib.Path, kind: Kind, drop_last: bool) -> None:
    source = open_kind(folder, kind)
    whole = make(source, drop_last=drop_last)
    expected = items(iter(whole))
    running = iter(whole)
    for k in range(len(expected)):
        next(running)
        state = json.loads(json.dumps(running.state_dict()))
        again = make(source, drop_last=drop_last, prefetch=k % 3, threads=1 + k % 2)
        again.load_state_dict(state)
        assert again.state_dict() == state
        assert items(iter(again)) == expected[k + 1 :]
        assert items(iter(again)) == expected  # the state is for one iteration
        if k % 7 == 0:
            for workers in (2, 3, 5):
                assert in_turns(again, workers, state) == expected[k + 1 :]
                assert in_turns(again, workers, running.position) == expected[k + 1 :]


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_of_batches(folder: pathlib.Path, kind: Kind) -> None:
    source = open_kind(folder, kind)
    expected = items(iter(make(source)))
    for consumed in (0, 1, 21, 22, 23, 43, 44, 100):
        assert items(iter(make(source, consumed=consumed))) == expected[consumed:]


def test_shards_go_on_by_themselves(folder: pathlib.Path) -> None:
    source = open_kind(folder, "gz")
    for shard in range(3):
        expected = items(iter(make(source, shard=(shard, 3))))
        running = iter(make(source, shard=(shard, 3)))
        for _ in range(9):
            next(running)
        again = make(source, shard=(shard, 3))
        again.load_state_dict(running.state_dict())
        assert in_turns(again, 2, running.state_dict()) == expected[9:]


def test_the_dataset_speaks_of_the_iteration_that_began_last(folder: pathlib.Path) -> None:
    dataset = make(open_kind(folder, "tfrecord"))
    assert dataset.state_dict()["batch"] == -1
    first = iter(dataset)
    next(first)
    assert dataset.state_dict()["batch"] == 0
    second = iter(dataset)
    assert dataset.state_dict()["batch"] == -1
    next(second), next(second)
    assert dataset.state_dict()["batch"] == 1 and first.state_dict()["batch"] == 0


def test_epoch_by_epoch(folder: pathlib.Path) -> None:
    source = open_kind(folder, "tfrecord")
    expected = items(iter(make(source, epochs=3)))
    dataset = make(source, epochs=1)
    found = []
    for epoch in range(3):
        dataset.set_epoch(epoch)
        found += items(iter(dataset))
    assert found == expected
    running = iter(dataset)
    for _ in range(5):
        next(running)
    state = running.state_dict()
    again = make(source, epochs=1)
    again.load_state_dict(state)
    again.set_epoch(2)  # what such a loop says first
    assert items(iter(again)) == expected[2 * 22 + 5 :]
    assert items(make(source, epochs=1).iterate(start=state)) == expected[2 * 22 + 5 :]
    again.load_state_dict(state)
    again.set_epoch(1)
    assert items(iter(again)) == expected[22:44]


# Other numbers of shards


def of_shards(
    source: cst.Source, count: int, state: Any, stop: int | None, workers: int, **options: Any
) -> tuple[list[list[Item]], Any]:
    """What each of so many shards gives after a state, up to so many batches, and the state of the
    last shard then."""
    given: list[list[Item]] = []
    for shard in range(count):
        dataset = make(source, shard=(shard, count), **options)
        if stop is None:
            given.append(in_turns(dataset, workers, state))
            continue
        running = dataset.iterate(start=state)
        given.append([])
        for _ in range(stop):
            batch = next(running)
            assert running.position is not None
            place = (running.position.epoch, running.position.batch)
            given[-1].append((*place, ids_of(batch)))
        after = json.loads(json.dumps(running.state_dict()))
    return given, (None if stop is None else after)


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    shuffle=st.booleans(),
    window=st.integers(1, 800),
    shards=st.tuples(*[st.integers(1, 9)] * 3),
    steps=st.tuples(*[st.integers(0, 22)] * 2),
    workers=st.integers(1, 3),
)
def test_another_number_of_shards(
    folder: pathlib.Path,
    kind: Kind,
    shuffle: bool,
    window: int,
    shards: tuple[int, int, int],
    steps: tuple[int, int],
    workers: int,
) -> None:
    """Two changes of the number of shards, each somewhere in the first epoch: every row once, the
    batches in the order of one loop that goes over all of them, and the second epoch whole."""
    source = open_kind(folder, kind)
    options: dict[str, Any] = {"shuffle": shuffle, "window": window}
    whole = [ids for _, _, ids in items(iter(make(source, **options)))]
    batches = len(whole) // 2
    found: list[list[int]] = []
    state = None
    for n, wanted in zip(shards, (*steps, None), strict=True):
        # All shards have delivered as many batches, none has gone on to the next epoch.
        stop = None if wanted is None else min(wanted, (batches - len(found)) // n)
        given, state = of_shards(source, n, state, stop, workers, **options)
        for epoch in range(2):
            own = [[ids for e, _, ids in one if e == epoch] for one in given]
            turns = max(map(len, own))
            found += [one[t] for t in range(turns) for one in own if t < len(one)]
    assert found == whole


def test_more_shards_than_batches_are_left(folder: pathlib.Path) -> None:
    source = open_kind(folder, "gz")
    _, state = of_shards(source, 4, None, 5, 1)  # 20 of 22 batches
    given, _ = of_shards(source, 5, state, None, 2)
    firsts = [[(b, len(ids)) for e, b, ids in one if e == 0] for one in given]
    assert firsts == [[(0, 32)], [(0, 28)], [], [], []]
    given, _ = of_shards(source, 5, state, None, 2, drop_last=False, epochs=1)
    assert sum(len(one) for one in given) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_shards_stay_equally_long(folder: pathlib.Path, kind: Kind) -> None:
    source = open_kind(folder, kind)
    _, state = of_shards(source, 4, None, 2, 1, drop_last=True)  # 8 of 21 full batches
    given, _ = of_shards(source, 3, state, None, 1, drop_last=True)
    assert [[e for e, _, _ in one].count(0) for one in given] == [4, 4, 4]
    assert [[e for e, _, _ in one].count(1) for one in given] == [7, 7, 7]


def test_the_order_by_other_batches_is_refused(folder: pathlib.Path) -> None:
    source = open_kind(folder, "gz")
    state = make(source, shard=(1, 8)).state_dict()
    other = source.dataset(43, True, 3, 2, shard=(1, 6), window=96, as_batches=True)
    with pytest.raises(cst.errors.StateError, match="batch_size 32, but this one has 43"):
        other.load_state_dict(state)


# What does not fit


def test_states_of_other_datasets(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    source = open_kind(folder, "tfrecord")
    dataset = make(source)
    next(iter(dataset))
    state = dataset.state_dict()
    others = {
        "seed": make(source, seed=4),
        "shuffle": make(source, shuffle=False),
        "drop_last": make(source, drop_last=True),
        "rows": make(source[:600]),
        "batch_size": source.dataset(16, True, 3),
    }
    for name, other in others.items():
        with pytest.raises(cst.errors.StateError, match=name):
            other.load_state_dict(state)
    with pytest.raises(cst.errors.StateError, match="bytes"):
        make(open_kind(folder, "gz"), shuffle="window").load_state_dict(
            make(source, shuffle="window").state_dict()
        )
    for broken in ({}, {"epoch": 1}, {**state, "version": 99}):
        with pytest.raises(cst.errors.StateError):
            dataset.load_state_dict(broken)
    with pytest.raises(cst.errors.ArgumentError):
        dataset.load_state_dict(cst.dataset.Batch())


def test_positions_that_there_are_not(folder: pathlib.Path) -> None:
    dataset = make(open_kind(folder, "gz"))
    dataset.load_state_dict(cst.dataset.Position(0, 2, 3, 700))
    with pytest.raises(
        cst.errors.ArgumentError, match="no batch begins with row 96 after 3 files and 700 rows"
    ):
        next(iter(dataset))
    dataset.load_state_dict(cst.dataset.Position(0, 10000))
    assert items(iter(dataset))[0][:2] == (1, 0)
    dataset.load_state_dict(cst.dataset.Position(7, 0))
    assert items(iter(dataset)) == []


@settings(max_examples=30, deadline=None)
@given(
    kind=st.sampled_from(KINDS[:2]),
    batch_size=st.integers(1, 400),
    window=st.integers(1, 800),
    k=st.integers(0, 2000),
    workers=st.integers(1, 4),
    seed=st.integers(0, 2**64 - 1),
)
def test_anywhere(
    folder: pathlib.Path,
    kind: Kind,
    batch_size: int,
    window: int,
    k: int,
    workers: int,
    seed: int,
) -> None:
    source = open_kind(folder, kind)
    dataset = source.dataset(batch_size, True, seed, 2, window=window, as_batches=True)
    running = iter(dataset)
    expected: list[Item] = []
    states: list[dict[str, Any]] = []
    for batch in running:
        assert running.position is not None
        expected.append((running.position.epoch, running.position.batch, ids_of(batch)))
        states.append(running.state_dict())
    k %= len(expected)
    assert in_turns(dataset, workers, states[k]) == expected[k + 1 :]


# Killed

TRAIN = """
import json, os, sys, columnstone as cst
files, kind, state_path, log_path, threads, workers = sys.argv[1:]
schema = None if kind == "parquet" else sys.stdin.read()
ds = cst.open(files, schema=schema).dataset(
    32, True, 3, 2, window=96, prefetch=int(threads) * 2, threads=max(int(threads), 1),
    as_batches=True)
start = json.load(open(state_path)) if os.path.exists(state_path) else None
running = [ds.iterate(w, int(workers), start) for w in range(int(workers))]
turn = 0
with open(log_path, "a") as log:
    while True:
        one = running[turn % len(running)]
        batch = next(one, None)
        if batch is None:
            break
        turn += 1
        ids = [v[0] if isinstance(v, list) else v for v in batch.column("id").to_pylist()]
        log.write(json.dumps([one.position.epoch, one.position.batch, ids]) + "\\n")
        log.flush()
        with open(state_path + ".new", "w") as out:
            json.dump(one.state_dict(), out)
        os.replace(state_path + ".new", state_path)
        print(turn, flush=True)
"""


@pytest.mark.parametrize("kind", KINDS)
def test_killed_and_taken_up_with_other_workers(
    folder: pathlib.Path, tmp_path: pathlib.Path, kind: Kind
) -> None:
    expected = items(iter(make(open_kind(folder, kind))))
    state, log = tmp_path / "state", tmp_path / "log"
    # (batches until the kill, threads, workers)
    for stop, threads, workers in [(5, 0, 1), (1, 2, 3), (13, 1, 2), (9, 3, 1), (None, 2, 5)]:
        command = [sys.executable, "-c", TRAIN, str(folder / f"*.{kind}"), kind, str(state)]
        with subprocess.Popen(
            [*command, str(log), str(threads), str(workers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as child:
            assert child.stdin is not None and child.stdout is not None
            child.stdin.write(SCHEMA)
            child.stdin.close()
            for line in child.stdout:
                if stop is not None and int(line) >= stop:
                    child.send_signal(signal.SIGKILL)
                    break
            child.stdout.read()
        assert child.returncode == (0 if stop is None else -signal.SIGKILL)
    found = [json.loads(line) for line in log.read_text().splitlines()]
    merged: dict[tuple[int, int], list[int]] = {}
    order: list[tuple[int, int]] = []
    for epoch, batch, ids in found:
        # A batch that was delivered while its state was being written comes again.
        if (epoch, batch) not in merged:
            order.append((epoch, batch))
        assert merged.setdefault((epoch, batch), ids) == ids
    assert order == [(epoch, batch) for epoch, batch, _ in expected]
    assert [merged[key] for key in order] == [ids for _, _, ids in expected]
