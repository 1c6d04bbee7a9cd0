"""Datasets in PyTorch: loaders with any number of workers, states, conversions, rows by number."""

from __future__ import annotations

import copy
import os
import pathlib
import pickle
import random
import subprocess
import sys
import warnings
from typing import Any

import columnstone as cst
import numpy as np
import pytest
import wire
from conftest import SCHEMA, MakeFile

torch = pytest.importorskip("torch")
from torch.utils.data import BatchSampler, DataLoader, RandomSampler  # noqa: E402

pytestmark = [
    # of torch: more workers than cores, pinning without an accelerator, what torchdata calls
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:'pin_memory' argument is set as true"),
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated"),
]
RAGGED = SCHEMA + "represent_variable_length_as_ragged: true"
FIELDS = ["id", "pair", "steps", "tags"]


def dataset_of(path: object, schema: str = SCHEMA, **options: Any) -> Any:
    options = {"batch_size": 16, "shuffle": True, "seed": 3, **options}
    return cst.open(path, schema=schema).dataset(**options)  # type: ignore[arg-type]


def ids_of(batches: Any) -> list[list[int]]:
    return [batch["id"].tolist() for batch in batches]


def flat(lists: list[list[int]]) -> list[int]:
    return [i for one in lists for i in one]


def plain(value: Any) -> Any:
    """Any tensor, of ours or of a framework, as lists."""
    if isinstance(value, cst.tensor.SparseTensor):
        return [plain(value.indices), plain(value.values), plain(value.dense_shape)]
    if isinstance(value, cst.tensor.RaggedTensor):
        return [plain(value.values), *map(plain, value.row_splits)]
    if isinstance(value, torch.Tensor) and value.is_nested:
        return [value.values().tolist(), value.offsets().tolist()]
    if isinstance(value, torch.Tensor) and value.is_sparse:
        return [value.indices().T.tolist(), value.values().tolist(), list(value.shape)]
    return value.tolist()


# Loaders


@pytest.mark.parametrize("schema", [SCHEMA, RAGGED], ids=["sparse", "ragged"])
@pytest.mark.parametrize("pin_memory", [False, True])
@pytest.mark.parametrize("num_workers", [0, 1, 2, 4])
def test_the_same_batches_for_any_number_of_workers(
    file: pathlib.Path, num_workers: int, pin_memory: bool, schema: str
) -> None:
    dataset = dataset_of(file, schema, epochs=2)
    loader = DataLoader(
        dataset.torch(), batch_size=None, num_workers=num_workers, pin_memory=pin_memory
    )
    for batch, expected in zip(loader, dataset, strict=True):
        assert isinstance(batch, cst.dataset.Batch)
        assert batch.position == expected.position
        assert list(batch) == FIELDS
        assert [plain(batch[name]) for name in FIELDS] == [plain(expected[n]) for n in FIELDS]


@pytest.mark.parametrize("num_workers", [0, 2, 4])
@pytest.mark.parametrize("name", ["data.tfrecord.gz", "data.tfrecord"])
def test_nothing_is_lost_or_doubled(make_file: MakeFile, name: str, num_workers: int) -> None:
    dataset = dataset_of(make_file(name, 1003), epochs=3, batch_size=32)
    ids = ids_of(DataLoader(dataset.torch(), batch_size=None, num_workers=num_workers))
    assert [len(batch) for batch in ids] == ([32] * 31 + [11]) * 3
    epochs = [sorted(flat(ids[i : i + 32])) for i in range(0, 96, 32)]
    assert epochs == [list(range(1003))] * 3
    assert ids == ids_of(dataset)


def test_shards_with_workers(make_file: MakeFile) -> None:
    path = make_file("data.tfrecord", 500)
    found = []
    for shard in range(3):
        dataset = dataset_of(path, shard=(shard, 3))
        found += ids_of(DataLoader(dataset.torch(), batch_size=None, num_workers=2))
    assert sorted(flat(found)) == list(range(500))


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_workers_beside_a_running_iteration(file: pathlib.Path, context: str) -> None:
    """A fork inherits a dataset whose threads are at work in the parent."""
    dataset = dataset_of(file, epochs=4, threads=2, prefetch=4)
    running = iter(dataset)
    begun = ids_of([next(running), next(running)])
    loader = DataLoader(
        dataset.torch(), batch_size=None, num_workers=2, multiprocessing_context=context
    )
    assert ids_of(loader) == begun + ids_of(running) == ids_of(dataset)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_label(file: pathlib.Path, num_workers: int) -> None:
    dataset = dataset_of(file, label="id")
    loader = DataLoader(dataset.torch(), batch_size=None, num_workers=num_workers)
    for (features, label), (expected, ids) in zip(loader, dataset, strict=True):
        assert list(features) == FIELDS[1:]
        assert features.position == expected.position
        assert label.tolist() == ids.tolist()


@pytest.mark.parametrize("num_workers", [0, 2])
def test_label_of_strings(make_file: MakeFile, num_workers: int) -> None:
    schema = 'feature { name: "s" type: BYTES shape { } presence { min_fraction: 1 } }'
    path = make_file("d.tfrecord", [wire.example({"s": [b"%d" % i * i]}) for i in range(10)])
    dataset = dataset_of(path, schema, label="s", batch_size=5, shuffle=False)
    loader = DataLoader(dataset.torch(), batch_size=None, num_workers=num_workers)
    assert [label.tolist() for _, label in loader] == [
        [b"%d" % i * i for i in range(5)],
        [b"%d" % i * i for i in range(5, 10)],
    ]


def test_persistent_workers_begin_again(file: pathlib.Path) -> None:
    dataset = dataset_of(file)
    loader = DataLoader(dataset.torch(), batch_size=None, num_workers=2, persistent_workers=True)
    assert ids_of(loader) == ids_of(loader) == ids_of(dataset)


def test_set_epoch(file: pathlib.Path) -> None:
    """For loops that make one iteration of the loader per epoch."""
    whole = ids_of(dataset_of(file, epochs=3))
    data = dataset_of(file, epochs=1).torch()
    loader = DataLoader(data, batch_size=None, num_workers=2)
    found = []
    for epoch in range(3):
        data.set_epoch(epoch)
        found += ids_of(loader)
    assert found == whole


def test_length(file: pathlib.Path, make_file: MakeFile) -> None:
    data = dataset_of(file, epochs=2).torch()
    assert len(data) == len(DataLoader(data, batch_size=None)) == 14
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(DataLoader(data, batch_size=None))) == 14
    with pytest.raises(TypeError):
        len(dataset_of(file, epochs=None).torch())
    with pytest.raises(TypeError):
        len(dataset_of(make_file("x.gz", 5)).torch())


def test_errors_come_through_workers(make_file: MakeFile) -> None:
    path = make_file("d.tfrecord", [wire.example({"id": [i] if i != 7 else []}) for i in range(20)])
    schema = 'feature { name: "id" type: INT shape { } presence { min_fraction: 1 } }'
    dataset = dataset_of(path, schema, shuffle=False, batch_size=5)
    loader = DataLoader(dataset.torch(), batch_size=None, num_workers=2)
    with pytest.raises(cst.errors.SchemaError, match="id"):
        list(loader)


def test_batches_of_records_are_refused(file: pathlib.Path) -> None:
    with pytest.raises(cst.errors.ArgumentError):
        dataset_of(file, as_batches=True).torch()


def test_rank_correlation(make_file: MakeFile) -> None:
    """With an index the order says nothing about the file's."""
    path = make_file("data.tfrecord", 20_000)
    cst.source.Index.build(path)
    dataset = dataset_of(path, batch_size=512, shuffle="global")
    batches = DataLoader(dataset.torch(), batch_size=None, num_workers=2)
    ids = np.concatenate([batch["id"].numpy() for batch in batches])
    assert abs(np.corrcoef(np.arange(len(ids)), ids)[0, 1]) < 0.05
    places = np.argsort(ids)
    neighbours = np.abs(np.diff(places))
    assert np.median(neighbours) > 2000  # a third of the rows is expected


# Tensors


def test_no_copy_and_no_warning(file: pathlib.Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = next(iter(cst.open(file, schema=RAGGED).tensors()))
        theirs = cst.tensor.to_torch(ours)
        for name in ("id", "pair"):
            address = ours[name].numpy().__array_interface__["data"][0]
            assert theirs[name].data_ptr() == address
        steps = ours["steps"]
        assert theirs["steps"].values().data_ptr() == steps.values.numpy().ctypes.data
        assert theirs["steps"].offsets().data_ptr() == steps.row_splits[0].numpy().ctypes.data


def test_ragged_to_nested(file: pathlib.Path) -> None:
    ours = next(iter(cst.open(file, schema=RAGGED).tensors()))
    nested = cst.tensor.to_torch(ours["steps"])
    assert nested.layout == torch.jagged
    assert [row.tolist() for row in nested.unbind()] == ours["steps"].to_list()
    assert nested.to_padded_tensor(-1).shape == (100, 3)
    strings = cst.tensor.to_torch(ours["tags"])
    assert isinstance(strings, cst.tensor.RaggedTensor)
    assert strings.to_list() == ours["tags"].to_list()


DEEP = """
feature { name: "v" type: FLOAT }
feature { name: "n" type: INT }
feature { name: "i" type: INT int_domain { min: 0 max: 9 } }
sparse_feature { name: "s" index_feature { name: "i" } value_feature { name: "w" } }
feature { name: "w" type: FLOAT }
tensor_representation_group { key: "" value {
  tensor_representation { key: "deep" value { ragged_tensor {
    feature_path { step: "v" } partition { row_length: "n" } } } }
  tensor_representation { key: "pairs" value { ragged_tensor {
    feature_path { step: "v" } partition { uniform_row_length: 2 } row_partition_dtype: INT32 } } }
  tensor_representation { key: "s" value { sparse_tensor {
    index_column_names: "i" value_column_name: "w" dense_shape { dim { size: -1 } } } } }
} }
"""


@pytest.mark.parametrize("num_workers", [0, 2])
def test_deep_and_sparse(make_file: MakeFile, num_workers: int) -> None:
    records = [
        wire.example({"v": [1.5] * 4, "n": [1, 3], "i": [7, 3], "w": [0.5, 2.5]}),
        wire.example({}),
        wire.example({"v": [2.5] * 2, "n": [0, 2, 0], "i": [3, 3], "w": [1.0, 2.0]}),
    ]
    path = make_file("d.tfrecord", records)
    dataset = dataset_of(path, DEEP, shuffle=False, batch_size=2)
    loader = DataLoader(dataset.torch(), batch_size=None, num_workers=num_workers)
    first, second = list(loader)
    deep = first["deep"]
    assert isinstance(deep, cst.tensor.RaggedTensor) and isinstance(deep.values, torch.Tensor)
    assert deep.to_list() == [[[1.5], [1.5] * 3], []]
    assert second["deep"].to_list() == [[[], [2.5] * 2, []]]
    assert first["pairs"].shape[0] == 2 and first["pairs"].shape[2] == 2
    assert [row.tolist() for row in first["pairs"].unbind()] == [[[1.5] * 2] * 2, []]
    assert first["s"].is_coalesced()
    assert first["s"].to_dense().tolist() == [[0, 0, 0, 2.5, 0, 0, 0, 0.5], [0] * 8]
    assert not second["s"].is_coalesced()  # an index that comes twice
    assert second["s"].to_dense().tolist() == [[0, 0, 0, 3.0]]


def test_a_batch_pickles_and_copies(file: pathlib.Path) -> None:
    batch = next(iter(dataset_of(file, RAGGED).torch()))
    for made in (pickle.loads(pickle.dumps(batch)), copy.copy(batch), copy.deepcopy(batch)):
        assert type(made) is type(batch)
        assert made.position == batch.position
        assert [plain(made[name]) for name in FIELDS] == [plain(batch[name]) for name in FIELDS]


def test_strings(file: pathlib.Path) -> None:
    """They become bytes objects when they are asked for, on both sides of a worker's pipe."""
    (ours,) = cst.open(file, schema=RAGGED).tensors()
    strings = cst.tensor.to_torch(ours["tags"]).values
    for one in (strings, pickle.loads(pickle.dumps(strings))):
        expected = ours["tags"].values.tolist()
        assert (one.shape, one.dtype, len(one)) == ((len(expected),), "bytes", len(expected))
        assert one.tolist() == list(one) == np.asarray(one).tolist() == expected
        assert one.numpy() is one.numpy()
        assert one[1] == expected[1]
        assert "StringTensor" in repr(one)


def test_large_batches_take_shared_memory(make_file: MakeFile) -> None:
    """What a pipe is not the best way for."""
    schema = """feature { name: "x" type: FLOAT shape { dim { size: 20000 } }
                          presence { min_fraction: 1 } }
                feature { name: "s" type: BYTES }"""
    values = np.arange(20000, dtype=np.float32)
    records = [
        wire.example({"x": (values + i).tolist(), "s": [b"%d" % i * 1000]}) for i in range(40)
    ]
    dataset = dataset_of(make_file("d.tfrecord", records), schema, shuffle=False, batch_size=20)
    for k, batch in enumerate(DataLoader(dataset.torch(), batch_size=None, num_workers=2)):
        assert batch["x"].untyped_storage().nbytes() == batch["x"].nbytes  # pickles without others
        assert batch["x"][:, 1].tolist() == [1.0 + 20 * k + i for i in range(20)]
        assert batch["s"].values[3] == b"%d" % (20 * k + 3) * 1000


# States


@pytest.mark.parametrize("before", [0, 2])
@pytest.mark.parametrize("after", [0, 1, 4])
def test_going_on_with_a_plain_loader(
    make_file: MakeFile, tmp_path: pathlib.Path, before: int, after: int
) -> None:
    path = make_file("data.tfrecord", 300)
    dataset = dataset_of(path, epochs=2)
    whole = ids_of(dataset)
    for stop in (1, 19, 20, 37):
        loader = iter(DataLoader(dataset.torch(), batch_size=None, num_workers=before))
        taken = [next(loader) for _ in range(stop)]
        torch.save(dataset.state_of(taken[-1].position), tmp_path / "state")
        again = dataset_of(path, epochs=2)
        again.load_state_dict(torch.load(tmp_path / "state"))
        rest = DataLoader(again.torch(), batch_size=None, num_workers=after)
        assert ids_of(taken) + ids_of(rest) == whole
        counted = dataset_of(path, epochs=2, consumed=stop)
        rest = DataLoader(counted.torch(), batch_size=None, num_workers=after)
        assert ids_of(taken) + ids_of(rest) == whole


@pytest.mark.parametrize("workers", [(0, 0), (2, 2), (0, 3), (2, 0), (3, 2)])
@pytest.mark.parametrize("name", ["data.tfrecord", "data.tfrecord.gz"])
def test_going_on_with_a_stateful_loader(
    make_file: MakeFile, workers: tuple[int, int], name: str
) -> None:
    loaders = pytest.importorskip("torchdata.stateful_dataloader")
    path = make_file(name, 300)
    dataset = dataset_of(path, epochs=2)
    whole = ids_of(dataset)
    before, after = workers
    for stop in (0, 2, 19, 37):
        loader = loaders.StatefulDataLoader(dataset.torch(), batch_size=None, num_workers=before)
        running = iter(loader)
        taken = ids_of(next(running) for _ in range(stop))
        state = pickle.loads(pickle.dumps(loader.state_dict()))
        data = dataset_of(path, epochs=2).torch()
        rest = loaders.StatefulDataLoader(data, batch_size=None, num_workers=after)
        if before == after:
            rest.load_state_dict(state)
        else:
            data.load_state_dict(state)
        found = ids_of(rest)
        assert taken + found == whole, stop


def test_a_state_that_lags_behind(file: pathlib.Path) -> None:
    loaders = pytest.importorskip("torchdata.stateful_dataloader")
    dataset = dataset_of(file)
    loader = loaders.StatefulDataLoader(
        dataset.torch(), batch_size=None, num_workers=2, snapshot_every_n_steps=3
    )
    running = iter(loader)
    taken = ids_of(next(running) for _ in range(5))
    state = loader.state_dict()
    with pytest.raises(cst.errors.StateError, match="snapshot_every_n_steps"):
        dataset_of(file).torch().load_state_dict(state)
    same = loaders.StatefulDataLoader(
        dataset_of(file).torch(), batch_size=None, num_workers=2, snapshot_every_n_steps=3
    )
    same.load_state_dict(state)
    assert taken + ids_of(same) == ids_of(dataset_of(file))
    with pytest.raises(cst.errors.StateError):
        dataset.torch().load_state_dict({})
    with pytest.raises(cst.errors.StateError, match="seed"):
        dataset_of(file, seed=4).torch().load_state_dict(dataset.state_dict())


LOOP = pathlib.Path(__file__).parent / "train_until_killed.py"


@pytest.mark.parametrize("kind", ["plain", "stateful"])
@pytest.mark.parametrize("name", ["data.tfrecord", "data.tfrecord.gz"])
def test_killed_and_begun_again(make_file: MakeFile, kind: str, name: str) -> None:
    """SIGKILL after a random delivered batch, then another number of workers, until the end."""
    pytest.importorskip("torchdata.stateful_dataloader")
    path = make_file(name, 700)
    state = path.with_name("state.pickle")
    whole = ids_of(dataset_of(path, epochs=2))
    dice = random.Random(f"{kind} {name}")
    workers = [2, 0, 3, 1]
    taken: list[list[int]] = []
    while len(taken) < len(whole):
        command = [sys.executable, str(LOOP), kind, str(path), SCHEMA, str(state)]
        command.append(str(workers[0]))
        workers = workers[1:] + workers[:1]
        more = until_killed(command, dice.randrange(8, 40))
        assert more  # else it has failed, and would for ever
        taken += more
    assert taken == whole


def until_killed(command: list[str], batches: int) -> list[list[int]]:
    """What a loop delivers before it is killed after so many batches."""
    taken: list[list[int]] = []
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        while len(taken) < batches and (line := process.stdout.readline()):
            taken.append([int(i) for i in line.split()])
            if len(taken) < batches:
                process.stdin.write("\n")
                process.stdin.flush()
        process.kill()
    return taken


# Rows by number


@pytest.mark.parametrize("num_workers", [0, 2])
def test_rows_with_a_sampler(file: pathlib.Path, num_workers: int) -> None:
    source = cst.open(file, schema=RAGGED)
    rows = source.torch_map()
    assert len(rows) == 100
    order = [7, 3, 99, 3, 0]
    loader = DataLoader(
        rows,
        batch_size=2,
        sampler=order,  # type: ignore[arg-type]
        collate_fn=rows.collate,
        num_workers=num_workers,
    )
    expected = cst.open(source.take(order), schema=RAGGED, batch_size=2).tensors()
    for batch, tensors in zip(loader, expected, strict=True):
        assert [plain(batch[name]) for name in FIELDS] == [plain(tensors[n]) for n in FIELDS]


def test_one_row(file: pathlib.Path) -> None:
    rows = cst.open(file, schema=SCHEMA).torch_map()
    row = rows[14]
    assert {name: plain(row[name]) for name in FIELDS} == {
        "id": 14,
        "pair": [14.5, -14.0],
        "steps": [0, 1],
        "tags": [b"tag0", b"tag1", b"tag2", b"tag3"],
    }
    assert rows[-1]["id"] == 99
    assert [int(row["id"]) for row in rows.__getitems__([5, 2])] == [5, 2]
    with pytest.raises(IndexError):
        rows[100]
    assert int(pickle.loads(pickle.dumps(rows))[3]["id"]) == 3


def test_the_default_collate(file: pathlib.Path) -> None:
    """It does for dense tensors, which padding makes of all."""
    source = cst.open(file, schema=SCHEMA, columns=["id", "pair", "steps"])
    rows = source.torch_map(label="id", pad={"steps": (-1, 3)})
    loader = DataLoader(rows, batch_sampler=BatchSampler(RandomSampler(rows), 30, False))
    ids = []
    for features, label in loader:
        ids += label.tolist()
        assert features["pair"][:, 1].tolist() == [-float(i) for i in label]
        assert features["steps"].tolist() == [
            [k if k < i % 4 else -1 for k in range(3)] for i in label.tolist()
        ]
    assert sorted(ids) == list(range(100)) != ids
    with pytest.raises(cst.errors.NotFoundError):
        source.torch_map(label="none")


def test_rows_need_random_access(make_file: MakeFile) -> None:
    with pytest.raises(cst.errors.UnsupportedError):
        cst.open(make_file("x.tfrecord.gz", 5), schema=SCHEMA).torch_map()


def test_torch_is_loaded_when_it_is_needed(file: pathlib.Path) -> None:
    code = (
        "import sys\nimport columnstone as cst\n"
        "dataset = cst.open(sys.argv[1], schema=sys.argv[2]).dataset(10)\n"
        "assert len(list(dataset)) == 10\n"
        "assert not {'torch', 'jax', 'numpy', 'tensorflow'} & set(sys.modules)\n"
        "sys.modules['torch'] = None\n"
        "try:\n    dataset.torch()\n"
        "except cst.errors.UnsupportedError as error:\n"
        "    assert 'columnstone[torch]' in str(error)\n"
        "else:\n    raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", code, str(file), SCHEMA], check=True)


# The example


def test_the_example(tmp_path: pathlib.Path) -> None:
    """Stopped in the middle, it comes to the same numbers as in one go."""
    program = pathlib.Path(__file__).parents[2] / "examples" / "train_torch.py"

    def train(folder: str, *arguments: str) -> str:
        command = [sys.executable, str(program), "--folder", str(tmp_path / folder)]
        command += ["--trips", "3000", *arguments]
        env = {**os.environ, "OMP_NUM_THREADS": "1"}  # sums do not depend on the machine
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()[-1]

    whole = train("whole", "--workers", "0")
    assert whole.startswith("done: 18 steps")
    train("stopped", "--workers", "2", "--stop-after", "8")
    assert train("stopped", "--workers", "1") == whole


# What DataLoaders are wrongly given


@pytest.mark.parametrize("label", [None, "id"])
@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("size", [{}, {"batch_size": 32}])
def test_batches_are_not_stacked(
    file: pathlib.Path, size: dict[str, int], workers: int, label: str | None
) -> None:
    loader = DataLoader(dataset_of(file, label=label).torch(), num_workers=workers, **size)
    with pytest.raises(cst.errors.ArgumentError, match=r"ds.torch\(\), batch_size=None"):
        next(iter(loader))


def test_a_dataset_is_no_torch_dataset(file: pathlib.Path) -> None:
    dataset = dataset_of(file)
    for given in (dataset, dataset.numpy()):
        with pytest.raises(TypeError, match=r"DataLoader\(ds.torch\(\), batch_size=None\)"):
            next(iter(DataLoader(given)))
    table = cst.open(cst.record_batch({"x": np.array([1, 2])})).dataset(1)
    with pytest.raises(TypeError, match=r"ds.torch\(\), and batch_size=None"):
        next(iter(DataLoader(table)))


@pytest.mark.parametrize("label", [None, "id"])
@pytest.mark.parametrize("num_workers", [0, 2])
def test_rows_of_several_sources(
    tmp_path: pathlib.Path, label: str | None, num_workers: int
) -> None:
    """A ConcatDataset asks for rows one by one."""
    parts = []
    for i in range(2):
        cst.write({"id": [[5 * i + k] for k in range(5)]}, tmp_path / f"{i}.tfrecord")
        parts.append(cst.open(tmp_path / f"{i}.tfrecord").torch_map(label=label))
    rows = torch.utils.data.ConcatDataset(parts)
    loader = DataLoader(rows, 4, num_workers=num_workers, collate_fn=parts[0].collate)
    found = [batch[1] if label else batch["id"] for batch in loader]
    assert [part.to_dense().flatten().tolist() for part in found] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9],
    ]
    with pytest.raises(cst.errors.ArgumentError, match="rows of torch_map"):
        parts[0].collate([{"id": 1}])
