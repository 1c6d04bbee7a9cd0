"""Dataset.map: what functions get and return, in loops and in workers; order and resuming stay."""

from __future__ import annotations

import os
import pathlib
import pickle
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from conftest import SCHEMA


@pytest.fixture
def dataset(file: pathlib.Path) -> cst.Dataset:
    return cst.open(file, schema=SCHEMA).dataset(16, shuffle=True, seed=3, epochs=2)


def only_ids(batch: Any) -> dict[str, Any]:
    return {"id": batch["id"]}


def doubled(batch: Any) -> Any:
    batch["id"] = batch["id"] * 2
    return batch


def with_process(batch: Any) -> Any:
    batch["process"] = os.getpid()
    return batch


def lists_of(batches: Any) -> list[list[int]]:
    return [np.asarray(batch["id"]).tolist() for batch in batches]


def test_batches_keep_their_order_and_position(dataset: cst.Dataset) -> None:
    mapped = dataset.map(only_ids)
    for batch, plain in zip(mapped, dataset, strict=True):
        assert type(batch) is cst.dataset.Batch and list(batch) == ["id"]
        assert batch.position == plain.position
        assert batch["id"].tolist() == plain["id"].tolist()
    assert (len(mapped), mapped.num_batches) == (len(dataset), dataset.num_batches)
    assert list(next(iter(dataset))) == ["id", "pair", "steps", "tags"]  # which stays as it was


@pytest.mark.parametrize("name", ["numpy", "jax", "torch"])
def test_functions_get_what_the_loop_gets(dataset: cst.Dataset, name: str) -> None:
    pytest.importorskip(name)
    expected = [[2 * i for i in ids] for ids in lists_of(dataset)]
    made = list(getattr(dataset.map(doubled), name)())
    assert lists_of(made) == expected
    assert [batch.position for batch in made] == [batch.position for batch in dataset]
    twice = getattr(dataset.map(doubled).map(doubled), name)()
    assert lists_of(twice) == [[2 * i for i in ids] for ids in expected]


def test_the_label_is_split_off_afterwards(file: pathlib.Path) -> None:
    dataset = cst.open(file, schema=SCHEMA).dataset(16, label="id")
    features, label = next(iter(dataset.map(doubled).numpy()))
    assert label.tolist() == [2 * i for i in range(16)]
    assert "id" not in features and features.position == cst.dataset.Position(0, 0)
    with pytest.raises(cst.errors.ArgumentError, match="dropped the label 'id'"):
        next(iter(dataset.map(lambda batch: {"pair": batch["pair"]})))


def test_record_batches(file: pathlib.Path) -> None:
    dataset = cst.open(file, schema=SCHEMA).dataset(16, as_batches=True)
    made = dataset.map(lambda batch: pa.record_batch(batch).select(["id"]))
    assert [batch.schema.names for batch in made] == [["id"]] * 7
    with pytest.raises(TypeError, match="returned NoneType, expected a record batch"):
        next(iter(dataset.map(lambda batch: None)))


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_in_the_workers(dataset: cst.Dataset, workers: int) -> None:
    torch_data = pytest.importorskip("torch.utils.data")
    mapped = dataset.map(doubled).map(with_process)
    loader = torch_data.DataLoader(mapped.torch(), batch_size=None, num_workers=workers)
    batches = list(loader)
    assert lists_of(batches) == [[2 * i for i in ids] for ids in lists_of(dataset)]
    processes = {batch["process"] for batch in batches}
    assert (processes == {os.getpid()}) == (workers == 0)
    assert len(processes) == max(workers, 1)


def test_going_on(dataset: cst.Dataset) -> None:
    """The functions are no part of the state."""
    mapped = dataset.map(doubled)
    whole = lists_of(mapped.numpy())
    iteration = iter(mapped.numpy())
    first = lists_of(next(iteration) for _ in range(5))
    state = mapped.state_dict()
    assert state == iteration.state_dict()
    dataset.load_state_dict(state)
    rest = dataset.map(doubled)
    assert lists_of(rest.numpy()) == whole[5:]
    assert first == whole[:5]
    rest.load_state_dict(state)
    assert lists_of(pickle.loads(pickle.dumps(rest)).numpy()) == whole[5:]


def test_what_functions_may_not_do(dataset: cst.Dataset) -> None:
    with pytest.raises(TypeError, match="map takes a function"):
        dataset.map(3)  # type: ignore[arg-type]

    def forgot(batch: Any) -> None:
        batch["x"] = 1

    with pytest.raises(TypeError, match="forgot returned NoneType, expected a dict"):
        next(iter(dataset.map(forgot)))

    def fails(batch: Any) -> Any:
        raise KeyError("nothing")

    iteration = iter(dataset.map(fails))
    with pytest.raises(KeyError, match="nothing"):
        next(iteration)
    assert iteration.position == cst.dataset.Position(0, 0)


@pytest.mark.parametrize("as_batches", [False, True])
def test_a_function_does_not_end_the_loop(file: pathlib.Path, as_batches: bool) -> None:
    dataset = cst.open(file, schema=SCHEMA).dataset(16, as_batches=as_batches)
    few = iter([1, 2])

    def takes_another(batch: Any) -> Any:
        next(few)
        return batch

    with pytest.raises(RuntimeError, match="map: StopIteration was raised") as caught:
        list(dataset.map(takes_another))
    assert isinstance(caught.value.__cause__, StopIteration)
