"""Datasets as people use them who have not read all of the docs."""

from __future__ import annotations

import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

pytestmark = pytest.mark.filterwarnings("ignore:.*set_vital:UserWarning")  # what torchdata calls

ROWS = 200
SCHEMA = 'feature { name: "id" type: INT shape {} presence { min_fraction: 1 min_count: 1 } }'


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("breaks") / "rows.tfrecord"
    ids = pa.array([[i] for i in range(ROWS)], pa.large_list(pa.int64()))
    cst.write([pa.record_batch({"id": ids})], path, "example")
    return path


@pytest.fixture(scope="module")
def source(path: pathlib.Path) -> cst.Source:
    return cst.open(path, schema=SCHEMA)


def ids_in(batches: Any) -> list[list[int]]:
    return [batch["id"].tolist() for batch in batches]


# Workers


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_learn_of_the_epoch(source: cst.Source, persistent: bool) -> None:
    dataset = source.dataset(10, shuffle=True, seed=4)
    expected = [
        ids_in(source.dataset(10, True, 4, epochs=3).torch())[20 * e :][:20] for e in (0, 1, 2)
    ]
    data = pickle.loads(pickle.dumps(dataset.torch()))
    loader = DataLoader(data, batch_size=None, num_workers=2, persistent_workers=persistent)
    for epoch in (0, 2, 1, 1):
        data.set_epoch(epoch)
        assert ids_in(loader) == expected[epoch]
    loader = DataLoader(
        dataset.torch(), batch_size=None, num_workers=2, persistent_workers=persistent
    )
    for epoch in (2, 0):
        dataset.set_epoch(epoch)
        assert ids_in(loader) == expected[epoch]


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("persistent", [False, True])
def test_a_loaded_state_is_for_one_iteration(
    source: cst.Source, workers: int, persistent: bool
) -> None:
    dataset = source.dataset(10, shuffle=True, seed=4)
    whole = ids_in(dataset.torch())
    data = dataset.torch()
    loader = DataLoader(
        data,
        batch_size=None,
        num_workers=workers,
        persistent_workers=persistent and workers > 0,
    )
    for behind in (3, 11):
        data.load_state_dict(cst.dataset.Position(0, behind))
        assert ids_in(loader) == whole[behind + 1 :]
        assert ids_in(loader) == whole
        assert ids_in(loader) == whole
    dataset.load_state_dict(
        cst.dataset.Position(0, 5)
    )  # the same, and with loaders that are made anew
    assert ids_in(loader) == whole[6:]
    assert ids_in(loader) == whole
    dataset.load_state_dict(cst.dataset.Position(0, 8))
    for expected in (whole[9:], whole):
        again = DataLoader(dataset.torch(), batch_size=None, num_workers=workers)
        assert ids_in(again) == expected


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("persistent", [False, True])
def test_a_stateful_loader_goes_on_once(source: cst.Source, workers: int, persistent: bool) -> None:
    loaders = pytest.importorskip("torchdata.stateful_dataloader")
    dataset = source.dataset(10, shuffle=True, seed=4)
    whole = ids_in(dataset.torch())

    def make() -> Any:
        return loaders.StatefulDataLoader(
            dataset.torch(),
            batch_size=None,
            num_workers=workers,
            persistent_workers=persistent and workers > 0,
        )

    loader = make()
    running = iter(loader)
    for _ in range(7):
        next(running)
    state = loader.state_dict()
    loader = make()
    loader.load_state_dict(state)
    assert ids_in(loader) == whole[7:]
    assert ids_in(loader) == whole
    dataset.load_state_dict(cst.dataset.Position(0, 3))
    assert ids_in(make()) == whole[4:]
    assert ids_in(make()) == whole


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("stateful", [False, True])
def test_loaders_of_other_numbers_of_shards(
    source: cst.Source, workers: int, stateful: bool
) -> None:
    whole = ids_in(source.dataset(10, shuffle=True, seed=4).torch())
    options: dict[str, Any] = {"batch_size": None, "num_workers": workers}
    dataset = source.dataset(10, shuffle=True, seed=4, shard=(1, 3))
    if stateful:
        loaders = pytest.importorskip("torchdata.stateful_dataloader")
        loader = loaders.StatefulDataLoader(dataset.torch(), **options)
        running = iter(loader)
        next(running), next(running)
        state = loader.state_dict()
    else:
        running = iter(DataLoader(dataset.torch(), **options))
        next(running)
        state = dataset.state_of(next(running).position)
    for shard in range(2):
        dataset = source.dataset(10, shuffle=True, seed=4, shard=(shard, 2))
        data = dataset.torch()
        data.load_state_dict(state)
        assert ids_in(DataLoader(data, **options)) == whole[6 + shard :: 2]
        if stateful:
            again = loaders.StatefulDataLoader(data, **options)
            again.load_state_dict(state)
            with pytest.raises(cst.errors.StateError, match="needs the same number of shards"):
                next(iter(again))


class OneS(IterableDataset):  # type: ignore[type-arg]
    """A dataset of the user's own around one of ours."""

    def __init__(self, make: Any, way: str) -> None:
        self.make = make
        self.way = way

    def __iter__(self) -> Any:
        worker = get_worker_info()
        data = self.make
        if self.way == "sharded":
            assert worker is not None
            data = self.make.source.dataset(10, shard=(worker.id, worker.num_workers))
        elif self.way == "numpy":
            data = data.numpy()
        elif self.way == "torch":
            data = data.torch()
        elif self.way == "iterate" and worker is not None:
            data = data.iterate(worker.id, worker.num_workers)
        for batch in data:
            yield batch["id"].tolist()


@pytest.mark.parametrize("way", ["plain", "numpy", "torch", "iterate", "sharded"])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_datasets_in_datasets_of_ones_own(source: cst.Source, way: str, method: Any) -> None:
    """Without care each worker gives all rows."""
    data = OneS(source.dataset(10), way)
    context: dict[str, Any] = {"batch_size": None, "multiprocessing_context": method}
    if way in ("plain", "numpy"):
        with pytest.raises(cst.errors.StateError, match="in worker 0 of 2 of a DataLoader"):
            list(DataLoader(data, num_workers=2, **context))
    else:
        found = [i for ids in DataLoader(data, num_workers=2, **context) for i in ids]
        assert sorted(found) == list(range(ROWS))
    if way != "sharded":
        assert len(list(DataLoader(data, batch_size=None))) == 20
        assert len(list(DataLoader(data, num_workers=1, **context))) == 20


KILLED = """
import pathlib, os, signal, sys, columnstone as cst
from torch.utils.data import DataLoader
path, schema = sys.argv[1:]
data = cst.open([path] * 150, schema=schema).dataset(15000, epochs=None).torch()
running = iter(DataLoader(data, batch_size=None, num_workers=2, prefetch_factor=4))
next(running)
children = pathlib.Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text()
print(*children.split(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def start_of(pid: str) -> str | None:
    """When a process began; numbers of processes are used again."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]


def test_workers_end_when_the_training_process_is_killed(path: pathlib.Path) -> None:
    """Their batches of 120 kB do not fit into the pipe, which nobody reads any more."""
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(path), SCHEMA]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        workers = child.stdout.readline().split()
    assert len(workers) == 2
    starts = {pid: start_of(pid) for pid in workers}
    for _ in range(600):  # torch looks for the process every 5 seconds
        left = [pid for pid, start in starts.items() if start and start_of(pid) == start]
        if not left:
            break
        time.sleep(0.1)
    for pid in left:
        os.kill(int(pid), signal.SIGKILL)
    assert not left


# Arguments


@pytest.mark.parametrize(
    "state",
    [
        None,
        5,
        "state",
        [],
        (1,),
        tuple(range(len(cst.dataset.Position._fields) + 1)),
        ("a", "b"),
        (0, 1.5),
    ],
)
def test_no_states(source: cst.Source, state: Any) -> None:
    dataset = source.dataset(10)
    with pytest.raises(TypeError):
        dataset.load_state_dict(state)
    with pytest.raises(TypeError):
        dataset.iterate(start=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong", [{"epoch": -5}, {"batch": -2}, {"batch": 2**70}, {"first_epoch": -1}, {"file": -1}]
)
def test_states_with_numbers_that_there_are_not(source: cst.Source, wrong: dict[str, int]) -> None:
    dataset = source.dataset(10)
    before = dataset.state_dict()
    with pytest.raises(cst.errors.ArgumentError, match=next(iter(wrong))):
        dataset.load_state_dict({**before, **wrong})
    assert dataset.state_dict() == before


def test_what_is_no_padding(source: cst.Source) -> None:
    with pytest.raises(TypeError, match="pad must be a dict"):
        source.dataset(10, pad=5)  # type: ignore[arg-type]


def test_a_number_of_batches_of_a_pipe(path: pathlib.Path) -> None:
    begin, end = os.pipe()

    def feed() -> None:
        with os.fdopen(end, "wb") as out:
            out.write(path.read_bytes())

    thread = threading.Thread(target=feed)
    thread.start()
    with os.fdopen(begin, "rb") as pipe:
        dataset = cst.open(pipe, schema=SCHEMA).dataset(10, consumed=7)
        assert [b["id"].numpy().tolist() for b in dataset] == [
            list(range(k * 10, k * 10 + 10)) for k in range(7, 20)
        ]
    thread.join()


@pytest.mark.parametrize("workers", [0, 2])
def test_a_number_of_batches_is_for_one_iteration(source: cst.Source, workers: int) -> None:
    data = source.dataset(10, True, 4, consumed=4).torch()
    loader = DataLoader(data, batch_size=None, num_workers=workers)
    whole = ids_in(source.dataset(10, True, 4).torch())
    assert ids_in(loader) == whole[4:]
    assert ids_in(loader) == whole
