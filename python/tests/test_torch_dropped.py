"""What workers of a DataLoader drop is told to the process that trains: the records that a loop
without workers drops, each once, in their order."""

from __future__ import annotations

import gc
import os
import pathlib
import pickle
import tempfile
from collections.abc import Callable
from typing import Any

import columnstone as cst
import messages
import pyarrow as pa
import pytest

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader, IterableDataset, get_worker_info  # noqa: E402
from torchdata.stateful_dataloader import StatefulDataLoader  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:'pin_memory' argument is set as true"),
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated"),
]

BAD = (0, 7, 8, 9, 23, 57, 58, 59)  # the last batch is a full one, before the last three


def tfrecord(folder: pathlib.Path, first: int = 0) -> pathlib.Path:
    path = folder / f"{first}.tfrecord"
    cst.write({"id": [[first + i] for i in range(60)]}, path, overwrite=True)
    data = bytearray(path.read_bytes())
    size = len(data) // 60
    for row in BAD:
        data[size * row + 14] ^= 1
    path.write_bytes(data)
    return path


def csv(folder: pathlib.Path) -> pathlib.Path:
    path = folder / "a.csv"
    rows = ("none" if row in BAD else str(row) for row in range(60))
    path.write_text("id\n" + "\n".join(rows) + "\n")
    return path


def message_file(folder: pathlib.Path) -> pathlib.Path:
    path = folder / "m.tfrecord"
    records = [b"\xff" if i in BAD else one for i, one in enumerate(messages.sessions(60))]
    with cst.codec.TFRecordWriter(path) as writer:
        for record in records:
            writer.write(record)
    return path


def of_tfrecords(folder: pathlib.Path, on_error: Any = "skip") -> Any:
    return cst.open([tfrecord(folder), tfrecord(folder, 60)], on_error=on_error)


def of_csv(folder: pathlib.Path, on_error: Any = "skip") -> Any:
    return cst.open(csv(folder), types=pa.schema({"id": pa.int64()}), on_error=on_error)


def of_messages(folder: pathlib.Path, on_error: Any = "skip") -> Any:
    return cst.open(
        message_file(folder),
        message="shop.Session",
        descriptors=messages.SHOP,
        columns=["event.result.price"],
        on_error=on_error,
    )


SOURCES = {"tfrecords": of_tfrecords, "csv": of_csv, "messages": of_messages}
Make = Callable[..., Any]


def places(source: Any) -> list[Any]:
    """All but the exceptions, whose texts are compared."""
    return [(*one[:-1], str(one.error), type(one.error)) for one in source.dropped]


def expected(source: Any, **options: Any) -> list[Any]:
    list(source.dataset(4, **options))
    return places(source)


@pytest.mark.parametrize("num_workers", [0, 1, 2, 5])
@pytest.mark.parametrize("shuffle", [False, "window"])
@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_each_record_once(
    make: Make, shuffle: Any, num_workers: int, tmp_path: pathlib.Path
) -> None:
    wanted = expected(make(tmp_path), shuffle=shuffle, epochs=2, window=8)
    assert len(wanted) in (len(BAD), 2 * len(BAD))
    source = make(tmp_path)
    loader = DataLoader(
        source.dataset(4, shuffle, epochs=2, window=8).torch(), None, num_workers=num_workers
    )
    for _ in range(2):
        for _batch in loader:
            pass
        assert places(source) == wanted


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
@pytest.mark.parametrize("persistent", [False, True])
def test_loops_of_one_epoch(method: str, persistent: bool, tmp_path: pathlib.Path) -> None:
    wanted = expected(of_tfrecords(tmp_path))
    source = of_tfrecords(tmp_path)
    data = source.dataset(4).torch()
    loader = DataLoader(
        data,
        None,
        num_workers=2,
        multiprocessing_context=method,
        persistent_workers=persistent,
    )
    seen = []
    for epoch in range(3):
        data.set_epoch(epoch)
        assert sum(len(batch["id"]) for batch in loader) == 2 * (60 - len(BAD))
        assert places(source) == wanted
        seen.append(source.dropped)
    assert len(set(map(id, seen))) == 3  # each epoch has a list of its own


def test_nulls_are_told(tmp_path: pathlib.Path) -> None:
    for shuffle in (False, "window"):
        wanted = expected(of_messages(tmp_path, "null"), shuffle=shuffle)
        source = of_messages(tmp_path, "null")
        loader = DataLoader(source.dataset(4, shuffle).torch(), None, num_workers=3)
        assert len(list(loader)) == 15
        assert sorted(places(source), key=repr) == sorted(wanted, key=repr)
        assert len(wanted) == len(BAD)


def first_column(batch: Any) -> Any:
    return batch["id"]


@pytest.mark.parametrize("kind", ["collate", "map", "pinned", "label", "stateful"])
def test_whatever_becomes_of_the_batches(kind: str, tmp_path: pathlib.Path) -> None:
    wanted = expected(of_tfrecords(tmp_path))
    source = of_tfrecords(tmp_path)
    dataset = source.dataset(4, label="id" if kind == "label" else None)
    data = (dataset.map(dict) if kind == "map" else dataset).torch()
    options: dict[str, Any] = {"collate_fn": first_column} if kind == "collate" else {}
    make = StatefulDataLoader if kind == "stateful" else DataLoader
    list(make(data, batch_size=None, num_workers=2, pin_memory=kind == "pinned", **options))
    assert places(source) == wanted


def test_an_epoch_without_a_batch(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id\n" + "x\n" * 5)
    source = cst.open(path, types=pa.schema({"id": pa.int64()}), on_error="skip")
    loader = DataLoader(source.dataset(4).torch(), None, num_workers=2)
    assert list(loader) == []
    assert [one.record for one in source.dropped] == list(range(5))


def test_the_limit_is_each_workers(tmp_path: pathlib.Path) -> None:
    source = cst.open(tfrecord(tmp_path), on_error="skip", max_errors=4)
    with pytest.raises(cst.errors.LimitError):
        list(DataLoader(source.dataset(4).torch(), None, num_workers=2))
    assert [one.record for one in source.dropped] == list(BAD[:4])


class OfOnesOwn(IterableDataset[Any]):  # type: ignore[misc]
    """A loop that divides a dataset by itself."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __iter__(self) -> Any:
        worker = get_worker_info()
        part = (0, 1) if worker is None else (worker.id, worker.num_workers)
        return self.dataset.iterate(*part)


def size(batch: Any) -> int:
    return len(batch["id"].numpy())


@pytest.mark.parametrize("method", [None, "fork", "spawn"])
@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("shuffle", [False, "window"])
def test_loops_of_ones_own(
    method: str | None, persistent: bool, shuffle: Any, tmp_path: pathlib.Path
) -> None:
    wanted = expected(of_tfrecords(tmp_path), shuffle=shuffle, window=8)
    source = of_tfrecords(tmp_path)
    loader = DataLoader(
        OfOnesOwn(source.dataset(4, shuffle, window=8)),
        None,
        num_workers=0 if method is None else 2,
        multiprocessing_context=method,
        persistent_workers=persistent and method is not None,
        collate_fn=size,
    )
    for _ in range(2):
        assert sum(loader) == 2 * (60 - len(BAD))
        assert places(source) == wanted


@pytest.mark.parametrize("num_workers", [0, 2])
def test_packed_and_with_ids(num_workers: int, tmp_path: pathlib.Path) -> None:
    wanted = expected(of_tfrecords(tmp_path))
    for options in ({}, {"ids": True}):
        source = of_tfrecords(tmp_path)
        for dataset in (source.dataset(4, **options), source.dataset(4, **options).pack({"id": 3})):
            list(DataLoader(dataset.torch(), None, num_workers=num_workers))
            assert places(source) == wanted
            assert len(dataset.source.dropped) == len(wanted)


def reports() -> set[str]:
    folder = tempfile.gettempdir()
    return {name for name in os.listdir(folder) if name.startswith("columnstone-dropped-")}


def test_nothing_is_left(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    source = cst.open(tfrecord(tmp_path), on_error="skip")
    loader = DataLoader(source.dataset(4).torch(), None, num_workers=2)
    list(loader)
    assert len(reports()) == 1
    del loader
    gc.collect()
    assert reports() == set()
    assert [one.record for one in source.dropped] == list(BAD)  # which it has taken before
    cst.open(tfrecord(tmp_path)).dataset(4).torch()
    assert reports() == set()
    dataset = source.dataset(4)
    mapped = dataset.map(dict)
    del dataset
    gc.collect()
    assert len(reports()) == 1
    pickle.loads(pickle.dumps(mapped))
    gc.collect()
    assert len(reports()) == 1
    del mapped
    gc.collect()
    assert reports() == set()
