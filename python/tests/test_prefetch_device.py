"""Batches on their way to a device: the same ones, in order, with states of what was handed out.

What CUDA is told is looked at through a stand-in for torch.cuda: there is no such device here.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pathlib
import pickle
from collections.abc import Iterator
from typing import Any

import columnstone as cst
import numpy as np
import pytest
from conftest import SCHEMA, MakeFile, record

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
from torch.utils.data import DataLoader, IterableDataset, get_worker_info  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore:This DataLoader will create")]
RAGGED = SCHEMA + "represent_variable_length_as_ragged: true"
JAX_CPU = jax.devices("cpu")[0]


def dataset_of(path: object, schema: str = SCHEMA, **options: Any) -> Any:
    options = {"batch_size": 16, "shuffle": True, "seed": 3, "epochs": 2, **options}
    return cst.open(path, schema=schema).dataset(**options)  # type: ignore[arg-type]


def plain(value: Any) -> Any:
    """Any tensor, or item of them, as lists."""
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, cst.tensor.SparseTensor):
        return plain((value.indices, value.values, value.dense_shape))
    if isinstance(value, cst.tensor.RaggedTensor):
        return plain((value.values, *value.row_splits))
    if isinstance(value, torch.Tensor) and value.is_nested:
        return [value.values().tolist(), value.offsets().tolist()]
    if isinstance(value, torch.Tensor) and value.is_sparse:
        return [value.indices().T.tolist(), value.values().tolist(), list(value.shape)]
    return value.tolist()


def loader_of(dataset: Any, num_workers: int) -> Any:
    return DataLoader(dataset.torch(), batch_size=None, num_workers=num_workers)


FORMS = {
    "dataset": lambda ds: ds,
    "torch": lambda ds: ds.torch(),
    "iteration": iter,
    "loader": lambda ds: loader_of(ds, 0),
    "workers": lambda ds: loader_of(ds, 2),
}


def ids_of(batches: Any) -> list[list[int]]:
    return [batch["id"].tolist() for batch in batches]


# The same batches


@pytest.mark.parametrize("schema", [SCHEMA, RAGGED], ids=["sparse", "ragged"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("label", [None, "id"])
def test_torch(file: pathlib.Path, schema: str, form: str, label: str | None) -> None:
    expected = list(dataset_of(file, schema, label=label).torch())
    dataset = dataset_of(file, schema, label=label)
    made = list(cst.dataset.prefetch_to_device(FORMS[form](dataset), "cpu"))
    assert len(made) == 14
    assert plain(made) == plain(expected)
    heads = [item if label is None else item[0] for item in made]
    theirs = [item if label is None else item[0] for item in expected]
    assert [head.position for head in heads] == [head.position for head in theirs]
    assert all(isinstance(head, cst.dataset.Batch) for head in heads)


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_the_size_changes_nothing(file: pathlib.Path, size: int) -> None:
    dataset = dataset_of(file)
    batches = cst.dataset.prefetch_to_device(dataset, torch.device("cpu"), size)
    assert ids_of(batches) == ids_of(dataset.torch())
    assert list(batches) == []  # the end stays


def test_so_many_are_begun_and_no_more() -> None:
    asked = []

    def numbers() -> Iterator[dict[str, Any]]:
        for i in range(6):
            asked.append(i)
            yield {"i": torch.tensor([i])}

    batches = cst.dataset.prefetch_to_device(numbers(), "cpu", 3)
    assert asked == []
    seen = [(int(batch["i"]), len(asked)) for batch in batches]
    assert seen == [(0, 3), (1, 4), (2, 5), (3, 6), (4, 6), (5, 6)]


def test_every_kind_of_value_is_on_the_device(file: pathlib.Path) -> None:
    batch = next(cst.dataset.prefetch_to_device(dataset_of(file, RAGGED).torch(), "meta"))
    steps = batch["steps"]
    assert (steps.layout, steps.values().device.type) == (torch.jagged, "meta")
    assert (batch["id"].device.type, batch["id"].shape) == ("meta", (16,))
    values = {
        "number": 3,
        "text": "a",
        "array": np.arange(3),
        "list": [torch.ones(2)],
        "pair": (torch.ones(2), None),
        "struct": {"a": torch.ones(2, 3)},
        "parts": cst.tensor.RaggedTensor(torch.ones(2), [torch.tensor([0, 2])]),
    }
    made = next(cst.dataset.prefetch_to_device([values], "meta"))
    assert (made["number"], made["text"], made["pair"][1]) == (3, "a", None)
    parts = made["parts"]
    moved = [made["array"], made["pair"][0], made["struct"]["a"], parts.values, *parts.row_splits]
    assert {tensor.device.type for tensor in moved} == {"meta"}


def test_jagged_tensors_of_equal_offsets_can_be_added(file: pathlib.Path) -> None:
    def twice(batch: Any) -> Any:
        return {**batch, "more": batch["steps"]}

    for dataset in (dataset_of(file, RAGGED), dataset_of(file, RAGGED).torch()):
        of = dataset if isinstance(dataset, cst.Dataset) else dataset._dataset
        mapped = of.map(twice)
        form = mapped if isinstance(dataset, cst.Dataset) else mapped.torch()
        batch = next(cst.dataset.prefetch_to_device(form, "cpu"))
        total = (batch["steps"] + batch["more"]).values()
        assert total.tolist() == (2 * batch["steps"].values()).tolist()


@pytest.mark.parametrize("schema", [SCHEMA, RAGGED], ids=["sparse", "ragged"])
@pytest.mark.parametrize("form", ["dataset", "jax"])
def test_jax(file: pathlib.Path, schema: str, form: str) -> None:
    dataset = dataset_of(file, schema)
    expected = list(dataset.jax())
    sharding = jax.sharding.SingleDeviceSharding(JAX_CPU)
    for device in (JAX_CPU, sharding):
        given = dataset if form == "dataset" else dataset.jax()
        made = list(cst.dataset.prefetch_to_device(given, device))
        assert plain(made) == plain(expected)
        assert [batch.position for batch in made] == [batch.position for batch in expected]
        assert made[0]["id"].devices() == {JAX_CPU}
        assert made[0]["tags"].values.dtype == object  # strings stay with numpy


def test_numpy_for_jax(make_file: MakeFile) -> None:
    """Integers that are too wide are an error, and not another number."""
    narrow = next(cst.dataset.prefetch_to_device([{"a": np.arange(3)}], JAX_CPU))
    assert (narrow["a"].dtype, narrow["a"].tolist()) == (np.int32, [0, 1, 2])
    batches = cst.dataset.prefetch_to_device(
        [{"a": np.arange(3)}, {"a": np.array([2**40])}], JAX_CPU
    )
    assert next(batches)["a"].tolist() == [0, 1, 2]
    with pytest.raises(cst.errors.UnsupportedError, match="does not fit in int32"):
        next(batches)


# States


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 3])
def test_states_are_of_what_was_handed_out(file: pathlib.Path, form: str, size: int) -> None:
    expected = ids_of(dataset_of(file).torch())
    for taken in (1, 4, 7, 13, 14):
        dataset = dataset_of(file)
        batches = cst.dataset.prefetch_to_device(FORMS[form](dataset), "cpu", size)
        last = list(itertools.islice(batches, taken))[-1]
        assert batches.position == last.position
        states = [batches.state_dict(), dataset.state_of(last.position)]
        if form not in ("loader", "workers"):  # a loader is ahead of what its dataset tells
            states.append(dataset.state_dict())
        assert all(state == states[0] for state in states)
        again = dataset_of(file)
        again.load_state_dict(states[0])
        assert (
            ids_of(cst.dataset.prefetch_to_device(FORMS[form](again), "cpu", size))
            == expected[taken:]
        )


def test_states_before_the_first_batch(file: pathlib.Path) -> None:
    dataset = dataset_of(file)
    expected = ids_of(dataset.torch())
    dataset.load_state_dict(cst.dataset.Position(0, 2))
    batches = cst.dataset.prefetch_to_device(dataset, "cpu", 3)
    assert batches.position == cst.dataset.Position(0, 2)
    dataset.load_state_dict(batches.state_dict())
    assert ids_of(cst.dataset.prefetch_to_device(dataset, "cpu")) == expected[3:]
    assert dataset.state_dict()["epoch"] == 1
    with pytest.raises(cst.errors.StateError, match="no batch yet"):
        cst.dataset.prefetch_to_device(loader_of(dataset, 0), "cpu").state_dict()
    with pytest.raises(cst.errors.StateError, match="neither a dataset"):
        cst.dataset.prefetch_to_device([], "cpu").state_dict()


def test_packed_batches(file: pathlib.Path) -> None:
    def packed() -> Any:
        return dataset_of(file, RAGGED, batch_size=4).pack({"steps": 8})

    expected = [plain(batch) for batch in packed().torch()]
    batches = cst.dataset.prefetch_to_device(packed(), "cpu", 4)
    assert [plain(next(batches)) for _ in range(3)] == expected[:3]
    again = packed()
    again.load_state_dict(batches.state_dict())
    assert [plain(batch) for batch in cst.dataset.prefetch_to_device(again, "cpu")] == expected[3:]


def test_a_mix(file: pathlib.Path) -> None:
    def mixed() -> Any:
        return cst.mix([dataset_of(file), dataset_of(file, seed=9)], [3, 1])

    expected = [plain(batch) for batch in mixed().torch()]
    assert len(expected) > 3
    batches = cst.dataset.prefetch_to_device(mixed(), "cpu", 4)
    assert [plain(next(batches)) for _ in range(3)] == expected[:3]
    again = mixed()
    again.load_state_dict(batches.state_dict())
    assert [plain(batch) for batch in cst.dataset.prefetch_to_device(again, "cpu")] == expected[3:]


# Failures, and the end


def test_failures_come_in_order(make_file: MakeFile) -> None:
    data = [record(i) for i in range(40)]
    data[25] = b"\xff\xff"
    path = make_file("bad.tfrecord", data)

    def dataset() -> Any:
        return cst.open(path, schema=SCHEMA).dataset(4)

    def run(batches: Any) -> tuple[list[int], int | None]:
        seen = []
        with pytest.raises(cst.errors.CorruptError) as caught:
            for batch in batches:
                seen += batch["id"].tolist()
        return seen, caught.value.record

    assert run(iter(dataset().torch())) == (list(range(24)), 25)
    assert run(cst.dataset.prefetch_to_device(dataset(), "cpu", 5)) == (list(range(24)), 25)


def test_what_fails_once_goes_on(file: pathlib.Path) -> None:
    calls = itertools.count()

    def fails_once(batch: Any) -> Any:
        if next(calls) == 2:
            raise KeyError("once")
        return batch

    dataset = dataset_of(file, epochs=1)
    expected = ids_of(dataset.torch())
    batches = cst.dataset.prefetch_to_device(dataset.map(fails_once), "cpu", 4)
    assert ids_of(itertools.islice(batches, 2)) == expected[:2]
    with pytest.raises(KeyError, match="once"):
        next(batches)
    assert ids_of(batches) == expected[3:]


def test_an_interrupt_loses_no_batch_that_was_begun() -> None:
    class Source:
        i = -1

        def __iter__(self) -> Source:
            return self

        def __next__(self) -> dict[str, Any]:
            self.i += 1
            if self.i == 3:
                raise KeyboardInterrupt
            if self.i > 5:
                raise StopIteration
            return {"i": torch.tensor([self.i])}

    batches = cst.dataset.prefetch_to_device(Source(), "cpu", 2)
    assert [int(next(batches)["i"]) for _ in range(2)] == [0, 1]
    with pytest.raises(KeyboardInterrupt):
        next(batches)
    assert [int(batch["i"]) for batch in batches] == [2, 4, 5]


def test_close(file: pathlib.Path) -> None:
    iteration = iter(dataset_of(file))
    batches = cst.dataset.prefetch_to_device(iteration, "cpu")
    next(batches)
    batches.close()
    batches.close()
    for one in (batches, iteration):
        with pytest.raises(cst.errors.StateError, match="closed"):
            next(one)


# Processes


def test_not_across_a_fork(file: pathlib.Path) -> None:
    batches = cst.dataset.prefetch_to_device(dataset_of(file), "cpu")
    next(batches)
    child = os.fork()
    if child == 0:
        refused = False
        with contextlib.suppress(BaseException):
            try:
                next(batches)
            except cst.errors.StateError as error:
                refused = "before a fork" in str(error)
        os._exit(0 if refused else 1)
    assert os.waitpid(child, 0)[1] == 0
    next(batches)


class InWorkers(IterableDataset[Any]):  # type: ignore[misc]
    """A loop that moves batches in its workers."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __iter__(self) -> Iterator[Any]:
        worker = get_worker_info()
        part = self.dataset.iterate(worker.id, worker.num_workers)
        return (batch["id"] for batch in cst.dataset.prefetch_to_device(part, "cpu"))


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_in_workers(file: pathlib.Path, context: str) -> None:
    dataset = dataset_of(file)
    loader = DataLoader(
        InWorkers(dataset), batch_size=None, num_workers=2, multiprocessing_context=context
    )
    assert [ids.tolist() for ids in loader] == ids_of(dataset.torch())


# CUDA


class Cuda:
    """Stands in for torch.cuda, and keeps what it is told, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.told: list[Any] = []
        self.streams = ["callers"]
        told, streams = self.told, self.streams

        class Stream:
            def __init__(self, name: Any) -> None:
                self.name = name if isinstance(name, str) else "copies"

            def record_event(self) -> Any:
                told.append(("event", self.name))
                return told[-1]

            def wait_event(self, event: Any) -> None:
                told.append((self.name, "waits for", event))

        @contextlib.contextmanager
        def entered(stream: Any) -> Iterator[None]:
            streams.append(stream.name)
            yield
            streams.pop()

        empty = torch.empty

        def pinned(*size: Any, pin_memory: bool = False, **rest: Any) -> Any:
            if pin_memory:
                told.append(("pin", *size))
            return empty(*size, **rest)

        def to(tensor: Any, device: Any, non_blocking: bool = False) -> Any:
            assert device.type == "cuda"
            told.append(("copy", streams[-1], non_blocking))
            return tensor.clone()

        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "Stream", Stream)
        monkeypatch.setattr(torch.cuda, "stream", entered)
        monkeypatch.setattr(torch.cuda, "current_stream", lambda device: Stream(streams[-1]))
        monkeypatch.setattr(torch, "empty", pinned)
        monkeypatch.setattr(torch.Tensor, "to", to)
        monkeypatch.setattr(
            torch.Tensor, "record_stream", lambda _, s: told.append(("kept for", s.name))
        )


def test_cuda_gets_each_batch_as_one_pinned_block_in_a_stream_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cuda = Cuda(monkeypatch)
    given = [{"a": torch.ones(2), "b": torch.ones(3)}, {"a": torch.zeros(2)}]
    batches = cst.dataset.prefetch_to_device(given, "cuda:0")
    assert plain(next(batches)) == plain(given[0])
    copied = [("copy", "copies", True), ("event", "copies")]
    ended = [("callers", "waits for", ("event", "copies")), ("kept for", "callers")]
    # The second begins before the loop has the first.
    assert cuda.told == [("pin", 128), *copied, ("pin", 64), *copied, *ended]
    cuda.told.clear()
    assert plain(next(batches)) == plain(given[1])
    assert cuda.told == ended
    assert cuda.streams == ["callers"]


@pytest.mark.parametrize("schema", [SCHEMA, RAGGED], ids=["sparse", "ragged"])
@pytest.mark.parametrize("label", [None, "id"])
@pytest.mark.parametrize("jagged", [True, False])
def test_a_dataset_for_cuda(
    file: pathlib.Path,
    schema: str,
    label: str | None,
    jagged: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same batches and states as without the device, one block and one copy for each."""
    expected = list(dataset_of(file, schema, label=label).torch(jagged=jagged))
    cuda = Cuda(monkeypatch)
    dataset = dataset_of(file, schema, label=label)
    found = []
    for item in dataset.torch(jagged=jagged, device="cuda"):
        found.append(item)
        batch = item if label is None else item[0]
        assert dataset.state_dict() == dataset.state_of(batch.position)
    assert plain(found) == plain(expected)
    assert [type(item) for item in found] == [type(item) for item in expected]
    assert sum(t == ("copy", "copies", True) for t in cuda.told) == len(expected)
    assert sum(t[0] == "pin" for t in cuda.told) == len(expected)
    assert not any(t[:2] == ("copy", "callers") for t in cuda.told)


@pytest.mark.filterwarnings("ignore:Sparse CSR")
def test_cuda_and_tensors_that_are_in_no_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are copied where the caller computes."""
    matrix = torch.eye(2).to_sparse_csr()
    cuda = Cuda(monkeypatch)
    made = next(cst.dataset.prefetch_to_device([{"a": matrix, "b": torch.ones(1)}], "cuda"))
    assert cuda.told.count(("copy", "callers", False)) == 1
    assert cuda.told.count(("copy", "copies", True)) == 1
    assert made["a"].to_dense().tolist() == [[1, 0], [0, 1]]


def test_a_block_holds_all_numbers_of_a_batch() -> None:
    """On the host: the views lie in the copy of the block, and change with it."""
    from columnstone._frameworks.torch_block import HostBlock

    strings = cst.tensor.to_torch(cst.struct.constant([b"x", b"yz"]).to_tensor())
    offsets = torch.tensor([0, 2, 3])
    nested = torch.nested.nested_tensor_from_jagged(torch.arange(3.0), offsets)
    item = (
        {
            "numbers": torch.arange(6, dtype=torch.int32).reshape(2, 3),
            "columns": torch.arange(6.0).reshape(2, 3).T,
            "half": torch.ones(3, dtype=torch.bfloat16),
            "flags": torch.tensor([True, False]),
            "none": torch.zeros(0, 2),
            "scalar": torch.tensor(2.5, dtype=torch.float64),
            "numpy": np.arange(3, dtype=np.int16),
            "sparse": torch.eye(2).to_sparse(),
            "nested": nested,
            "parts": cst.tensor.RaggedTensor(torch.arange(3), [offsets]),
            "strings": strings,
            "text": "beside it",
        },
        [torch.tensor([7]), None],
    )
    host = HostBlock(item, pinned=False)
    copy = host.block.clone()
    alone: list[Any] = []
    made = host.unpacked(copy, lambda tensor: alone.append(tensor) or tensor)
    assert alone == []
    assert made[0]["strings"] is strings and made[0]["text"] == "beside it" and made[1][1] is None
    begin, end = copy.data_ptr(), copy.data_ptr() + len(copy)
    for name, given in item[0].items():
        found = made[0][name]
        if not isinstance(given, str) and given is not strings:
            assert plain(found) == plain(given), name
            part = found.values() if name in ("sparse", "nested") else found
            part = part.values if name == "parts" else part
            assert part.numel() == 0 or begin <= part.data_ptr() < end, name
            assert part.data_ptr() % 8 == 0, name
            if isinstance(given, torch.Tensor):
                assert part.dtype == given.dtype, name
    assert made[0]["numpy"].dtype == torch.int16
    assert made[0]["numbers"].is_contiguous() and type(made) is tuple and type(made[1]) is list
    copy.zero_()
    assert made[1][0].tolist() == [0] and made[0]["numbers"].sum() == 0


# Arguments


def test_arguments(file: pathlib.Path) -> None:
    dataset = dataset_of(file)
    with pytest.raises(cst.errors.ArgumentError, match="size is 0"):
        cst.dataset.prefetch_to_device(dataset, "cpu", 0)
    with pytest.raises(TypeError, match=r"jax\.Device"):
        cst.dataset.prefetch_to_device(dataset, 0)
    with pytest.raises(cst.errors.ArgumentError, match="as_batches"):
        cst.dataset.prefetch_to_device(dataset_of(file, as_batches=True), "cpu")
    if not torch.cuda.is_available():
        with pytest.raises(cst.errors.UnsupportedError, match="CUDA is not available"):
            cst.dataset.prefetch_to_device(dataset, "cuda")
        with pytest.raises(cst.errors.UnsupportedError, match="the device cuda:0"):
            dataset.torch(device="cuda:0")


def test_a_dataset_for_a_device(file: pathlib.Path) -> None:
    expected = list(dataset_of(file).torch())
    on_cpu = dataset_of(file).torch(device="cpu")
    assert plain(list(on_cpu)) == plain(expected)
    assert plain(list(DataLoader(on_cpu, batch_size=None))) == plain(expected)
    assert next(iter(dataset_of(file).torch(device=torch.device("meta"))))["id"].is_meta
    assert len(pickle.loads(pickle.dumps(on_cpu))) == len(expected)
    with pytest.raises(cst.errors.StateError, match="was given to workers"):
        next(iter(DataLoader(on_cpu, batch_size=None, num_workers=1)))
