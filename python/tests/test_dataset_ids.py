"""ids: the file and record of every row, as tensors: in every format, order, framework and worker,
behind filters, beside dropped records, and through a pickle."""

from __future__ import annotations

import multiprocessing
import pathlib
import pickle
from collections.abc import Callable
from typing import Any

import columnstone as cst
import jax
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

FILES, ROWS, BATCH = 3, 50, 8  # the id of a row is 1000 * its file + its record

ENDINGS = ("tfrecord", "tfrecord.gz", "csv", "jsonl", "parquet", "arrow")
ORDERS: tuple[Any, ...] = (False, True, "window")


def numbered(file: int, rows: int = ROWS) -> pa.Table:
    return pa.table({"id": [1000 * file + i for i in range(rows)], "x": [0.5] * rows})


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[..., Any]]:
    folder = tmp_path_factory.mktemp("numbered")
    made: dict[str, Callable[..., Any]] = {}
    for ending in ENDINGS:
        paths = [str(folder / f"{i}.{ending}") for i in range(FILES)]
        for i, path in enumerate(paths):
            cst.write(numbered(i), path, lossy=True)
        made[ending] = lambda paths=paths, **options: cst.open(paths, flat=True, **options)
    tables = [numbered(i) for i in range(FILES)]
    made["tables"] = lambda **options: cst.open(tables, flat=True, **options)
    return made


def check(batch: Any, first: int = 0) -> int:
    """Of a batch of tensors of any framework; how many rows it has."""
    files, records, ids = (np.asarray(batch[n]).tolist() for n in ("__file__", "__record__", "id"))
    assert ids == [1000 * (f - first) + r for f, r in zip(files, records, strict=True)]
    return len(ids)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", [*ENDINGS, "tables"])
def test_every_row_has_its_file_and_record(kind: str, order: Any, opened: Any) -> None:
    source = opened[kind]()
    dataset = source.dataset(BATCH, order, 3, 2, window=40, ids=True)
    assert sum(map(check, dataset.numpy())) == 2 * FILES * ROWS
    assert dataset.files == source.files
    assert sum(map(check, source.dataset(BATCH, order, shard=(1, 3), ids=True).numpy())) > 0
    kept = source.filter(lambda batch: pa.array([i % 3 == 1 for i in batch["id"].to_pylist()]))
    rows = list(kept.dataset(BATCH, order, 3, window=40, ids=True).numpy())
    assert sum(map(check, rows)) == 50
    assert all((batch["id"] % 3 == 1).all() for batch in rows)


def test_frameworks_and_workers(opened: Any) -> None:
    for kind in ("tfrecord", "parquet"):
        dataset = opened[kind]().dataset(BATCH, True, 3, ids=True, label="x", window=40)
        expected = [batch["__record__"].numpy().tolist() for batch, _ in dataset]
        for method in multiprocessing.get_all_start_methods():
            loader = DataLoader(
                dataset.torch(), batch_size=None, num_workers=2, multiprocessing_context=method
            )
            batches = [batch for batch, _ in loader]
            assert [batch["__record__"].tolist() for batch in batches] == expected
            assert sum(map(check, batches)) == FILES * ROWS
        with jax.enable_x64(True):
            assert sum(check(batch) for batch, _ in dataset.jax()) == FILES * ROWS


def test_names_of_ones_own(opened: Any) -> None:
    source = opened["csv"]()
    dataset = source.dataset(BATCH, ids=("from", "line"), as_batches=True)
    batch = pa.record_batch(next(iter(dataset)))
    assert batch.schema.names == ["id", "x", "from", "line"]
    assert batch["line"].to_pylist() == list(range(BATCH))
    with pytest.raises(
        cst.errors.ArgumentError,
        match="a column of ids has the same name as another column",
    ) as raised:
        list(source.dataset(BATCH, ids=("id", "line"), as_batches=True))
    assert raised.value.path == "id"
    with pytest.raises(cst.errors.ArgumentError, match="one name"):
        source.dataset(BATCH, ids=("a", "a"))
    for wrong in ("file", ("a",), (1, 2), 1):
        with pytest.raises(TypeError, match="ids is a bool, or the names of two tensors"):
            source.dataset(BATCH, ids=wrong)


def test_dropped_records_are_counted(tmp_path: pathlib.Path) -> None:
    lines = [f'{{"id": {i}, "x": 1}}' for i in range(20)]
    for damaged in (3, 4, 11):
        lines[damaged] = '{"id": '
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    types = pa.schema({"id": pa.int64(), "x": pa.int64()})
    source = cst.open(str(tmp_path / "*.jsonl"), types=types, on_error="skip")
    for order in ORDERS:
        for interleave in (1, None):
            kept = interleave if order else None
            dataset = source.dataset(4, order, interleave=kept, window=16, ids=True)
            rows = [
                (int(f), int(r), i.item())
                for batch in dataset.numpy()
                for f, r, i in zip(
                    *(batch[n] for n in ("__file__", "__record__", "id")), strict=True
                )
            ]
            assert sorted(rows) == [
                (f, i, i) for f in (0, 1) for i in range(20) if i not in (3, 4, 11)
            ]


def test_messages_of_one_record_share_its_ids(tmp_path: pathlib.Path) -> None:
    """A view of the rows of a list has several rows of one record."""
    table = pa.table({"k": range(6), "items": [[{"v": k}] * (k % 3) for k in range(6)]})
    cst.write(table, tmp_path / "a.parquet")
    (tmp_path / "items.cstq").write_text("from table rows items keep v")
    source = cst.open(tmp_path / "a.parquet", view=tmp_path / "items.cstq")
    dataset = source.dataset(4, "window", ids=True, as_batches=True)
    rows = [row for batch in dataset for row in pa.record_batch(batch).to_pylist()]
    assert sorted(row["__record__"] for row in rows) == [1, 2, 2, 4, 5, 5]
    assert all(row["v"] == row["__record__"] for row in rows)


def test_through_pickles_and_states(opened: Any) -> None:
    source = opened["tfrecord.gz"]()
    dataset = source.dataset(BATCH, "window", 3, window=40, ids=True)
    running = iter(dataset)
    next(running)
    again = pickle.loads(pickle.dumps(dataset))
    again.load_state_dict(running.state_dict())
    rest = [batch["id"].numpy().tolist() for batch in again]
    assert rest == [batch["id"].numpy().tolist() for batch in running]
    with pytest.raises(cst.errors.StateError, match="stages"):
        source.dataset(BATCH, "window", 3, window=40).load_state_dict(running.state_dict())


def test_parts_keep_the_numbers_of_all_files(opened: Any) -> None:
    source = opened["tfrecord"]()
    part = source[60:120]
    assert part.files == source.files[1:]
    dataset = part.dataset(BATCH, True, ids=True)
    assert sum(map(check, dataset.numpy())) == 60
    assert dataset.files == source.files
    for batch in source.split(1, 2).dataset(BATCH, True, ids=True).numpy():
        for file, record, row in zip(*(batch[n] for n in batch if n != "x"), strict=True):
            assert row // 1000 == file  # where a part begins within a file, records are unknown
            assert record in (-1, row % 1000)


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=6),
    keep=st.integers(1, 4),
    order=st.sampled_from([False, True, "window"]),
    window=st.integers(1, 40),
    ending=st.sampled_from(["tfrecord", "tfrecord.gz", "csv"]),
)
def test_any_files_and_filters(
    sizes: list[int],
    keep: int,
    order: Any,
    window: int,
    ending: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("any")
    paths = [str(folder / f"{i}.{ending}") for i in range(len(sizes))]
    for i, path in enumerate(paths):
        cst.write(numbered(i, sizes[i]), path, lossy=True)
    schema = 'feature { name: "id" type: INT } feature { name: "x" type: FLOAT }'
    source = cst.open(paths, schema=schema).filter(
        lambda batch: pa.array([row[0] % keep == 0 for row in batch["id"].to_pylist()], pa.bool_())
    )
    dataset = source.dataset(5, order, 1, window=window, ids=True, as_batches=True)
    rows = [row for batch in dataset for row in pa.record_batch(batch).to_pylist()]
    wanted = [
        (f, r) for f, size in enumerate(sizes) for r in range(size) if (1000 * f + r) % keep == 0
    ]
    assert sorted((row["__file__"], row["__record__"]) for row in rows) == wanted
    assert all(row["id"] == [1000 * row["__file__"] + row["__record__"]] for row in rows)
