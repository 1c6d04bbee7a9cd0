"""Datasets as JAX and numpy arrays, and rows for Grain."""

from __future__ import annotations

import pathlib
import pickle
import subprocess
import sys
from typing import Any

import columnstone as cst
import numpy as np
import pytest
import wire
from conftest import SCHEMA, MakeFile

RAGGED = SCHEMA + "represent_variable_length_as_ragged: true"


def plain(value: Any) -> Any:
    if isinstance(value, cst.tensor.SparseTensor):
        return [plain(part) for part in (value.indices, value.values, value.dense_shape)]
    if isinstance(value, cst.tensor.RaggedTensor):
        return [plain(value.values), *map(plain, value.row_splits)]
    return np.asarray(value).tolist()


# Batches


@pytest.mark.parametrize("schema", [SCHEMA, RAGGED], ids=["sparse", "ragged"])
@pytest.mark.parametrize("name", ["numpy", "jax"])
def test_the_same_values(file: pathlib.Path, name: str, schema: str) -> None:
    pytest.importorskip(name)
    source = cst.open(file, schema=schema)
    dataset = source.dataset(16, shuffle=True, seed=3, epochs=2)
    arrays = getattr(dataset, name)()
    assert len(arrays) == len(dataset) == 7
    for _ in range(2):  # each iteration is a new one
        for batch, expected in zip(arrays, dataset, strict=True):
            assert batch.position == expected.position
            assert list(batch) == list(expected)
            for tensor in expected:
                assert plain(batch[tensor]) == plain(expected[tensor])


NUMBERS = """
feature { name: "id" type: INT shape { } presence { min_fraction: 1 } }
feature { name: "pair" type: FLOAT shape { dim { size: 2 } } presence { min_fraction: 1 } }
feature { name: "steps" type: INT }
"""


@pytest.mark.parametrize("more", ["", "represent_variable_length_as_ragged: true"])
def test_batches_are_pytrees(file: pathlib.Path, more: str) -> None:
    jax = pytest.importorskip("jax")
    dataset = cst.open(file, schema=NUMBERS + more).dataset(10)
    compiled = []

    @jax.jit
    def total(batch: Any) -> Any:
        compiled.append(type(batch))
        return {**batch, "sum": batch["id"].sum() + batch["steps"].values.sum()}

    for batch in dataset.jax():
        made = total(batch)
        assert int(made["sum"]) == int(batch["id"].sum() + batch["steps"].values.sum())
        assert type(made["steps"]) is type(batch["steps"])
        leaves, tree = jax.tree.flatten(batch)
        assert all(isinstance(leaf, jax.Array) for leaf in leaves)
        again = jax.tree.unflatten(tree, leaves)
        assert isinstance(again, type(batch)) and again.position is None
        assert {name: plain(tensor) for name, tensor in again.items()} == {
            name: plain(tensor) for name, tensor in batch.items()
        }
    assert len(compiled) < 6  # once for each shape, not for each batch
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(batch)]
    assert "['id']" in paths and any(path.startswith("['steps'].values") for path in paths)


def test_few_shapes(tmp_path: pathlib.Path) -> None:
    """Forty batches whose longest rows differ are compiled once for each size of the padding."""
    jax = pytest.importorskip("jax")
    rows = [{"steps": list(range((i * 37) % 120))} for i in range(325)]
    cst.write(rows, tmp_path / "x.tfrecord")
    source = cst.open(tmp_path / "x.tfrecord")
    shapes: set[Any] = set()

    @jax.jit
    def total(batch: Any) -> Any:
        shapes.add(batch["steps"].shape)
        return batch["steps"].sum()

    dataset = source.dataset(8, drop_last=True, pad={"steps": (0, [32, 64, 128])})
    totals = [int(total(batch)) for batch in dataset.jax()]
    assert len(totals) == 40 and shapes <= {(8, 32), (8, 64), (8, 128)}
    expected = [sum(n for row in rows[i : i + 8] for n in row["steps"]) for i in range(0, 320, 8)]
    assert totals == expected


def test_pytrees_of_numpy_batches(file: pathlib.Path) -> None:
    """Whichever of the two is imported first; columnstone alone does not import JAX."""
    pytest.importorskip("jax")
    code = (
        "import sys, columnstone as cst\n"
        "if sys.argv[3] == 'jax first': import jax\n"
        "assert ('jax' in sys.modules) == (sys.argv[3] == 'jax first')\n"
        "source = cst.open(sys.argv[1], schema=sys.argv[2])\n"
        "if sys.argv[3] != 'jax first': import jax\n"
        "batch = next(iter(source.dataset(10).numpy()))\n"
        "assert jax.jit(lambda b: b['id'].sum())(batch) == 45\n"
    )
    for order in ("jax first", "jax last"):
        subprocess.run([sys.executable, "-c", code, str(file), NUMBERS, order], check=True)


def test_jax_arrays(file: pathlib.Path) -> None:
    jax = pytest.importorskip("jax")
    dataset = cst.open(file, schema=SCHEMA).dataset(16, label="id")
    features, label = next(iter(dataset.jax()))
    assert isinstance(label, jax.Array) and label.dtype == "int32"
    assert isinstance(features["pair"], jax.Array) and features["pair"].dtype == "float32"
    assert isinstance(features["steps"].values, jax.Array)
    assert features["tags"].values.dtype == object
    total = jax.jit(lambda pair, ids: (pair[:, 0] - ids).sum())(features["pair"], label)
    assert float(total) == 8.0
    sliced = next(iter(cst.open(file, schema=SCHEMA)[3:].dataset(5).jax()))  # unaligned memory
    assert np.asarray(sliced["pair"])[0].tolist() == [3.5, -3.0]


def test_jax_shares_the_memory(file: pathlib.Path) -> None:
    pytest.importorskip("jax")
    tensors = next(iter(cst.open(file, schema=SCHEMA).tensors()))
    pair = cst.tensor.to_jax(tensors["pair"])
    assert pair.unsafe_buffer_pointer() == tensors["pair"].numpy().ctypes.data
    del tensors
    assert np.asarray(pair)[99].tolist() == [99.5, -99.0]


def test_jax_loses_no_integers(make_file: MakeFile) -> None:
    jax = pytest.importorskip("jax")
    schema = 'feature { name: "id" type: INT shape { } presence { min_fraction: 1 } }'
    path = make_file("d.tfrecord", [wire.example({"id": [i]}) for i in (1, 2**31)])
    source = cst.open(path, schema=schema)
    with pytest.raises(cst.errors.UnsupportedError, match="jax_enable_x64"):
        list(source.dataset().jax())
    with jax.enable_x64(True):
        (batch,) = source.dataset().jax()
        assert batch["id"].dtype == "int64"
        assert batch["id"].tolist() == [1, 2**31]


def test_numpy_arrays(file: pathlib.Path) -> None:
    dataset = cst.open(file, schema=RAGGED).dataset(16, label="pair")
    features, label = next(iter(dataset.numpy()))
    assert isinstance(features, cst.dataset.Batch)
    assert label.shape == (16, 2)
    assert isinstance(features["steps"].values, np.ndarray)
    assert features["steps"].to_list()[:4] == [[], [0], [0, 1], [0, 1, 2]]
    assert features["tags"].values[0] == b"tag0"
    with pytest.raises(cst.errors.ArgumentError):
        cst.open(file).dataset(as_batches=True).numpy()


def test_going_on(file: pathlib.Path) -> None:
    dataset = cst.open(file, schema=SCHEMA).dataset(16, shuffle=True)
    whole = [batch["id"].tolist() for batch in dataset.numpy()]
    running = iter(dataset.numpy())
    taken = [next(running)["id"].tolist() for _ in range(3)]
    state = dataset.state_dict()
    again = cst.open(file, schema=SCHEMA).dataset(16, shuffle=True)
    again.load_state_dict(state)
    assert taken + [batch["id"].tolist() for batch in again.numpy()] == whole


@pytest.mark.parametrize("name", ["jax", "tensorflow"])
def test_what_is_missing_is_said(file: pathlib.Path, name: str) -> None:
    code = (
        "import sys, columnstone as cst\n"
        "sys.modules[sys.argv[2]] = None\n"
        "dataset = cst.open(sys.argv[1]).dataset(10)\n"
        "try:\n    dataset.jax() if sys.argv[2] == 'jax' else dataset.tf()\n"
        "except cst.errors.UnsupportedError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(file), name], capture_output=True, text=True, check=True
    )
    assert f"columnstone[{name}]" in done.stdout


# Rows for Grain


def test_rows(file: pathlib.Path) -> None:
    rows = cst.open(file, schema=SCHEMA).grain()
    assert len(rows) == 100
    row = rows[14]
    assert list(row) == ["id", "pair", "steps", "tags"]
    assert row["id"] == 14 and row["id"].dtype == "int64"
    assert row["pair"].tolist() == [14.5, -14.0]
    assert row["steps"].tolist() == [0, 1]
    assert row["tags"].tolist() == [b"tag0", b"tag1", b"tag2", b"tag3"]
    assert [r["id"] for r in rows.__getitems__([99, 3])] == [99, 3]
    assert [r["id"] for r in rows[97:]] == [97, 98, 99]
    assert pickle.loads(pickle.dumps(rows))[-1]["id"] == 99
    for wrong in (100, -101):
        with pytest.raises(IndexError):
            rows[wrong]
    features, label = cst.open(file, schema=SCHEMA).grain(label="id")[7]
    assert label == 7 and "id" not in features


def test_rows_of_every_kind(make_file: MakeFile) -> None:
    schema = """
      feature { name: "v" type: INT }
      feature { name: "n" type: INT }
      feature { name: "i" type: INT int_domain { min: 0 max: 9 } }
      feature { name: "w" type: FLOAT }
      sparse_feature { name: "s" index_feature { name: "i" } value_feature { name: "w" } }
      tensor_representation_group { key: "" value { tensor_representation { key: "deep" value {
        ragged_tensor { feature_path { step: "v" } partition { row_length: "n" } } } } } }
    """
    records = [
        wire.example({"v": [1, 2, 3], "n": [1, 0, 2], "i": [7, 3], "w": [0.5, 2.5]}),
        wire.example({}),
        wire.example({"v": [4], "n": [0, 1]}),
    ]
    rows = cst.open(make_file("d.tfrecord", records), schema=schema).grain()
    for fetched in (list(rows), list(rows.__getitems__([0, 1, 2]))):
        assert [row["deep"].to_list() for row in fetched] == [[[1], [], [2, 3]], [], [[], [4]]]
        assert fetched[0]["s"].indices.tolist() == [[3], [7]]
        assert fetched[0]["s"].values.tolist() == [2.5, 0.5]
        assert fetched[0]["s"].shape == (10,)
        assert len(fetched[2]["s"].values) == 0


def test_padded_rows(file: pathlib.Path) -> None:
    rows = cst.open(file, schema=SCHEMA).grain(pad={"steps": (-1, 3), "tags": (b"", 2)})
    row = rows[0]
    assert row["steps"].tolist() == [-1, -1, -1]
    with pytest.raises(cst.errors.SchemaError):
        rows[14]  # four tags


@pytest.mark.parametrize("workers", [0, 2])
def test_grain_loader(file: pathlib.Path, workers: int) -> None:
    grain = pytest.importorskip("grain")
    pytest.importorskip("absl.flags").FLAGS.mark_as_parsed()  # Grain's workers look at them
    rows = cst.open(file, schema=SCHEMA, columns=["id", "pair"]).grain()
    sampler = grain.samplers.IndexSampler(len(rows), shuffle=True, seed=3, num_epochs=1)
    loader = grain.DataLoader(
        data_source=rows,
        sampler=sampler,
        operations=[grain.transforms.Batch(10)],
        worker_count=workers,
    )
    batches = list(loader)
    assert [batch["pair"].shape for batch in batches] == [(10, 2)] * 10
    ids = [i for batch in batches for i in batch["id"].tolist()]
    assert sorted(ids) == list(range(100)) != ids


def test_grain_dataset(file: pathlib.Path) -> None:
    grain = pytest.importorskip("grain")
    rows = cst.open(file, schema=SCHEMA).grain(pad={"steps": (0, 3), "tags": (b"", 5)})
    dataset = grain.MapDataset.source(rows).shuffle(seed=5)[:50].batch(25)
    first, second = dataset[0], dataset[1]
    assert first["steps"].shape == (25, 3)
    ids = [*first["id"].tolist(), *second["id"].tolist()]
    assert len(set(ids)) == 50 and ids != sorted(ids)
    assert first["pair"][:, 1].tolist() == [-float(i) for i in first["id"]]
