"""How batches get from the workers of a DataLoader to the loop: slots of shared memory, used again,
and nothing left of them when a loop or a worker ends before its time."""

from __future__ import annotations

import contextlib
import gc
import os
import pathlib
import pickle
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

import columnstone as cst
import numpy as np
import pytest
import wire
from conftest import MakeFile

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:'pin_memory' argument is set as true"),
]
SIZE = 4000  # values of a row: a batch of 4 is more than what goes through a pipe
SCHEMA = """
feature { name: "x" type: FLOAT shape { dim { size: 4000 } } presence { min_fraction: 1 } }
feature { name: "id" type: INT shape {} presence { min_fraction: 1 } }
feature { name: "s" type: BYTES shape {} presence { min_fraction: 1 } }
"""


@pytest.fixture(autouse=True)
def forget_what_a_failure_keeps() -> Iterator[None]:
    """A test that fails holds its loop: later ones, which look at what is left, do not see that."""
    yield
    gc.collect()
    slots = sys.modules.get("columnstone._frameworks.torch_slots")
    if slots is not None:
        slots._received.clear()


@pytest.fixture
def path(make_file: MakeFile) -> pathlib.Path:
    values = np.arange(SIZE, dtype=np.float32)
    records = [
        wire.example({"x": (values + i).tolist(), "id": [i], "s": [b"%d" % i]}) for i in range(160)
    ]
    return pathlib.Path(make_file("d.tfrecord", records))


def loader_of(path: pathlib.Path, num_workers: int = 2, **options: Any) -> Any:
    dataset = cst.open(path, schema=SCHEMA).dataset(batch_size=4, shuffle=True, seed=1)
    return DataLoader(dataset.torch(), batch_size=None, num_workers=num_workers, **options)


def check(batch: Any) -> list[int]:
    ids: list[int] = batch["id"].tolist()
    assert batch["x"][:, 0].tolist() == ids
    assert batch["x"][:, -1].tolist() == [i + SIZE - 1 for i in ids]
    assert batch["s"].tolist() == [b"%d" % i for i in ids]
    return ids


def open_files(workers: Iterable[int] = ()) -> set[str]:
    """What this process has open in shared memory, and what lies there under its number, or that
    of a worker: tests beside this one have theirs there."""
    found = {os.readlink(one.path) for one in os.scandir("/proc/self/fd") if os.path.islink(one)}
    own = {str(pid) for pid in (os.getpid(), *workers)}
    named = {name for name in os.listdir("/dev/shm") if own & set(re.split(r"\D+", name))}
    return {name for name in found if "/dev/shm" in name} | named


@pytest.mark.parametrize(
    ("context", "pin_memory"), [("fork", False), ("fork", True), ("spawn", True)]
)
def test_slots_are_used_again(path: pathlib.Path, context: str, pin_memory: bool) -> None:
    loader = loader_of(
        path,
        multiprocessing_context=context,
        pin_memory=pin_memory,
        persistent_workers=True,
    )
    for _ in range(2):
        assert sorted(i for batch in loader for i in check(batch)) == list(range(160))


def test_batches_that_are_kept_stay_what_they_are(path: pathlib.Path) -> None:
    kept = list(loader_of(path))  # more than there are slots, and longer than the workers live
    parts = [(batch["id"].tolist(), batch["x"][1:]) for batch in loader_of(path)]
    more = list(loader_of(path))
    assert [check(batch) for batch in kept] == [check(batch) for batch in more]
    for ids, x in parts:
        assert x[:, 0].tolist() == ids[1:]


def pickled(batch: Any) -> Any:
    batch["pickled"] = pickle.dumps(batch)
    return batch


def test_a_worker_s_own_pickles_can_be_read_at_any_time(path: pathlib.Path) -> None:
    dataset = cst.open(path, schema=SCHEMA).dataset(batch_size=4).map(pickled)
    texts = [batch["pickled"] for batch in DataLoader(dataset.torch(), None, num_workers=1)]
    for _ in range(2):
        assert [i for text in texts for i in check(pickle.loads(text))] == list(range(160))


@contextlib.contextmanager
def without_handler_of_children() -> Iterator[None]:
    """PyTorch's raises wherever this process is when a worker has ended, once for each."""
    handler = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, handler)


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="looks for what lies in /dev/shm")
@pytest.mark.parametrize("end", ["left early", "killed", "to its end"])
def test_nothing_is_left(path: pathlib.Path, end: str) -> None:
    from columnstone._frameworks import torch_slots

    before = open_files()
    loop = iter(loader_of(path))
    workers = [worker.pid for worker in loop._workers]
    check(next(loop))
    assert len(torch_slots._received) >= 1
    with without_handler_of_children():
        if end == "killed":
            for worker in loop._workers:
                worker.kill()
                # PyTorch names the worker only once it has ended: until then, what was just being
                # handed over fails with an EOFError or a ConnectionResetError
                worker.join()
            del worker  # what came from it is kept as long as it is
            with pytest.raises(RuntimeError, match="exited unexpectedly"):
                list(loop)
        elif end == "to its end":
            list(loop)
        del loop
        gc.collect()
    assert torch_slots._received == {}
    deadline = time.monotonic() + 60  # they end by themselves
    while any(map(lives, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert open_files(workers) <= before


def test_without_room_batches_take_another_way(
    path: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from columnstone._frameworks import torch_slots

    monkeypatch.setattr(torch_slots, "_ROOM", str(tmp_path / "absent"))  # workers are forked
    loop = iter(loader_of(path))
    assert sorted(i for batch in loop for i in check(batch)) == list(range(160))
    assert torch_slots._received == {}


# What an item is on its way: batches that nobody looks at are not made of torch tensors before


def seen(batch: Any) -> Any:
    assert type(batch["x"]) is torch.Tensor and type(batch["s"]).__name__ == "StringTensor"
    batch["seen"] = batch["x"][:, :10] + 1
    return batch


class Wrapped(torch.utils.data.IterableDataset[Any]):
    """A user's dataset over ours."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __iter__(self) -> Any:
        return map(seen, self.dataset)


@pytest.mark.parametrize("how", ["map", "collate_fn", "wrapped"])
def test_whoever_looks_sees_torch_tensors(path: pathlib.Path, how: str) -> None:
    dataset = cst.open(path, schema=SCHEMA).dataset(batch_size=4)
    made = dataset.map(seen).torch() if how == "map" else dataset.torch()
    made = Wrapped(made) if how == "wrapped" else made
    loader = DataLoader(made, None, num_workers=1, collate_fn=seen if how == "collate_fn" else None)
    rows = 0
    for batch in loader:
        rows += len(check(batch))
        assert batch["seen"].equal(batch["x"][:, :10] + 1)
        assert type(batch).__name__ == "TorchBatch" and batch.position is not None
    assert rows == 160


def test_batches_that_differ(path: pathlib.Path) -> None:
    """A layout is sent once, and again when it changes."""

    def differing(batch: Any) -> Any:
        number = batch.position.batch // 3 % 3
        if number == 1:
            batch["x"] = batch["x"].double()
        elif number == 2:
            batch["more"] = {"x": batch["x"][:2], "number": batch.position.batch}
        return batch

    dataset = cst.open(path, schema=SCHEMA).dataset(batch_size=4).map(differing).torch()
    found = [0, 0, 0]
    for k, batch in enumerate(DataLoader(dataset, None, num_workers=1)):
        number = k // 3 % 3
        found[number] += len(check(batch))
        assert batch["x"].dtype == (torch.float64 if number == 1 else torch.float32)
        assert ("more" in batch) == (number == 2)
        if number == 2:
            assert batch["more"]["number"] == k and batch["more"]["x"].equal(batch["x"][:2])
    assert sum(found) == 160 and min(found) > 0


@pytest.mark.parametrize("label", ["id", "s"])
def test_a_label_beside_its_batch(path: pathlib.Path, label: str) -> None:
    dataset = cst.open(path, schema=SCHEMA).dataset(batch_size=4, label=label)
    for batch, found in DataLoader(dataset.torch(), None, num_workers=2):
        assert label not in batch and type(batch).__name__ == "TorchBatch"
        check({**batch, label: found})


def threads_of(worker: Any) -> int:
    return len(os.listdir(f"/proc/{worker.pid}/task"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts what is in /proc")
def test_threads_of_a_worker(path: pathlib.Path) -> None:
    """It makes batches itself where it has nothing else to do, and as many are asked for."""
    counts = {}
    for threads, mapped in ((1, False), (1, True), (2, False)):
        dataset = cst.open(path, schema=SCHEMA).dataset(batch_size=4, threads=threads)
        dataset = dataset.map(seen) if mapped else dataset
        loop = iter(DataLoader(dataset.torch(), None, num_workers=1))
        assert len(check(next(loop))) == 4
        counts[threads, mapped] = threads_of(loop._workers[0])
    assert counts[1, True] > counts[1, False]
    assert counts[2, False] > counts[1, False]


def test_every_kind_of_tensor_in_slots(make_file: MakeFile) -> None:
    text = """
    feature { name: "r" type: FLOAT } feature { name: "t" type: BYTES }
    feature { name: "i" type: INT } feature { name: "w" type: FLOAT }
    feature { name: "n" type: INT }
    tensor_representation_group { key: "" value {
      tensor_representation { key: "r" value { ragged_tensor {
        feature_path { step: "r" } row_partition_dtype: INT64 } } }
      tensor_representation { key: "t" value { ragged_tensor {
        feature_path { step: "t" } row_partition_dtype: INT64 } } }
      tensor_representation { key: "w" value { sparse_tensor {
        index_column_names: "i" value_column_name: "w" dense_shape { dim { size: 64 } } } } }
      tensor_representation { key: "deep" value { ragged_tensor {
        feature_path { step: "r" } partition { row_length: "n" } } } } } }"""
    records = []
    for i in range(32):
        features = {
            "r": [float(i + j) for j in range(1000 * (i % 5))],
            "n": [1000] * (i % 5),
            "t": [b"%d" % j for j in range(i % 7)],
            "i": [i, 2 * i + 1],
            "w": [0.5, 1.5 * i],
        }
        records.append(wire.example({name: values for name, values in features.items() if values}))
    dataset = cst.open(make_file("k.tfrecord", records), schema=text).dataset(batch_size=8)
    kept = list(DataLoader(dataset.torch(), None, num_workers=2))
    for ours, other in zip(kept, dataset.torch(), strict=True):
        assert ours.position == other.position and list(ours) == list(other)
        assert ours["r"].values().equal(other["r"].values())
        assert ours["r"].offsets().equal(other["r"].offsets())
        assert ours["t"].to_list() == other["t"].to_list()
        assert ours["deep"].values.equal(other["deep"].values)
        for mine, theirs in zip(ours["deep"].row_splits, other["deep"].row_splits, strict=True):
            assert mine.equal(theirs)
        assert ours["w"].is_coalesced() == other["w"].is_coalesced()
        assert ours["w"].to_dense().equal(other["w"].to_dense())


def test_the_memory_of_workers_is_the_users_alone_and_has_no_name() -> None:
    from columnstone._frameworks.torch_slots import Slots

    for storage in (Slots(1 << 16)._storage, torch.tensor([0]).share_memory_().untyped_storage()):
        fd, _ = storage._share_fd_cpu_()
        found = os.fstat(fd)
        assert (stat.S_IMODE(found.st_mode), found.st_nlink) == (0o600, 0)


TRAINER = """
import sys, time
import columnstone as cst
from torch.utils.data import DataLoader

if __name__ == "__main__":
    ds = cst.open(sys.argv[1]).dataset(4, epochs=None)
    loop = iter(DataLoader(ds.torch(), batch_size=None, num_workers=2,
                           multiprocessing_context=sys.argv[2]))
    next(loop)
    print(*(worker.pid for worker in loop._workers), flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_workers_end_when_the_trainer_is_killed(
    path: pathlib.Path, tmp_path: pathlib.Path, method: str
) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAINER)
    command = [sys.executable, str(script), str(path), method]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as trainer:
        assert trainer.stdout is not None
        workers = [int(pid) for pid in trainer.stdout.readline().split()]
        trainer.kill()
    assert len(workers) == 2
    deadline = time.monotonic() + 60
    while any(map(lives, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(lives, workers))


def lives(pid: int) -> bool:
    """Whether it runs; one that has ended, and that nobody has waited for, does not."""
    try:
        stat_of = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # it may end between the two calls
        return False
    return stat_of.rpartition(")")[2].split()[0] != "Z"
