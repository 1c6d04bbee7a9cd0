"""How batches get from the workers of a DataLoader to the loop: slots of shared memory, used again,
and nothing left of them when a loop or a worker ends before its time."""

from __future__ import annotations

import gc
import os
import pathlib
import pickle
import signal
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


def open_files() -> set[str]:
    """What this process has open, and what lies in shared memory."""
    found = {os.readlink(one.path) for one in os.scandir("/proc/self/fd") if os.path.islink(one)}
    return {name for name in found if "/dev/shm" in name} | set(os.listdir("/dev/shm"))


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


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="looks for what lies in /dev/shm")
@pytest.mark.parametrize("end", ["left early", "killed", "to its end"])
def test_nothing_is_left(path: pathlib.Path, end: str) -> None:
    from columnstone._frameworks import torch_slots

    before = open_files()
    loop = iter(loader_of(path))
    check(next(loop))
    assert len(torch_slots._received) >= 1
    if end == "killed":
        for worker in loop._workers:
            os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(RuntimeError, match="exited unexpectedly"):
            list(loop)
    elif end == "to its end":
        list(loop)
    del loop
    gc.collect()
    assert torch_slots._received == {}
    assert open_files() <= before


def test_without_room_batches_take_another_way(
    path: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from columnstone._frameworks import torch_slots

    monkeypatch.setattr(torch_slots, "_ROOM", str(tmp_path / "absent"))  # workers are forked
    loop = iter(loader_of(path))
    assert sorted(i for batch in loop for i in check(batch)) == list(range(160))
    assert torch_slots._received == {}
