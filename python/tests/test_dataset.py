"""Datasets: what a batch is, orders, shards, epochs, labels, arguments, processes and threads."""

from __future__ import annotations

import copy
import gc
import gzip
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from threads import library_threads
from torch.utils.data._utils.collate import default_convert
from torch.utils.data._utils.pin_memory import pin_memory

ROWS = 1003

Ids = list[int]


def write_rows(path: pathlib.Path, begin: int, end: int) -> str:
    """A file of plain records: id, its square as x, and `id % 4` words."""
    batch = pa.record_batch(
        {
            "id": pa.array([[i] for i in range(begin, end)], pa.large_list(pa.int64())),
            "x": pa.array([[float(i) / 2] for i in range(begin, end)], pa.large_list(pa.float32())),
            "words": pa.array(
                [[b"w"] * (i % 4) for i in range(begin, end)], pa.large_list(pa.large_binary())
            ),
        }
    )
    cst.write([batch], path, "example")
    return str(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("rows")
    borders = [0, 400, 401, 900, ROWS]
    return [write_rows(folder / f"part-{i}.tfrecord", borders[i], borders[i + 1]) for i in range(4)]


@pytest.fixture(scope="module")
def packed(files: list[str]) -> list[str]:
    names = []
    for name in files:
        data = pathlib.Path(name).read_bytes()
        pathlib.Path(name + ".gz").write_bytes(gzip.compress(data))
        names.append(name + ".gz")
    return names


SCHEMA = """
feature { name: "id" type: INT shape {} presence { min_fraction: 1 min_count: 1 } }
feature { name: "x" type: FLOAT shape {} presence { min_fraction: 1 min_count: 1 } }
feature { name: "words" type: BYTES }
"""


@pytest.fixture(scope="module")
def src(files: list[str]) -> cst.Source:
    return cst.open(files, schema=SCHEMA, batch_size=64)


@pytest.fixture(scope="module")
def stream(packed: list[str]) -> cst.Source:
    return cst.open(packed, schema=SCHEMA, batch_size=64)


def ids_of(batch: cst.dataset.Batch) -> Ids:
    ids: Ids = batch["id"].numpy().reshape(-1).tolist()
    return ids


def all_ids(dataset: cst.Dataset) -> list[Ids]:
    return [ids_of(batch) for batch in dataset]


def flat(batches: list[Ids]) -> Ids:
    return [i for batch in batches for i in batch]


# What an order is


@pytest.mark.parametrize("shuffle", [False, True, "global", "window"])
def test_every_row_comes_once(src: cst.Source, shuffle: cst._dataset.Shuffle) -> None:
    dataset = src.dataset(50, shuffle, seed=3, window=200)
    batches = all_ids(dataset)
    assert [len(b) for b in batches] == [50] * 20 + [3]
    assert sorted(flat(batches)) == list(range(ROWS))
    assert (flat(batches) == list(range(ROWS))) == (shuffle is False)
    assert flat(batches) == list(dataset.order())
    assert len(dataset) == dataset.num_batches == 21
    assert dataset.num_rows == ROWS
    assert dataset.shuffle == ("none" if not shuffle else "global" if shuffle is True else shuffle)


@pytest.mark.parametrize("shuffle", [False, True, "window"])
def test_streams_give_every_row_once(stream: cst.Source, shuffle: cst._dataset.Shuffle) -> None:
    dataset = stream.dataset(50, shuffle, seed=3, window=200)
    batches = all_ids(dataset)
    assert [len(b) for b in batches] == [50] * 20 + [3]
    assert sorted(flat(batches)) == list(range(ROWS))
    assert (flat(batches) == list(range(ROWS))) == (shuffle is False)
    assert dataset.shuffle == ("window" if shuffle else "none")
    with pytest.raises(TypeError, match="num_batches"):
        len(dataset)
    assert dataset.num_batches == 21
    with pytest.raises(cst.errors.UnsupportedError):
        dataset.order()


def test_global_order_has_nothing_to_do_with_the_files(src: cst.Source) -> None:
    order = np.asarray(src.dataset(shuffle=True, seed=1).order(), dtype=float)
    assert abs(np.corrcoef(order, np.arange(ROWS))[0, 1]) < 0.05


def test_epochs_and_seeds_have_orders_of_their_own(src: cst.Source) -> None:
    one = src.dataset(100, True, seed=5, epochs=3)
    batches = list(one)
    assert [b.position[:2] for b in batches] == [(e, k) for e in range(3) for k in range(11)]
    epochs = [flat([ids_of(b) for b in batches if b.position.epoch == e]) for e in range(3)]
    other = flat(all_ids(src.dataset(100, True, seed=6)))
    assert len({tuple(e) for e in [*epochs, other]}) == 4
    for e in range(3):
        assert sorted(epochs[e]) == list(range(ROWS))
        assert epochs[e] == list(one.order(e))


def test_without_end(src: cst.Source) -> None:
    iteration = iter(src.dataset(500, True, epochs=None))
    positions = [next(iteration).position for _ in range(20)]
    assert positions[-1] == cst.dataset.Position(6, 1)
    iteration.close()


def test_an_empty_dataset_ends(tmp_path: pathlib.Path) -> None:
    source = cst.open(write_rows(tmp_path / "none.tfrecord", 0, 0), schema=SCHEMA)
    assert list(source.dataset(shuffle=True, epochs=None)) == []
    assert list(source.dataset(epochs=3)) == []


@pytest.mark.parametrize("kind", ["src", "stream"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_threads_prefetch_and_workers_change_nothing(
    kind: str, shuffle: bool, request: pytest.FixtureRequest
) -> None:
    source = request.getfixturevalue(kind)
    options = {"seed": 9, "epochs": 2, "window": 128}
    expected = [
        (b.position[:2], ids_of(b)) for b in source.dataset(32, shuffle, prefetch=0, **options)
    ]
    for prefetch, threads in [(1, 1), (2, 1), (4, 3)]:
        dataset = source.dataset(32, shuffle, prefetch=prefetch, threads=threads, **options)
        for workers in (1, 2, 3, 5):
            running = [dataset.iterate(w, workers) for w in range(workers)]
            found: list[tuple[object, Ids]] = []
            while (batch := next(running[len(found) % workers], None)) is not None:
                found.append((batch.position[:2], ids_of(batch)))
            assert found == expected


@pytest.mark.parametrize("kind", ["src", "stream"])
@pytest.mark.parametrize("drop_last", [False, True])
def test_shards(kind: str, drop_last: bool, request: pytest.FixtureRequest) -> None:
    source = request.getfixturevalue(kind)
    whole = all_ids(source.dataset(32, True, seed=2, window=256))
    for count in (1, 2, 3, 7):
        parts = [
            source.dataset(32, True, 2, drop_last=drop_last, shard=(i, count), window=256)
            for i in range(count)
        ]
        found = [all_ids(part) for part in parts]
        sizes = [len(part) for part in found]
        assert sizes == [part.num_batches for part in parts]
        assert max(sizes) - min(sizes) <= (0 if drop_last else 1)
        for i in range(count):
            assert found[i] == whole[i::count][: sizes[i]]
        assert sum(sizes) == (31 // count * count if drop_last else 32)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(0, 120),
    batch_size=st.integers(1, 50),
    window=st.integers(1, 80),
    shuffle=st.sampled_from([False, "global", "window"]),
    count=st.integers(1, 4),
    drop_last=st.booleans(),
    seed=st.integers(0, 2**64 - 1),
)
def test_any_numbers(
    src: cst.Source,
    rows: int,
    batch_size: int,
    window: int,
    shuffle: cst._dataset.Shuffle,
    count: int,
    drop_last: bool,
    seed: int,
) -> None:
    part = src[100 : 100 + rows]
    found: Ids = []
    for i in range(count):
        dataset = part.dataset(
            batch_size, shuffle, seed, drop_last=drop_last, shard=(i, count), window=window
        )
        batches = all_ids(dataset)
        assert len(batches) == len(dataset)
        found += flat(batches)
    assert len(set(found)) == len(found)
    if drop_last:
        assert len(found) == rows // batch_size // count * count * batch_size
    else:
        assert sorted(found) == list(range(100, 100 + rows))


# What a batch is


def test_a_batch_is_a_dict_of_tensors(src: cst.Source) -> None:
    batch = next(iter(src.dataset(8)))
    assert isinstance(batch, dict) and isinstance(batch, cst.dataset.Batch)
    assert list(batch) == ["id", "words", "x"]
    assert batch["x"].numpy().tolist() == [i / 2 for i in range(8)]
    assert isinstance(batch["words"], cst.tensor.SparseTensor)
    assert batch.position == cst.dataset.Position(0, 0)
    assert "position" not in batch and repr(batch).startswith("Batch({'id'")


def test_copies_and_pickles_keep_the_position() -> None:
    position = cst.dataset.Position(3, 4, 5, 6)
    batch = cst.dataset.Batch({"a": 1}, position)
    for other in (
        copy.copy(batch),
        copy.deepcopy(batch),
        batch.copy(),
        pickle.loads(pickle.dumps(batch)),
    ):
        assert type(other) is cst.dataset.Batch and other == batch and other is not batch
        assert other.position == position
    assert cst.dataset.Batch().position is None


def test_torch_converts_and_pins_a_batch() -> None:
    batch = cst.dataset.Batch(
        {"a": np.arange(3), "b": {"c": np.ones(2)}}, cst.dataset.Position(1, 2)
    )
    converted = default_convert(batch)
    assert type(converted) is cst.dataset.Batch and converted.position == cst.dataset.Position(1, 2)
    assert isinstance(converted["a"], torch.Tensor) and isinstance(
        converted["b"]["c"], torch.Tensor
    )
    pinned = pin_memory(batch)
    assert type(pinned) is cst.dataset.Batch and pinned.position == cst.dataset.Position(1, 2)


def test_a_label_is_split_off(src: cst.Source) -> None:
    features, label = next(iter(src.dataset(4, label="x")))
    assert list(features) == ["id", "words"] and label.numpy().tolist() == [0, 0.5, 1, 1.5]
    assert features.position == cst.dataset.Position(0, 0)
    with pytest.raises(cst.errors.NotFoundError, match="no tensor 'y'"):
        src.dataset(4, label="y")
    with pytest.raises(cst.errors.ArgumentError):
        src.dataset(4, label="x", as_batches=True)


def test_padding(src: cst.Source) -> None:
    batch = next(iter(src.dataset(5, pad={"words": (b"-", 3)})))
    assert batch["words"].shape == (5, 3)
    assert batch["words"].numpy()[2].tolist() == [b"w", b"w", b"-"]
    with pytest.raises(cst.errors.NotFoundError):
        src.dataset(5, pad={"nothing": (0, 3)})


def test_record_batches(src: cst.Source) -> None:
    iteration = iter(src.dataset(400, as_batches=True))
    sizes = [(b.num_rows, b.position) for b in iteration]
    assert sizes == [
        (400, cst.dataset.Position(0, 0)),
        (400, cst.dataset.Position(0, 1)),
        (203, cst.dataset.Position(0, 2)),
    ]
    assert iteration.position == cst.dataset.Position(0, 2)
    assert next(iter(src)).position is None


# Other inputs


def test_parquet_is_shuffled_in_windows(tmp_path: pathlib.Path) -> None:
    for i in range(3):
        table = pa.table({"id": pa.array(range(i * 100, i * 100 + 100), pa.int64())})
        pq.write_table(table, tmp_path / f"{i}.parquet")
    source = cst.open(str(tmp_path / "*.parquet"))
    dataset = source.dataset(16, True, epochs=4, window=64, as_batches=True)
    found = [b.column("id").to_pylist() for b in dataset]
    epochs = [flat(found[k * 19 : k * 19 + 19]) for k in range(4)]
    assert all(sorted(e) == list(range(300)) for e in epochs)
    assert len({tuple(e) for e in epochs}) == 4
    assert len({e[0] // 100 for e in epochs}) > 1  # the files change places


def test_csv_file_objects_and_tables(tmp_path: pathlib.Path) -> None:
    text = "id\n" + "".join(f"{i}\n" for i in range(250))
    path = tmp_path / "rows.csv"
    path.write_text(text)
    schema = 'feature { name: "id" type: INT shape {} presence { min_fraction: 1 min_count: 1 } }'
    from_path = all_ids(cst.open(str(path), schema=schema).dataset(16, True, seed=4, window=100))
    with open(path, "rb") as file:
        from_file = all_ids(
            cst.open(file, "csv", schema=schema).dataset(16, True, seed=4, window=100, prefetch=3)
        )
    assert from_path == from_file and sorted(flat(from_path)) == list(range(250))
    table = pa.table({"id": pa.array(range(250), pa.int64())})
    batches = cst.open(table).dataset(16, True, seed=4, window=100, as_batches=True)
    assert [b.column("id").to_pylist() for b in batches] == from_path


def test_file_objects_are_shuffled_globally_on_request(files: list[str]) -> None:
    with open(files[0], "rb") as file:
        source = cst.open(file, schema=SCHEMA)
        assert source.dataset(shuffle=True).shuffle == "window"
        dataset = source.dataset(32, "global", prefetch=2)
        assert sorted(flat(all_ids(dataset))) == list(range(400))


def test_a_pipe_has_one_epoch(files: list[str]) -> None:
    data = pathlib.Path(files[0]).read_bytes()
    read_end, write_end = os.pipe()
    writer = threading.Thread(target=_feed, args=(write_end, data))
    writer.start()
    with os.fdopen(read_end, "rb") as file:
        source = cst.open(file, "example", schema=SCHEMA)
        dataset = source.dataset(32, True, epochs=2, window=100)
        iteration = iter(dataset)
        first = [ids_of(next(iteration)) for _ in range(13)]
        assert sorted(flat(first)) == list(range(400))
        with pytest.raises(cst.errors.StateError):
            next(iteration)
        with pytest.raises(cst.errors.UnsupportedError):
            _ = source.dataset(32, "global").num_rows
    writer.join()


def _feed(write_end: int, data: bytes) -> None:
    with os.fdopen(write_end, "wb") as out:
        out.write(data)


# Damage


def test_damaged_records(files: list[str], tmp_path: pathlib.Path) -> None:
    data = bytearray(pathlib.Path(files[0]).read_bytes())
    data[20] ^= 1
    path = tmp_path / "bad.tfrecord"
    path.write_bytes(data)
    with pytest.raises(cst.errors.CorruptError) as caught:
        list(cst.open(str(path), schema=SCHEMA).dataset(64, True, prefetch=2, threads=2))
    assert caught.value.record == 0 and caught.value.file == str(path)
    source = cst.open(str(path), schema=SCHEMA, on_error="skip")
    dataset = source.dataset(64, True, prefetch=2)
    assert dataset.shuffle == "window"
    assert sorted(flat(all_ids(dataset))) == list(range(1, 400))
    assert [d.record for d in source.dropped] == [0]
    seen: list[cst.source.Dropped] = []
    told = cst.open(str(path), schema=SCHEMA, on_error=seen.append).dataset(64, epochs=2)
    assert len(list(told)) == 14 and [d.record for d in seen] == [0, 0]


def test_a_row_that_fits_no_tensor_is_named(tmp_path: pathlib.Path) -> None:
    batch = pa.record_batch({"id": pa.array([[1], [2], None, [4]], pa.large_list(pa.int64()))})
    path = tmp_path / "gap.tfrecord"
    cst.write([batch], path, "example")
    schema = 'feature { name: "id" type: INT shape {} presence { min_fraction: 1 min_count: 1 } }'
    for shuffle in (False, True, "window"):
        with pytest.raises(cst.errors.SchemaError) as caught:
            list(cst.open(str(path), schema=schema).dataset(4, shuffle))
        assert (caught.value.record, caught.value.path) == (2, "id")


# Life


def test_two_iterations_at_once(src: cst.Source) -> None:
    dataset = src.dataset(100, True, seed=8)
    expected = all_ids(dataset)
    a, b = iter(dataset), iter(dataset)
    for batch in expected:
        assert ids_of(next(a)) == ids_of(next(b)) == batch
    assert next(a, None) is None and next(b, None) is None


def test_threads_share_an_iteration(src: cst.Source) -> None:
    iteration = iter(src.dataset(10, True, prefetch=4, threads=2, as_batches=True))
    found: Ids = []

    def take() -> None:
        for batch in iteration:
            found.extend(v[0] for v in batch.column("id").to_pylist())

    threads = [threading.Thread(target=take) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(ROWS))


def test_closing(files: list[str]) -> None:
    with cst.open(files, schema=SCHEMA) as source:
        dataset = source.dataset(10, True, prefetch=4)
        iteration = iter(dataset)
        next(iteration)
        other = iter(dataset)
        next(other)
        other.close()
        with pytest.raises(cst.errors.StateError, match="closed"):
            next(other)
    with pytest.raises(cst.errors.StateError, match="closed"):
        next(iteration)
    with pytest.raises(cst.errors.StateError, match="closed"):
        next(iter(dataset))


def test_an_iteration_that_is_dropped_ends_its_threads(src: cst.Source) -> None:
    gc.collect()
    before = library_threads()
    dataset = src.dataset(10, True, prefetch=8, threads=4)
    for _ in dataset:
        assert library_threads() == before + 4
        break
    assert library_threads() == before
    assert dataset.state_dict()["batch"] == 0  # known all the same


EXITS = """
import sys, columnstone as cst
source = cst.open(open(sys.argv[1], "rb") if sys.argv[2] == "file" else sys.argv[1])
iterations = [iter(source.dataset(8, how, prefetch=4, threads=2)) for how in ("global", "window")]
for iteration in iterations:
    next(iteration)
"""


@pytest.mark.parametrize("how", ["path", "file"])
def test_the_process_ends_while_loaders_run(files: list[str], how: str, tmp_path: Any) -> None:
    few = str(tmp_path / "few.tfrecord")  # whose last batches are made while Python goes down
    cst.write([{"a": [i]} for i in range(1000)], few)
    for path in [files[0]] * 3 + [few] * 12:
        command = [sys.executable, "-c", EXITS, path, how]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, b"")


ENDLESS = """
import sys, columnstone as cst
for batch in cst.open(sys.argv[1]).dataset(8, True, epochs=None, prefetch=4, threads=2):
    print(batch.position.epoch, flush=True)
"""


def test_an_interrupt_ends_a_loop(files: list[str]) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, files[0]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    child.stdout.readline()
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors


def test_threads_start_with_the_first_next(src: cst.Source) -> None:
    gc.collect()
    before = library_threads()
    iteration = iter(src.dataset(10, True, prefetch=8, threads=4))
    assert library_threads() == before
    iteration.close()


def test_pickles(src: cst.Source, stream: cst.Source) -> None:
    for source in (src, stream):
        dataset = source.dataset(32, True, 7, 2, window=200, label="x", pad={"words": (b"", 4)})
        dataset.load_state_dict(cst.dataset.Position(0, 3))
        other = pickle.loads(pickle.dumps(dataset))
        a, b = next(iter(dataset)), next(iter(other))
        assert a[0].position == b[0].position and a[0].position.batch == 4
        assert ids_of(a[0]) == ids_of(b[0])


def _ids_in_child(dataset: cst.Dataset, worker: int, queue: multiprocessing.Queue[object]) -> None:
    queue.put((worker, [ids_of(batch) for batch in dataset.iterate(worker, 2)]))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes(src: cst.Source, method: str) -> None:
    context: Any = multiprocessing.get_context(method)
    dataset = src.dataset(64, True, seed=12, prefetch=2)
    running = iter(dataset)  # a loader of the parent is at work while it forks
    next(running)
    queue = context.Queue()
    children = [
        context.Process(target=_ids_in_child, args=(dataset, worker, queue)) for worker in range(2)
    ]
    for child in children:
        child.start()
    found = dict(queue.get(timeout=120) for _ in range(2))
    for child in children:
        child.join()
    whole = all_ids(dataset)
    assert found == {0: whole[0::2], 1: whole[1::2]}


def test_a_loader_of_before_a_fork(src: cst.Source) -> None:
    iteration = iter(src.dataset(10, True, prefetch=2))
    next(iteration)
    child = os.fork()
    if child == 0:
        try:
            next(iteration)
        except cst.errors.StateError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert len(list(iteration)) == 100


# Arguments


@pytest.mark.parametrize(
    "arguments",
    [
        {"batch_size": 0},
        {"batch_size": -3},
        {"epochs": 0},
        {"shuffle": "globally"},
        {"shuffle": 1},
        {"shuffle": None},
        {"seed": -1},
        {"seed": 2**64},
        {"shard": (2, 2)},
        {"shard": (-1, 2)},
        {"shard": (0, 0)},
        {"window": 0},
        {"prefetch": -1},
        {"threads": 0},
        {"consumed": -1},
    ],
)
def test_wrong_arguments(src: cst.Source, arguments: dict[str, object]) -> None:
    with pytest.raises(cst.errors.ArgumentError):
        src.dataset(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "arguments", [{"batch_size": 1.5}, {"shard": 3}, {"shard": (1,)}, {"seed": "1"}, {"label": 1}]
)
def test_wrong_types(src: cst.Source, arguments: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        src.dataset(**arguments)  # type: ignore[arg-type]


def test_wrong_workers(src: cst.Source) -> None:
    dataset = src.dataset(10)
    with pytest.raises(cst.errors.ArgumentError):
        dataset.iterate(2, 2)
    with pytest.raises(cst.errors.ArgumentError):
        dataset.iterate(0, 0)
    assert repr(dataset).startswith("<columnstone.Dataset of Source '/")
