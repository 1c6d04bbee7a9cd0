"""Dataset.pack: lists of many rows in rows of a fixed length, as Grain packs them; resumable after
every batch, in every framework."""

from __future__ import annotations

import json
import pathlib
import pickle
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

ROWS, BATCH, LENGTH = 260, 4, 24
KINDS = ["tfrecord", "tfrecord.gz", "parquet", "json"]


def length_of(row: int) -> int:
    return (row * row * 7 + 3 * row) % 23


def rows_of(begin: int, end: int) -> list[dict[str, Any]]:
    return [
        {
            "id": i,
            "tokens": [1000 * i + k for k in range(length_of(i))],
            "weights": [i + k / 2 for k in range(length_of(i))],
            "few": [i] * (i % 3),
            "text": "t",
        }
        for i in range(begin, end)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("packing")
    for i, (begin, end) in enumerate([(0, 150), (150, 152), (152, ROWS)]):
        table = pa.Table.from_pylist(rows_of(begin, end))
        for kind in KINDS:
            if kind == "parquet":
                pq.write_table(table, folder / f"{i}.parquet")
            else:
                cst.write(table, folder / f"{i}.{kind}", lossy=True)
    return folder


def opened(folder: pathlib.Path, kind: str, **options: Any) -> cst.Source:
    return cst.open(str(folder / f"*.{kind}"), **options)


def rows_in(source: cst.Source, **options: Any) -> cst.Dataset:
    given: dict[str, Any] = {"shuffle": True, "seed": 5, "window": 64}
    return source.dataset(BATCH, **{**given, **options})


def packed(source: cst.Source, split: bool = False, **options: Any) -> cst.Dataset:
    return rows_in(source, **options).pack({"tokens": LENGTH}, split=split)


def plain(batch: Any) -> dict[str, Any]:
    return {name: np.asarray(tensor).tolist() for name, tensor in batch.items()}


def all_of(batches: Any) -> list[dict[str, Any]]:
    return [plain(batch) for batch in batches]


# What is packed


def lists_in(batches: Any, split: bool) -> list[list[int]]:
    """The lists of the rows, out of the packed batches: segments, those that go on put together."""
    found: list[list[int]] = []
    for batch in batches:
        arrays = [np.asarray(batch[n]) for n in ("tokens", "tokens_segment_ids")]
        places = np.asarray(batch["tokens_positions"])
        for tokens, ids, at in zip(*arrays, places, strict=True):
            used = int((ids > 0).sum())
            assert (ids[used:] == 0).all() and (tokens[used:] == 0).all()
            assert (np.diff(ids[:used]) >= 0).all() and (np.diff(ids[:used]) <= 1).all()
            for segment in range(1, int(ids.max(initial=0)) + 1):
                values = tokens[ids == segment].tolist()
                assert at[ids == segment].tolist() == list(range(len(values)))
                if split and values[0] % 1000 > 0:
                    found[-1] += values
                else:
                    found.append(values)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("split", [False, True])
def test_every_list_once(folder: pathlib.Path, kind: str, shuffle: bool, split: bool) -> None:
    source = opened(folder, kind)
    batches = list(packed(source, split, shuffle=shuffle))
    assert all(batch["tokens"].shape == (BATCH, LENGTH) for batch in batches[:-1])
    found = lists_in(batches, split)
    expected = [row["tokens"] for row in rows_of(0, ROWS) if row["tokens"]]
    assert sorted(found) == sorted(expected)
    if split:  # in the order of the rows, and without gaps
        order = [np.asarray(b["id"]).ravel().tolist() for b in rows_in(source, shuffle=shuffle)]
        ids = [i for batch in order for i in batch if length_of(i)]
        assert [values[0] // 1000 for values in found] == ids
        assert all((np.asarray(b["tokens_segment_ids"]) > 0).all() for b in batches[:-1])
    else:
        used = sum(map(length_of, range(ROWS)))
        assert used / (len(batches) * BATCH * LENGTH) > 0.75


def test_lists_go_into_the_first_row_with_room(folder: pathlib.Path) -> None:
    """The order is one by which the batches can be made anew, one list after the other."""
    source = opened(folder, "tfrecord")
    order = [i for batch in rows_in(source) for i in np.asarray(batch["id"]).ravel().tolist()]
    batches: list[list[list[int]]] = [[[] for _ in range(BATCH)]]
    for i in order:
        values = [1000 * i + k for k in range(length_of(i))]
        room = (row for row in batches[-1] if len(row) + len(values) <= LENGTH)
        row = next(room, None)
        if row is None:
            batches.append([[] for _ in range(BATCH)])
            row = batches[-1][0]
        row += values
    expected = [[row + [0] * (LENGTH - len(row)) for row in batch if row] for batch in batches]
    assert [np.asarray(b["tokens"]).tolist() for b in packed(source)] == expected


@pytest.mark.parametrize("split", [False, True])
def test_grain_packs_the_same(folder: pathlib.Path, split: bool) -> None:
    grain = pytest.importorskip("grain")
    source = opened(folder, "tfrecord")
    rows = [np.asarray(b["tokens"].values).tolist() for b in rows_in(source)]
    tokens = [t for batch in rows for t in batch]
    lists: list[list[int]] = []
    for token in tokens:
        if token % 1000 == 0:
            lists.append([])
        lists[-1].append(token)
    elements = [{"tokens": np.array(values)} for values in lists]
    parent = grain.MapDataset.source(elements).to_iter_dataset()
    kinds = grain.experimental
    if split:
        theirs = kinds.ConcatThenSplitIterDataset(parent, length_struct={"tokens": LENGTH})
    else:
        theirs = kinds.FirstFitPackIterDataset(
            parent, length_struct={"tokens": LENGTH}, num_packing_bins=BATCH, shuffle_bins=False
        )
    expected = [plain(row) for row in theirs]
    found = [
        {name: values[i] for name, values in plain(batch).items()}
        for batch in packed(source, split)
        for i in range(batch["tokens"].shape[0])
    ]
    assert found == expected


def test_several_lists(folder: pathlib.Path) -> None:
    source = opened(folder, "tfrecord")
    dataset = rows_in(source, label="weights").pack({"tokens": LENGTH, "weights": (-1.0, LENGTH)})
    for batch, label in dataset:
        ids = np.asarray(batch["tokens_segment_ids"])
        assert ids.tolist() == np.asarray(batch["weights_segment_ids"]).tolist()
        expected = np.asarray(batch["tokens"]) // 1000 + np.asarray(batch["tokens_positions"]) / 2
        assert np.where(ids > 0, expected, -1).tolist() == np.asarray(label).tolist()
        assert set(batch) == {n + s for n in ("tokens", "weights") for s in SUFFIXES} - {"weights"}
    uneven = rows_in(source).pack({"tokens": LENGTH, "few": 5})
    for batch in uneven:
        for row in range(batch["tokens"].shape[0]):
            numbers = set(np.asarray(batch["few"])[row].tolist()) - {0}
            ids = np.asarray(batch["tokens"])[row] // 1000
            assert numbers <= set(ids.tolist()) | {i for i in numbers if length_of(i) == 0}


SUFFIXES = ("", "_segment_ids", "_positions")


# What a batch depends on


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("split", [False, True])
def test_taken_up_behind_every_batch(folder: pathlib.Path, kind: str, split: bool) -> None:
    source = opened(folder, kind)
    expected = all_of(packed(source, split, epochs=2))
    running = iter(packed(source, split, epochs=2))
    for k, batch in enumerate(running):
        state = json.loads(json.dumps(running.state_dict()))
        again = packed(source, split, epochs=2, threads=1 + k % 3, prefetch=k % 4)
        again.load_state_dict(state)
        assert all_of(again) == expected[k + 1 :]
        if k % 7 == 0:
            turns = [again.iterate(w, 3, state) for w in range(3)]
            rest = [plain(next(turns[i % 3])) for i in range(len(expected) - k - 1)]
            assert rest == expected[k + 1 :]
            again.load_state_dict(batch.position)
            assert all_of(again) == expected[k + 1 :]
            again.load_state_dict(cst.dataset.Position(batch.position.epoch, batch.position.batch))
            assert all_of(again) == expected[k + 1 :]


def test_short_batches(folder: pathlib.Path) -> None:
    """Only a batch with fewer packed rows is left out."""
    source = opened(folder, "tfrecord")
    lasts = set()
    for split in (False, True):
        for size in range(1, 8):
            rows = source.dataset(size, True, 5), source.dataset(size, True, 5, drop_last=True)
            whole, full = (all_of(one.pack({"tokens": LENGTH}, split=split)) for one in rows)
            shapes = [len(batch["tokens"]) for batch in whole]
            assert set(shapes[:-1]) == {size}
            assert full == (whole if shapes[-1] == size else whole[:-1])
            lasts.add(shapes[-1] == size)
    assert lasts == {False, True}


def test_epochs_differ(folder: pathlib.Path) -> None:
    source = opened(folder, "tfrecord")
    dataset = packed(source, epochs=3)
    epochs: dict[int, list[Any]] = {}
    for batch in dataset:
        epochs.setdefault(batch.position.epoch, []).append(plain(batch))
    assert sorted(epochs) == [0, 1, 2] and epochs[0] != epochs[1]
    dataset = packed(source)
    for epoch, expected in epochs.items():
        dataset.set_epoch(epoch)
        assert all_of(dataset) == expected


@pytest.mark.parametrize("kind", KINDS[:3])
def test_shards_have_their_own_rows(folder: pathlib.Path, kind: str) -> None:
    source = opened(folder, kind)
    found: list[list[int]] = []
    for i in range(3):
        dataset = packed(source, shard=(i, 3))
        batches = list(dataset)
        found += lists_in(batches, False)
        own = rows_in(source, shard=(i, 3))
        ids = {int(v) for batch in own for v in np.asarray(batch["id"]).ravel()}
        assert {values[0] // 1000 for values in lists_in(batches, False)} <= ids
        again = packed(source, shard=(i, 3))
        again.load_state_dict(dataset.state_of(batches[2].position))
        assert all_of(again) == all_of(batches[3:])
    assert sorted(found) == sorted(r["tokens"] for r in rows_of(0, ROWS) if r["tokens"])
    state = packed(source, shard=(0, 3)).state_dict()
    with pytest.raises(cst.errors.StateError, match="divided again"):
        packed(source, shard=(0, 2)).load_state_dict(state)


@pytest.mark.parametrize("kind", ["tfrecord", "tfrecord.gz"])
@pytest.mark.parametrize("num_workers", [0, 1, 2])
def test_frameworks(folder: pathlib.Path, kind: str, num_workers: int) -> None:
    dataset = packed(opened(folder, kind), epochs=2)
    expected = all_of(dataset)
    loader = DataLoader(dataset.torch(), batch_size=None, num_workers=num_workers)
    batches = list(loader)
    assert all_of(batches) == expected
    assert all(isinstance(batch["tokens"], torch.Tensor) for batch in batches)
    assert batches[0]["tokens_positions"].dtype == torch.int32
    dataset.load_state_dict(batches[3].position)
    loader = DataLoader(dataset.torch(), batch_size=None, num_workers=num_workers)
    assert all_of(loader) == expected[4:]
    if num_workers == 0:
        assert all_of(dataset.numpy()) == all_of(dataset.jax()) == expected


def test_functions_before_and_after(folder: pathlib.Path) -> None:
    source = opened(folder, "tfrecord")

    def tokenize(batch: cst.dataset.Batch) -> dict[str, Any]:
        assert isinstance(batch["id"], cst.tensor.Tensor)
        lengths = [length_of(int(i)) for i in batch["id"].numpy().ravel()]
        splits = np.cumsum([0, *lengths])
        ids = batch["id"].numpy().ravel().tolist()
        values = [1000 * i + np.arange(n) for i, n in zip(ids, lengths, strict=True)]
        return {"words": cst.tensor.RaggedTensor(np.concatenate(values), [splits])}

    made = rows_in(source).map(tokenize).pack({"words": LENGTH})
    after = made.map(lambda batch: {"words": batch["words"]})
    expected = [batch["tokens"] for batch in all_of(packed(source))]
    assert [batch["words"] for batch in all_of(made)] == expected
    assert all_of(after) == [{"words": values} for values in expected]
    found = [batch["words"].tolist() for batch in after.torch()]
    assert found == expected


def test_pickles(folder: pathlib.Path) -> None:
    dataset = packed(opened(folder, "tfrecord"))
    assert all_of(pickle.loads(pickle.dumps(dataset))) == all_of(dataset)
    assert "packed rows" in repr(dataset)


def test_threads_share_an_iteration(folder: pathlib.Path) -> None:
    dataset = packed(opened(folder, "tfrecord"))
    expected = all_of(dataset)
    running = iter(dataset)
    next(running)
    running.close()
    with pytest.raises(cst.errors.StateError):
        next(running)
    assert all_of(dataset) == expected


@settings(max_examples=25, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 9), max_size=40),
    batch=st.integers(1, 5),
    length=st.integers(9, 20),
    split=st.booleans(),
    stop=st.integers(0, 30),
    workers=st.integers(1, 3),
)
def test_anything(
    lengths: list[int], batch: int, length: int, split: bool, stop: int, workers: int
) -> None:
    rows = [[1000 * (i + 1) + k for k in range(n)] for i, n in enumerate(lengths)]
    table = pa.table({"tokens": pa.array(rows, pa.large_list(pa.int64()))})
    schema = 'feature { name: "tokens" type: INT }'
    dataset = (
        cst.open(table, schema=schema).dataset(batch, seed=3).pack({"tokens": length}, split=split)
    )
    batches = list(dataset)
    assert sorted(lists_in(batches, split)) == [row for row in rows if row]
    if batches:
        at = batches[stop % len(batches)].position
        turns = [dataset.iterate(w, workers, at) for w in range(workers)]
        rest = len(batches) - stop % len(batches) - 1
        assert [plain(next(turns[i % workers])) for i in range(rest)] == all_of(batches[-rest:])[
            : rest or 0
        ]
        assert all(next(turn, None) is None for turn in turns)


# What is refused


def test_long_lists(folder: pathlib.Path) -> None:
    source = opened(folder, "tfrecord")
    running = iter(rows_in(source).pack({"tokens": 20}))
    for _ in range(2):
        with pytest.raises(cst.errors.SchemaError, match="but a packed row has 20") as caught:
            list(running)
        assert caught.value.path == "tokens"
    cut = list(rows_in(source).pack({"tokens": cst.tensor.Pad(0, 20, truncate=True)}))
    found = lists_in(cut, False)
    assert sorted(found) == sorted(r["tokens"][:20] for r in rows_of(0, ROWS) if r["tokens"])


def test_wrong_arguments(folder: pathlib.Path) -> None:
    source = opened(folder, "tfrecord")
    dataset = rows_in(source)
    wrong: list[tuple[Any, type[Exception], str]] = [
        ("tokens", TypeError, "a dict"),
        ({}, cst.errors.ArgumentError, "nothing to pack"),
        ({"none": 5}, cst.errors.NotFoundError, "no tensor 'none'"),
        ({"tokens": 0}, cst.errors.ArgumentError, "above 0"),
        ({"tokens": "9"}, TypeError, "tuple"),
        ({"tokens": (0, None)}, cst.errors.ArgumentError, "above 0"),
        ({"tokens": (0, [5, 9])}, cst.errors.ArgumentError, "above 0"),
        ({"tokens": (0.5, 9)}, TypeError, "int"),
        ({"text": 9}, cst.errors.ArgumentError, "strings cannot be packed"),
        ({"tokens": 1 << 40}, cst.errors.ArgumentError, "4 GiB"),
    ]
    for lists, error, text in wrong:
        with pytest.raises(error, match=text):
            dataset.pack(lists)
    scalar = cst.open(
        pa.table({"n": [1, 2]}),
        schema='feature { name: "n" type: INT shape {} presence { min_fraction: 1 } }',
    )
    with pytest.raises(cst.errors.ArgumentError, match="not lists"):
        scalar.dataset(1).pack({"n": 9})
    with pytest.raises(cst.errors.ArgumentError, match="one length"):
        dataset.pack({"tokens": 5, "few": 6}, split=True)
    with pytest.raises(cst.errors.ArgumentError, match="packed already"):
        dataset.pack({"tokens": 5}).pack({"tokens": 5})
    with pytest.raises(cst.errors.ArgumentError, match="leave pad out"):
        rows_in(source, pad={"tokens": (0, 9)}).pack({"tokens": 9})
    with pytest.raises(cst.errors.ArgumentError, match="leave as_batches out"):
        rows_in(source, as_batches=True).pack({"tokens": 9})
    with pytest.raises(cst.errors.NotFoundError, match="label"):
        rows_in(source, label="id").pack({"tokens": 9})
    made = dataset.pack({"tokens": 24})
    with pytest.raises(TypeError):
        len(made)
    with pytest.raises(cst.errors.UnsupportedError, match="at the end"):
        made.num_batches  # noqa: B018
    with pytest.raises(cst.errors.ArgumentError, match="within a packed batch"):
        made.state_of(cst.dataset.Position(0, 1), 3)
    with pytest.raises(cst.errors.ArgumentError, match="within a packed batch"):
        made.load_state_dict(cst.dataset.Position(0, 1).within(3))
    with pytest.raises(cst.errors.ArgumentError, match="structured"):
        made.structured()
    for other in (dataset, dataset.pack({"tokens": 25}), dataset.pack({"tokens": 24}, split=True)):
        with pytest.raises(cst.errors.StateError, match="pack"):
            other.load_state_dict(made.state_dict())
    with pytest.raises(cst.errors.SchemaError, match="and 'tokens' has one of"):
        list(dataset.pack({"tokens": 9, "few": 9}, split=True))
