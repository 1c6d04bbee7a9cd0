"""States within a batch: the rest of the batch comes next, then all batches after it, in every
order, with workers, shards and buckets."""

from __future__ import annotations

import json
import pathlib
import pickle
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

ROWS, BATCH = 103, 8
ENDINGS = ("tfrecord", "tfrecord.gz", "csv")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("within")
    made = {}
    for ending in ENDINGS:
        for i, begin in enumerate((0, 40, 90)):
            end = (40, 90, ROWS)[i]
            table = pa.table({"id": range(begin, end), "n": [k % 5 for k in range(begin, end)]})
            cst.write(table, folder / f"{i}.{ending}")
        made[ending] = cst.open(str(folder / f"*.{ending}"), flat=True)
    return made


def in_turns(dataset: Any, workers: int, start: Any) -> list[list[int]]:
    parts = [iter(dataset.iterate(worker, workers, start)) for worker in range(workers)]
    made: list[list[int]] = []
    while True:
        batch = next(parts[len(made) % workers], None)
        if batch is None:
            return made
        made.append(rows_of(batch))


def rows_of(batch: Any) -> list[int]:
    """What the rows of a batch are told by: with `ids`, which have to agree, by these."""
    found: list[int] = batch["id"].numpy().tolist()
    if "__file__" in batch:
        files, records = (batch[name].numpy().tolist() for name in ("__file__", "__record__"))
        assert [
            (0, 40, 90)[file] + record for file, record in zip(files, records, strict=True)
        ] == found
    return found


@settings(max_examples=60, deadline=None)
@given(
    ending=st.sampled_from(ENDINGS),
    shuffle=st.sampled_from([False, True, "window"]),
    buckets=st.booleans(),
    batch=st.integers(0, 20),
    row=st.integers(0, BATCH - 1),
    workers=st.integers(1, 3),
    shard=st.sampled_from([(0, 1), (1, 2)]),
    as_position=st.booleans(),
    with_ids=st.booleans(),
)
def test_the_rest_comes_next(
    ending: str,
    shuffle: Any,
    buckets: bool,
    batch: int,
    row: int,
    workers: int,
    shard: tuple[int, int],
    as_position: bool,
    with_ids: bool,
    sources: dict[str, Any],
) -> None:
    def dataset() -> Any:
        by = ("n", 2) if buckets else None
        return sources[ending].dataset(
            BATCH, shuffle, 3, 2, window=32, bucket_by=by, shard=shard, prefetch=0, ids=with_ids
        )

    whole = [(one.position, rows_of(one)) for one in dataset()]
    batch %= len(whole)
    row %= len(whole[batch][1])
    at, rows = whole[batch]
    state: Any = json.loads(json.dumps(dataset().state_of(at, row)))
    assert state["row"] == row
    start = at.within(row) if as_position else state
    expected = [rows[row + 1 :], *(found for _, found in whole[batch + 1 :])]
    assert in_turns(dataset(), workers, start) == [one for one in expected if one]
    again = dataset()
    again.load_state_dict(start)
    first = next(iter(again))
    if rows[row + 1 :]:  # its rows count from the first that is delivered
        assert first.position.first_row == row + 1 and first.position.batch == at.batch
        second = dataset().state_of(first.position, 0)
        assert second["row"] == row + 1
        rest = [rows[row + 2 :], *(found for _, found in whole[batch + 1 :])]
        assert in_turns(dataset(), workers, second) == [one for one in rest if one]


def test_a_loop_over_parts_of_batches(sources: dict[str, Any]) -> None:
    """As in docs/datasets.md: parts of batches, with workers, and a state after each of them."""
    dataset = sources["tfrecord"].dataset(BATCH, True, 3, drop_last=True)
    loader = DataLoader(dataset.torch(), batch_size=None, num_workers=2)
    parts = [
        (part, dataset.state_of(batch.position, row))
        for batch in loader
        for part, row in zip(batch["id"].split(3), (2, 5, 7), strict=True)
    ]
    for k in (0, 1, 2, 7):
        again = pickle.loads(pickle.dumps(sources["tfrecord"].dataset(BATCH, True, 3, 1, True)))
        again.load_state_dict(json.loads(json.dumps(parts[k][1])))
        loader = DataLoader(again.torch(), batch_size=None, num_workers=2)
        rest = torch.cat([batch["id"] for batch in loader])
        expected = torch.cat([part for part, _ in parts[k + 1 :]])
        assert rest[: len(expected)].tolist() == expected.tolist()


def test_of_the_states_of_workers_the_furthest_counts(sources: dict[str, Any]) -> None:
    """Those that have not begun have the state that was loaded, within the batch."""
    dataset = sources["tfrecord"].dataset(BATCH)
    batch = next(iter(dataset))
    states = {k: dataset.state_of(batch.position, k) for k in (1, 4)}
    dataset.load_state_dict(states[4])
    states[7] = dataset.state_of(next(iter(dataset)).position)
    for order in ((1, 4, 7), (7, 4, 1), (4, 1), (1,)):
        again = dataset.torch()
        again.load_state_dict({"workers": {str(k): states[k] for k in order}})
        assert next(iter(again))["id"][0] == max(order) + 1


def test_refused(sources: dict[str, Any]) -> None:
    dataset = sources["csv"].dataset(BATCH, shard=(0, 2))
    batch = next(iter(dataset))
    state = dataset.state_of(batch.position, 3)
    with pytest.raises(
        cst.errors.StateError, match="within a batch of one of 2 shards; this dataset has 3"
    ):
        sources["csv"].dataset(BATCH, shard=(0, 3)).load_state_dict(state)
    for row in (-1, BATCH):
        with pytest.raises(cst.errors.ArgumentError, match="row is"):
            dataset.state_of(batch.position, row)
    with pytest.raises(cst.errors.ArgumentError, match="without position"):
        dataset.state_of(None, 2)
    old = {name: value for name, value in state.items() if name not in ("row", "first_row")}
    dataset.load_state_dict(old)  # of a release before states within batches
    assert dataset.state_dict()["row"] == -1


def test_positions_are_shown_short(tmp_path: pathlib.Path) -> None:
    assert repr(cst.dataset.Position(1, 2)) == "Position(epoch=1, batch=2)"
    assert repr(cst.dataset.Position(1, 2).within(3)) == "Position(epoch=1, batch=2, row=3)"
