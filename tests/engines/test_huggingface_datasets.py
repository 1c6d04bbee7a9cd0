"""Hugging Face datasets of files: shards, nodes, workers, resuming, and cached Arrow files."""

from __future__ import annotations

import os
import pathlib
import pickle
from typing import Any

import columnstone as cst
import pytest
import wide
from datasets.distributed import split_dataset_by_node

pytestmark = pytest.mark.filterwarnings("ignore")  # datasets and torch warn of themselves


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Rows 0 to 399 in four files."""
    folder = tmp_path_factory.mktemp("hf")
    for part in range(4):
        rows = [
            {"id": [i], "name": [f"n{i}".encode()], "more": [i] * (i % 3), "half": [i / 2]}
            for i in range(part * 100, part * 100 + 100)
        ]
        cst.write(rows, folder / f"a-{part}.tfrecord.gz")
    return str(folder / "a-*")


def shards(files: str, **options: Any) -> Any:
    return cst.huggingface.iterable_dataset(
        files, flat=True, target_bytes=1 << 20, batch_size=30, **options
    )


def ids(examples: Any) -> list[int]:
    return [int(example["id"]) for example in examples]


def row(i: int) -> dict[str, Any]:
    return {"half": i / 2, "id": i, "more": [i] * (i % 3), "name": f"n{i}"}


def test_rows(files: str) -> None:
    dataset = shards(files)
    assert dataset.n_shards == 4
    assert dataset.column_names == ["half", "id", "more", "name"]
    assert list(dataset) == [row(i) for i in range(400)]
    assert ids(dataset) == ids(pickle.loads(pickle.dumps(dataset))) == list(range(400))
    assert ids(shards(files, columns=["id"]).take(3)) == [0, 1, 2]
    table = next(iter(dataset.with_format("arrow").iter(batch_size=50)))
    assert table["id"].to_pylist() == list(range(50))


@pytest.mark.parametrize("infers", [False, True])
def test_shards_are_small(tmp_path: pathlib.Path, infers: bool) -> None:
    """The columns are in what workers get once, however many shards it has."""
    paths, schema = wide.write(tmp_path)
    given = {} if infers else {"schema": schema}
    sizes = {}
    for target in (50_000, 20_000):
        dataset = cst.huggingface.iterable_dataset(paths, target_bytes=target, **given)
        sizes[dataset.n_shards] = len(pickle.dumps(dataset))
    (few, small), (many, large) = sizes.items()
    assert many > few
    assert (large - small) / (many - few) < wide.MOST
    assert len(list(dataset)) == 8


def test_nodes_and_shuffling(files: str) -> None:
    dataset = shards(files)
    parts = [split_dataset_by_node(dataset, rank=rank, world_size=2) for rank in range(2)]
    assert [len(ids(part)) for part in parts] == [200, 200]
    assert sorted(ids(parts[0]) + ids(parts[1])) == list(range(400))
    shuffled = dataset.shuffle(seed=3, buffer_size=64)
    assert ids(shuffled) == ids(shuffled) != list(range(400))
    assert sorted(ids(shuffled)) == list(range(400))


def test_workers_of_a_loader(files: str) -> None:
    torch_data = pytest.importorskip("torch.utils.data")
    dataset = shards(files).select_columns(["id", "half"]).with_format("torch")
    loader = torch_data.DataLoader(dataset, batch_size=10, num_workers=2)
    batches = list(loader)
    assert sorted(i for batch in batches for i in batch["id"].tolist()) == list(range(400))
    assert batches[0]["half"].shape == (10,)


@pytest.mark.parametrize("taken", [0, 1, 30, 137, 399])
def test_taken_up_again(files: str, taken: int) -> None:
    dataset = shards(files)
    running = iter(dataset)
    before = [next(running)["id"] for _ in range(taken)]
    state = dataset.state_dict()
    again = shards(files)
    again.load_state_dict(state)
    assert before + ids(again) == list(range(400))


def test_dataset(files: str, tmp_path: pathlib.Path) -> None:
    dataset = cst.huggingface.dataset(files, flat=True, threads=2, cache_dir=tmp_path)
    assert len(dataset) == 400 and dataset[7] == row(7)
    assert dataset[-1] == row(399)
    (cached,) = dataset.cache_files
    assert os.listdir(tmp_path) == [os.path.basename(cached["filename"])]
    before = os.stat(cached["filename"]).st_mtime_ns
    again = cst.huggingface.dataset(files, flat=True, cache_dir=tmp_path)
    assert again.cache_files == dataset.cache_files
    assert os.stat(cached["filename"]).st_mtime_ns == before
    assert dataset.shuffle(seed=1).select(range(5))["id"] != list(range(5))
    some = cst.huggingface.dataset(files, flat=True, columns=["id"], cache_dir=tmp_path)
    assert some.column_names == ["id"]
    assert len(pickle.loads(pickle.dumps(dataset))) == 400


def test_changed_files_are_read_again(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.tfrecord"
    for number in (1, 2):
        cst.write([{"id": [number]}], path, overwrite=True)
        os.utime(path, ns=(number, number))
        made = cst.huggingface.dataset(path, flat=True, cache_dir=tmp_path / "cache")
        assert made["id"][:] == [number]


def test_the_way_back(files: str, tmp_path: pathlib.Path) -> None:
    dataset = shards(files)
    assert cst.write(dataset, tmp_path / "a.tfrecord") == 400
    found = cst.huggingface.iterable_dataset(tmp_path / "a.tfrecord", flat=True)
    assert list(found) == [row(i) for i in range(400)]


def test_damage(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.tfrecord"
    cst.write([{"id": [i]} for i in range(50)], path)
    schema = cst.infer_schema(path)
    data = bytearray(path.read_bytes())
    data[20] ^= 255
    path.write_bytes(data)
    with pytest.raises(cst.errors.CorruptError, match="record 0"):
        list(cst.huggingface.iterable_dataset(path, schema=schema))
    with pytest.raises(cst.errors.CorruptError, match="record 0"):
        cst.huggingface.dataset(path, schema=schema, cache_dir=tmp_path / "cache")
    assert os.listdir(tmp_path / "cache") == []
    kept = cst.huggingface.dataset(path, schema=schema, on_error="skip", cache_dir=tmp_path)
    assert len(kept) == 49
