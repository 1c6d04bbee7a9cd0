"""ids, bucket_by, pack and interleave with each other, in every order, shard and number of workers:
every row comes once, at its own place, and from every position on."""

from __future__ import annotations

import json
import pathlib
from collections import Counter
from itertools import chain
from typing import Any, NamedTuple

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

pytestmark = [pytest.mark.filterwarnings("ignore:This DataLoader will create")]
SIZES = (9, 1, 14, 5, 12)  # rows of the files
ROWS = sum(SIZES)
LENGTH = 11  # of a packed row
KINDS = ("tfrecord", "tfrecord.gz", "parquet")


def length_of(row: int) -> int:
    return (row * row * 7 + 3 * row) % 8


def place_of(row: int) -> tuple[int, int]:
    file = 0
    while row >= SIZES[file]:
        row -= SIZES[file]
        file += 1
    return file, row


TOKENS = Counter(100 * row + k for row in range(ROWS) for k in range(length_of(row)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("crossed")
    begin = 0
    for file, size in enumerate(SIZES):
        rows = [
            {"id": i, "tokens": [100 * i + k for k in range(length_of(i))]}
            for i in range(begin, begin + size)
        ]
        schema = pa.schema({"id": pa.int64(), "tokens": pa.large_list(pa.int64())})
        for kind in KINDS:
            cst.write(pa.Table.from_pylist(rows, schema), folder / f"{file}.{kind}")
        begin += size
    return folder


class Cross(NamedTuple):
    """A dataset."""

    kind: str
    batch_size: int
    shuffle: Any
    window: int
    interleave: int | None
    bucket: int | None
    pack: str | None
    ids: bool
    drop_last: bool
    epochs: int
    num_shards: int

    def dataset(self, folder: pathlib.Path, shard: int = 0, **options: Any) -> Any:
        source = cst.open(str(folder / f"*.{self.kind}"), schema=SCHEMA)
        made = source.dataset(
            self.batch_size,
            self.shuffle,
            7,
            self.epochs,
            window=self.window,
            interleave=self.interleave if self.shuffle == "window" else None,
            bucket_by=None if self.bucket is None else ("tokens", self.bucket),
            ids=self.ids,
            drop_last=self.drop_last,
            shard=(shard, options.pop("num_shards", self.num_shards)),
            **options,
        )
        if self.pack is None:
            return made
        lists: dict[str, Any] = {"tokens": LENGTH}
        if self.ids and self.pack == "whole":
            made = made.map(places_as_lists)
            lists["file"] = lists["record"] = LENGTH
        return made.pack(lists, split=self.pack == "split")


SCHEMA = """
feature { name: "id" type: INT shape {} presence { min_fraction: 1 } }
feature { name: "tokens" type: INT }
represent_variable_length_as_ragged: true
"""


def places_as_lists(batch: Any) -> Any:
    """Of each row a list of one value, which goes along when rows are packed."""
    splits = np.arange(len(batch["id"].numpy()) + 1)
    for name in ("file", "record"):
        batch[name] = cst.tensor.RaggedTensor(batch[f"__{name}__"].numpy(), [splits])
    return batch


crosses = st.builds(
    Cross,
    kind=st.sampled_from(KINDS),
    batch_size=st.integers(1, 7),
    shuffle=st.sampled_from([False, "window", True]),
    window=st.sampled_from([1, 6, 13, 100]),
    interleave=st.sampled_from([None, 1, 2, 3]),
    bucket=st.sampled_from([None, 1, 2, 3]),
    pack=st.sampled_from([None, "whole", "split"]),
    ids=st.booleans(),
    drop_last=st.booleans(),
    epochs=st.integers(1, 2),
    num_shards=st.integers(1, 3),
)


def plain(batch: Any) -> dict[str, Any]:
    made = {}
    for name, tensor in batch.items():
        ragged = isinstance(tensor, cst.tensor.RaggedTensor)
        made[name] = tensor.to_list() if ragged else np.asarray(tensor).tolist()
    return made


def all_of(batches: Any) -> list[tuple[dict[str, Any], Any]]:
    return [(plain(batch), batch.position) for batch in batches]


def tokens_in(batches: Any) -> Counter[int]:
    """Of packed batches and of others; the places of packed rows that are empty are left out."""
    found: Counter[int] = Counter()
    for batch, _ in batches:
        if "tokens_segment_ids" not in batch:
            found.update(chain.from_iterable(batch["tokens"]))
            continue
        rows = zip(batch["tokens"], batch["tokens_segment_ids"], strict=True)
        for row, segments in rows:
            found.update(value for value, segment in zip(row, segments, strict=True) if segment)
    return found


def check_places(batch: dict[str, Any]) -> None:
    """That ids are those of the rows that they stand beside."""
    if "__file__" in batch:
        places = zip(batch["__file__"], batch["__record__"], strict=True)
        assert list(places) == [place_of(row) for row in batch["id"]]
    if "file" not in batch:
        return
    for i, row in enumerate(batch["tokens"]):
        segments = batch["tokens_segment_ids"][i]
        for value, segment in zip(row, segments, strict=True):
            if segment:
                at = batch["file_segment_ids"][i].index(segment)
                place = (batch["file"][i][at], batch["record"][i][at])
                assert place == place_of(value // 100)


@settings(max_examples=120)
@given(cross=crosses)
def test_every_row_once_at_its_place(folder: pathlib.Path, cross: Cross) -> None:
    whole: list[Any] = []
    for shard in range(cross.num_shards):
        whole += all_of(cross.dataset(folder, shard, threads=2, prefetch=3))
    for batch, _ in whole:
        check_places(batch)
    for epoch in range(cross.epochs):
        found = tokens_in(one for one in whole if one[1].epoch == epoch)
        assert found <= TOKENS if cross.drop_last else found == TOKENS


@settings(max_examples=60)
@given(cross=crosses, shard=st.integers(0, 2), data=st.data())
def test_from_every_position_on(folder: pathlib.Path, cross: Cross, shard: int, data: Any) -> None:
    shard %= cross.num_shards
    dataset = cross.dataset(folder, shard)
    running = iter(dataset)
    states = [running.state_dict()]
    whole = []
    for batch in running:
        whole.append((plain(batch), batch.position))
        states.append(running.state_dict())
    for taken, state in enumerate(states):
        again = cross.dataset(folder, shard, threads=2, prefetch=taken % 4)
        by_position = taken > 0 and taken % 3 == 0
        again.load_state_dict(whole[taken - 1][1] if by_position else json.loads(json.dumps(state)))
        assert all_of(again) == whole[taken:]
    workers = data.draw(st.integers(1, 4))
    parts = [cross.dataset(folder, shard).iterate(i, workers) for i in range(workers)]
    turns = [plain(next(parts[k % workers])) for k in range(len(whole))]
    assert turns == [batch for batch, _ in whole]
    for part in parts:
        assert list(part) == []


@settings(max_examples=60)
@given(cross=crosses, taken=st.integers(0, 3), others=st.integers(1, 4))
def test_another_number_of_shards(
    folder: pathlib.Path, cross: Cross, taken: int, others: int
) -> None:
    cross = cross._replace(pack=None, epochs=1, drop_last=False)
    done: Counter[int] = Counter()
    state = cross.dataset(folder).state_dict()
    for shard in range(cross.num_shards):
        running = iter(cross.dataset(folder, shard))
        for _ in range(taken):
            batch = next(running, None)
            if batch is None:
                return  # it is at its end: others have batches that it has not
            done.update(plain(batch)["id"])
            state = running.state_dict()
    for shard in range(others):
        dataset = cross.dataset(folder, shard, num_shards=others)
        dataset.load_state_dict(state)
        for batch, _ in all_of(dataset):
            check_places(batch)
            done.update(batch["id"])
    assert done == Counter(range(ROWS))


LOADED = [
    Cross("tfrecord", 4, True, 13, None, 3, "whole", True, False, 2, 2),
    Cross("tfrecord.gz", 3, "window", 13, 2, 2, "split", True, True, 2, 1),
    Cross("parquet", 4, "window", 13, 3, 2, None, True, False, 2, 2),
    Cross("tfrecord", 2, "window", 6, None, None, "whole", True, True, 1, 3),
]


def torch_plain(batch: Any) -> dict[str, Any]:
    made = {}
    for name, tensor in batch.items():
        is_nested = isinstance(tensor, torch.Tensor) and tensor.is_nested
        made[name] = [row.tolist() for row in tensor.unbind()] if is_nested else tensor.tolist()
    return made


@pytest.mark.parametrize("cross", LOADED, ids=range(len(LOADED)))
@pytest.mark.parametrize("num_workers", [1, 2])
def test_in_workers(folder: pathlib.Path, cross: Cross, num_workers: int) -> None:
    whole = all_of(cross.dataset(folder))
    loader = DataLoader(cross.dataset(folder).torch(), None, num_workers=num_workers)
    found = [(torch_plain(batch), batch.position) for batch in loader]
    assert found == whole
    again = cross.dataset(folder)
    again.load_state_dict(again.state_of(found[1][1]))
    loader = DataLoader(again.torch(), None, num_workers=3 - num_workers)
    assert [torch_plain(batch) for batch in loader] == [batch for batch, _ in whole[2:]]
