"""Jagged tensors of one list have one tensor of offsets: torch adds no others."""

from __future__ import annotations

import copy
import pathlib
import pickle
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader  # noqa: E402

ROWS = [[{"a": i + k, "b": i - k / 2} for k in range(i % 4)] for i in range(50)]
QUERY = """from table
output a = ragged(event.a)
output b = ragged(event.b)
output other = ragged(other)
output label = ragged(event.a)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("offsets") / "rows.parquet"
    other = [[i] * (i % 3) for i in range(50)]
    cst.write(pa.table({"event": ROWS, "other": other}), path)
    return path


def dataset_of(path: pathlib.Path, **options: Any) -> cst.Dataset:
    source = cst.open(path, view=cst.Query.from_text(QUERY))
    return source.dataset(7, shuffle=True, seed=1, **options)


def check(batch: Any, label: Any = None) -> None:
    a, b = batch["a"], batch["b"]
    assert a.layout == torch.jagged and a.offsets() is b.offsets()
    assert (a * 1.0 + b).values().tolist() == (a.values() + b.values()).tolist()
    label = batch["label"] if label is None else label
    assert (label - a).values().tolist() == [0] * len(a.values())
    assert batch["other"].offsets() is not a.offsets()
    assert [len(row) for row in batch["other"].unbind()] != [len(row) for row in a.unbind()]


def same(batch: Any) -> Any:
    return {**batch, "sum": batch["a"] + batch["b"]}


def test_batches(path: pathlib.Path) -> None:
    for batch in dataset_of(path).torch():
        check(batch)
        check(copy.copy(batch))
        check(pickle.loads(pickle.dumps(batch)))
    for batch, label in dataset_of(path, label="label").torch():
        check(batch, label)
    for batch in dataset_of(path):
        check(cst.tensor.to_torch(batch))
    rows = pa.table({"event": pa.array(ROWS)})
    parts = next(cst.open(rows).structured())["event"]
    fields = cst.tensor.to_torch(parts)
    assert fields["a"].offsets() is fields["b"].offsets()


@pytest.mark.parametrize("method", [None, "fork", "spawn"])
@pytest.mark.parametrize("label", [None, "label"])
@pytest.mark.parametrize("mapped", [False, True])
def test_workers(path: pathlib.Path, method: str | None, label: str | None, mapped: bool) -> None:
    dataset = dataset_of(path, label=label)
    if mapped:
        dataset = dataset.map(same)
    data = dataset.torch()
    workers = 0 if method is None else 2
    loader = DataLoader(data, batch_size=None, num_workers=workers, multiprocessing_context=method)
    count = 0
    for item in loader:
        batch, own = item if label else (item, None)
        check(batch, own)
        if mapped:
            assert batch["sum"].offsets() is batch["a"].offsets()
        count += 1
    assert count == 8


def test_rows_that_were_fetched_together(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rows.tfrecord"
    lists = [[float(k) for k in range(i % 4)] for i in range(20)]
    cst.write(pa.table({"x": lists, "y": lists}), path, "example", lossy=True)
    schema = "".join(f'feature {{ name: "{n}" type: FLOAT }}' for n in "xy")
    source = cst.open(path, schema=schema + "represent_variable_length_as_ragged: true")
    rows = source.torch_map(label="y")
    features, label = rows.collate(rows.__getitems__(range(8)))
    assert (features["x"] - label).values().abs().sum() == 0
