"""Datasets of Hugging Face as inputs: indices, formats, streams."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    datasets = pytest.importorskip("datasets")

COLUMNS: dict[str, list[Any]] = {
    "id": list(range(5)),
    "text": ["a", "b", None, "d", "e"],
    "v": [[i, i + 0.5] for i in range(5)],
}


def made() -> Any:
    return datasets.Dataset.from_dict(COLUMNS)


def columns_of(source: Any) -> dict[str, list[Any]]:
    return pa.table(source).to_pydict()


def test_open_write_convert_encode(tmp_path: Path) -> None:
    source = cst.open(made())
    assert columns_of(source) == columns_of(source) == COLUMNS
    assert columns_of(cst.open(made(), columns=["v", "id"])) == {k: COLUMNS[k] for k in ("v", "id")}
    assert columns_of(pickle.loads(pickle.dumps(source))) == COLUMNS
    assert cst.write(made(), tmp_path / "a.arrow") == 5
    assert cst.convert(made(), tmp_path / "b.arrow") == 5
    for name in ("a.arrow", "b.arrow"):
        assert columns_of(cst.open(tmp_path / name)) == COLUMNS
    assert columns_of(cst.record_batch(made())) == COLUMNS
    assert len(cst.encoder("example").encode(made())) == 5
    with pytest.raises(cst.errors.NotFoundError, match="nothere"):
        cst.open(made(), columns=["nothere"])


def test_indices_and_formats() -> None:
    mixed = made().select([3, 1, 1]).with_format("numpy", columns=["id"])
    assert columns_of(cst.open(mixed))["text"] == ["d", "b", "b"]
    shuffled = made().shuffle(seed=1)
    assert columns_of(cst.open(shuffled))["id"] == list(shuffled["id"])
    transformed = made().with_transform(lambda rows: {"x": [0] * len(rows["id"])})
    assert columns_of(cst.open(transformed)) == COLUMNS
    assert columns_of(cst.open(made().select([]))) == {"id": [], "text": [], "v": []}


def test_streams_are_read_again() -> None:
    def rows() -> Any:
        for i in range(2500):
            yield {"id": i, "text": None if i % 2 else str(i)}

    stream = datasets.IterableDataset.from_generator(rows)
    for _ in range(2):
        source = cst.open(stream, batch_size=1000)
        assert [len(batch) for batch in source] == [1000, 1000, 500]
    assert columns_of(cst.open(stream.take(3), columns=["text"])) == {"text": ["0", None, "2"]}
    assert columns_of(cst.open(made().to_iterable_dataset())) == COLUMNS


def test_a_stream_that_changes_its_types() -> None:
    def rows() -> Any:
        for i in range(1500):
            yield {"id": i if i < 1200 else "x"}

    with pytest.raises(cst.Error, match="columns or types change"):
        list(cst.open(datasets.IterableDataset.from_generator(rows)))


def test_several_splits_are_refused() -> None:
    splits = datasets.DatasetDict({"train": made(), "test": made()})
    for call in (cst.open, cst.record_batch, cst.encoder("example").encode):
        with pytest.raises(cst.errors.ArgumentError, match=r"DatasetDict.*dataset\['train'\]"):
            call(splits)
