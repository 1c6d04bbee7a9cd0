"""bucket_by: batches of rows of similar length, of every kind of source, in every framework."""

from __future__ import annotations

import json
import pathlib
from collections import Counter
from itertools import chain, pairwise
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from torch.utils.data import DataLoader

ROWS, BATCH, BATCHES = 330, 8, 6
KINDS = ["tfrecord", "tfrecord.gz", "parquet", "json", "arrow"]


def length_of(row: int) -> int:
    return (row * row * 7 + 3 * row) % 23


def rows_of(begin: int, end: int) -> list[dict[str, Any]]:
    return [
        {
            "id": i,
            "size": length_of(i),
            "text": "t" * length_of(i),
            "tokens": [i] * length_of(i),
            "half": 0.5,
        }
        for i in range(begin, end)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The same rows in every format, in three files."""
    folder = tmp_path_factory.mktemp("buckets")
    for i, (begin, end) in enumerate([(0, 200), (200, 203), (203, ROWS)]):
        table = pa.Table.from_pylist(rows_of(begin, end))
        for kind in KINDS:
            if kind == "parquet":
                pq.write_table(table, folder / f"{i}.parquet")
            else:
                cst.write(table, folder / f"{i}.{kind}", lossy=True)
    return folder


def opened(folder: pathlib.Path, kind: str, **options: Any) -> cst.Source:
    return cst.open(str(folder / f"*.{kind}"), **options)


def bucketed(source: cst.Source, **options: Any) -> cst.Dataset:
    given: dict[str, Any] = {"shuffle": True, "seed": 5, "bucket_by": ("tokens", BATCHES)}
    return source.dataset(BATCH, **{"window": 96, **given, **options})


def ids_of(batch: Any) -> list[int]:
    column = batch.column("id") if isinstance(batch, cst.RecordBatch) else batch["id"]
    values = column.to_pylist() if hasattr(column, "to_pylist") else np.asarray(column).tolist()
    return [value[0] if isinstance(value, list) else value for value in values]


def check_batches(found: list[list[int]], plain: list[list[int]]) -> None:
    """Of each bucket the same rows; each of its full batches apart from the others by length."""
    assert [len(ids) for ids in found] == [len(ids) for ids in plain]
    for at in range(0, len(plain), BATCHES):
        full = [ids for ids in found[at : at + BATCHES] if len(ids) == BATCH]
        before = [ids for ids in plain[at : at + BATCHES] if len(ids) == BATCH]
        assert Counter(chain(*full)) == Counter(chain(*before))
        spans = sorted((length_of(ids[0]), length_of(ids[-1])) for ids in full)
        assert all(one[1] <= other[0] for one, other in pairwise(spans))
        for ids in full:
            assert sorted(ids, key=length_of) == ids


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shuffle", [False, True, "window"])
def test_every_format(folder: pathlib.Path, kind: str, shuffle: Any) -> None:
    source = opened(folder, kind)
    dataset = bucketed(source, shuffle=shuffle, epochs=2)
    items = [ids_of(batch) for batch in dataset]
    plain = [ids_of(batch) for batch in bucketed(source, shuffle=shuffle, epochs=2, bucket_by=None)]
    half = len(items) // 2
    check_batches(items[:half], plain[:half])
    check_batches(items[half:], plain[half:])
    assert dataset.num_batches == half and (items[:half] == items[half:]) == (not shuffle)
    if not shuffle:
        lengths = [length_of(ids[0]) for ids in items[:BATCHES]]
        assert lengths == sorted(lengths)
    rows = bucketed(source, shuffle=shuffle, as_batches=True)
    assert [ids_of(batch) for batch in rows] == items[:half]


@pytest.mark.parametrize("kind", KINDS)
def test_taken_up_behind_every_batch(folder: pathlib.Path, kind: str) -> None:
    source = opened(folder, kind)
    expected = [ids_of(batch) for batch in bucketed(source, epochs=2)]
    running = iter(bucketed(source, epochs=2))
    for k, _ in enumerate(running):
        state = json.loads(json.dumps(running.state_dict()))
        again = bucketed(source, epochs=2, threads=1 + k % 3, prefetch=k % 4)
        again.load_state_dict(state)
        assert [ids_of(batch) for batch in again] == expected[k + 1 :]
        if k % 9 == 0:
            turns = [again.iterate(w, 3, state) for w in range(3)]
            rest = [ids_of(next(turns[i % 3])) for i in range(len(expected) - k - 1)]
            assert rest == expected[k + 1 :]


@pytest.mark.parametrize("kind", KINDS[:3])
def test_shards(folder: pathlib.Path, kind: str) -> None:
    source = opened(folder, kind)
    whole = [ids_of(batch) for batch in bucketed(source)]
    for count in (2, 5):
        shards = [list(bucketed(source, shard=(i, count))) for i in range(count)]
        for i, shard in enumerate(shards):
            assert [ids_of(batch) for batch in shard] == whole[i::count]
        equal = [list(bucketed(source, shard=(i, count), drop_last=True)) for i in range(count)]
        assert {len(shard) for shard in equal} == {ROWS // BATCH // count}
    first = iter(bucketed(source, shard=(1, 2)))
    for _ in range(4):
        next(first)
    rest = []
    for i in range(3):
        dataset = bucketed(source, shard=(i, 3))
        dataset.load_state_dict(first.state_dict())
        rest.append([ids_of(batch) for batch in dataset])
    assert [rest[i % 3][i // 3] for i in range(len(whole) - 8)] == whole[8:]


@pytest.mark.parametrize("kind", ["tfrecord", "tfrecord.gz"])
@pytest.mark.parametrize("num_workers", [0, 1, 2])
def test_frameworks(folder: pathlib.Path, kind: str, num_workers: int) -> None:
    dataset = bucketed(opened(folder, kind), label="size", pad={"tokens": (0, None)})
    expected = [(ids_of(batch), np.asarray(label).ravel().tolist()) for batch, label in dataset]
    loader = DataLoader(dataset.torch(), batch_size=None, num_workers=num_workers)
    found = [(ids_of(batch), label.ravel().tolist()) for batch, label in loader]
    assert found == expected
    if num_workers == 0:
        assert [ids_of(batch) for batch, _ in dataset.numpy()] == [ids for ids, _ in expected]
        assert [ids_of(batch) for batch, _ in dataset.jax()] == [ids for ids, _ in expected]


def test_little_is_padded(folder: pathlib.Path) -> None:
    pad = {"tokens": (0, None)}
    source = opened(folder, "tfrecord")
    plain, sorted_ = (
        sum(int(np.prod(batch["tokens"].shape)) for batch in bucketed(source, pad=pad, **options))
        for options in ({"bucket_by": None}, {"bucket_by": "tokens"})
    )
    tokens = sum(map(length_of, range(ROWS)))
    assert sorted_ - tokens < (plain - tokens) / 5


@pytest.mark.parametrize("kind", KINDS)
def test_lengths_may_be_said(folder: pathlib.Path, kind: str) -> None:
    """The number of values, the bytes of a text, and an integer are the same here."""
    source = opened(folder, kind)
    expected = [ids_of(batch) for batch in bucketed(source)]
    for name in ("size", "text"):
        assert [ids_of(b) for b in bucketed(source, bucket_by=(name, BATCHES))] == expected


def test_views_and_stages(folder: pathlib.Path) -> None:
    """Lengths are those of what is delivered, which may be decoded as a whole for them."""
    source = opened(folder, "tfrecord")
    query = cst.Query(source).output("id", "id").output("tokens", "tokens[-50:]")
    view = opened(folder, "tfrecord", view=query)
    staged = source.map(lambda batch: batch)
    expected = [ids_of(batch) for batch in bucketed(source, as_batches=True)]
    assert [ids_of(batch) for batch in bucketed(staged, as_batches=True)] == expected
    assert [ids_of(batch) for batch in bucketed(view, as_batches=True)] == expected


def test_fields_of_structs() -> None:
    rows = [{"id": i, "s": {"words": ["w"] * length_of(i)} if i % 5 else None} for i in range(64)]
    table = pa.Table.from_pylist(rows)
    dataset = cst.open(table).dataset(BATCH, bucket_by="s.words", as_batches=True)
    found = [i for batch in dataset for i in ids_of(batch)]
    assert found == sorted(range(64), key=lambda i: length_of(i) if i % 5 else 0)
    tensors = cst.open(table).dataset(BATCH, bucket_by="s.words")
    assert [i for batch in tensors for i in ids_of(batch)] == found


def test_structured_batches_keep_the_order(folder: pathlib.Path) -> None:
    dataset = bucketed(opened(folder, "tfrecord"), bucket_by=("size", BATCHES))
    expected = [ids_of(batch) for batch in dataset]
    found = [
        [row[0] for row in pa.array(batch["id"]).to_pylist()] for batch in dataset.structured()
    ]
    assert found == expected


def test_states_name_the_bucket(folder: pathlib.Path) -> None:
    source = opened(folder, "tfrecord")
    state = bucketed(source).state_dict()
    for other in (None, "tokens", ("size", BATCHES)):
        with pytest.raises(cst.errors.StateError, match="bucket_"):
            bucketed(source, bucket_by=other).load_state_dict(state)
    with pytest.raises(cst.errors.StateError, match="bucket_by None"):
        bucketed(source).load_state_dict(bucketed(source, bucket_by=None).state_dict())


def test_the_order(folder: pathlib.Path) -> None:
    dataset = bucketed(opened(folder, "tfrecord"))
    ids = [i for batch in dataset for i in ids_of(batch)]
    assert dataset.order().tolist() == ids
    assert dataset.order(0, 30, 101).tolist() == ids[30:101]


def test_wrong_arguments(folder: pathlib.Path) -> None:
    source = opened(folder, "tfrecord")
    wrong: list[tuple[Any, type[Exception], str]] = [
        (5, TypeError, "name of a tensor"),
        (("tokens", 1, 2), TypeError, "name of a tensor"),
        (("tokens", 0), cst.errors.ArgumentError, "from 1"),
        (("tokens", "9"), TypeError, "int"),
        ("none", cst.errors.NotFoundError, "no tensor 'none'"),
        ("half", cst.errors.ArgumentError, "has none"),
        (("tokens", 1 << 31), cst.errors.ArgumentError, "has more than"),
    ]
    for bucket_by, error, text in wrong:
        with pytest.raises(error, match=text):
            source.dataset(BATCH, bucket_by=bucket_by)
    with pytest.raises(cst.errors.NotFoundError, match="no such column"):
        source.dataset(BATCH, bucket_by="none", as_batches=True)
    fixed = cst.open(pa.table({"pair": pa.array([[1, 2]] * 9, pa.list_(pa.int64(), 2))}))
    with pytest.raises(cst.errors.ArgumentError, match="same number of values"):
        fixed.dataset(BATCH, bucket_by="pair")


def test_torch_batches_of_sizes(folder: pathlib.Path) -> None:
    """With sizes of the padding, few shapes occur."""
    pad = {"tokens": (0, [8, 16, 24])}
    dataset = bucketed(opened(folder, "tfrecord"), pad=pad, drop_last=True)
    shapes = Counter(tuple(batch["tokens"].shape) for batch in dataset.torch())
    assert set(shapes) == {(BATCH, 8), (BATCH, 16), (BATCH, 24)}
    assert all(isinstance(batch["tokens"], torch.Tensor) for batch in dataset.torch())
