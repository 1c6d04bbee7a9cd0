"""Splits: planned here, read by anybody, with each record in exactly one of them."""

from __future__ import annotations

import pickle
from pathlib import Path

import columnstone as cst
import numpy as np
import pytest


def write(path: Path, count: int, first: int = 0) -> str:
    batch = cst.record_batch({"id": np.arange(first, first + count)})
    cst.write(batch, str(path))
    return str(path)


def ids(source: cst.Source) -> list[int]:
    return [i for batch in source for i in np.asarray(batch["id"]).tolist()]


def read(splits: list[cst.Split] | cst.Split, **options: object) -> list[int]:
    return ids(cst.open(splits, schema=SCHEMA, flat=True, **options))  # type: ignore[arg-type]


SCHEMA = 'feature { name: "id" type: INT presence { min_fraction: 1 } shape {} }'


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("plan")
    return [write(folder / f"{i}.tfrecord", 100, 100 * i) for i in range(3)]


def test_plan(files: list[str]) -> None:
    splits = cst.plan(files, target_bytes=1000)
    assert len(splits) > 6
    assert splits == cst.plan([*files], target_bytes=1000)
    assert [s.file for s in splits if s.begin == 0] == files
    assert [i for split in splits for i in read(split)] == list(range(300))
    assert read(splits) == list(range(300))
    assert read(splits[::-1]) != list(range(300))
    assert sorted(read(splits[::-1], threads=2)) == list(range(300))
    assert not any(split.exact for split in splits)
    pattern = files[0].replace("0.tfrecord", "*.tfrecord")
    assert cst.plan(pattern, target_bytes=1000) == splits


def test_tasks(files: list[str]) -> None:
    assert [s.task for s in cst.plan(files)] == [0, 0, 0]
    assert [s.task for s in cst.plan(files, target_bytes=2 << 20)] == [0, 0, 1]


def test_pickled_sources(files: list[str]) -> None:
    splits = cst.plan(files, target_bytes=1000)
    source = cst.open(splits[2:5], schema=SCHEMA, flat=True)
    again = pickle.loads(pickle.dumps(source))
    assert ids(again) == ids(source) == [i for s in splits[2:5] for i in read(s)]
    assert ids(source.select(["id"])) == ids(source)
    halves = [source.split(i, 2) for i in range(2)]
    assert [i for half in halves for i in ids(half)] == ids(source)
    assert ids(pickle.loads(pickle.dumps(halves[1]))) == ids(halves[1])
    assert pickle.loads(pickle.dumps(splits)) == splits
