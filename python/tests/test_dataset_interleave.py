"""interleave: windows that mix files, in every format, framework and start method, from every
position on."""

from __future__ import annotations

import json
import multiprocessing
import pathlib
from collections import Counter
from collections.abc import Callable
from itertools import chain
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

FILES, ROWS, BATCH = 10, 60, 20  # of one label each

ENDINGS = ("tfrecord", "tfrecord.gz", "csv", "jsonl", "parquet", "arrow")


def labelled(begin: int, label: int, rows: int = ROWS) -> pa.Table:
    return pa.table({"id": range(begin, begin + rows), "label": [label] * rows})


def write(folder: pathlib.Path, ending: str) -> list[str]:
    paths = [str(folder / f"label-{i}.{ending}") for i in range(FILES)]
    for i, path in enumerate(paths):
        cst.write(labelled(i * ROWS, i), path)
    return paths


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[..., Any]]:
    """By the ending of its files, what opens them; "tables" are no files."""
    folder = tmp_path_factory.mktemp("labelled")
    made: dict[str, Callable[..., Any]] = {}
    for ending in ENDINGS:
        paths = write(folder, ending)
        made[ending] = lambda paths=paths, **options: cst.open(paths, flat=True, **options)
    tables = [labelled(i * ROWS, i) for i in range(FILES)]
    made["tables"] = lambda **options: cst.open(tables, **options)
    made["filtered"] = lambda **options: made["parquet"](**options).filter(
        lambda batch: pa.array([True] * batch.num_rows)
    )
    return made


ALL = [*ENDINGS, "tables", "filtered"]


def ids_of(batches: Any) -> list[list[int]]:
    return [pa.record_batch(batch)["id"].to_pylist() for batch in batches]


def labels_of(batch: Any) -> int:
    return len(set(pa.record_batch(batch)["label"].to_pylist()))


@pytest.mark.parametrize("kind", ALL)
def test_batches_have_rows_of_all_files(kind: str, sources: Any) -> None:
    """The measure of docs/datasets.md: distinct labels of a batch, of files sorted by label."""
    source = sources[kind]()
    options: dict[str, Any] = {"shuffle": "window", "window": 100, "as_batches": True, "seed": 3}
    mixed = list(source.dataset(BATCH, **options))
    alone = list(source.dataset(BATCH, interleave=1, **options))
    assert Counter(chain(*ids_of(mixed))) == Counter(range(FILES * ROWS))
    assert Counter(chain(*ids_of(alone))) == Counter(range(FILES * ROWS))
    assert max(map(labels_of, alone)) <= 3
    most = [labels_of(batch) for batch in mixed]
    assert sum(most) / len(most) > (4 if kind == "tfrecord" else 7)  # stretches, and files


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("interleave", [None, 1, 3])
def test_taken_up_at_every_batch(kind: str, interleave: int | None, sources: Any) -> None:
    def dataset(**more: Any) -> Any:
        return sources[kind]().dataset(
            BATCH, "window", 5, 2, window=100, interleave=interleave, as_batches=True, **more
        )

    running = iter(dataset())
    expected, states = [], []
    for batch in running:
        expected.append(pa.record_batch(batch)["id"].to_pylist())
        states.append(json.loads(json.dumps(running.state_dict())))
    for k in range(0, len(states), 7):
        again = dataset(threads=2, prefetch=3)
        again.load_state_dict(states[k])
        assert ids_of(again) == expected[k + 1 :]
        parts = [iter(dataset().iterate(w, 3, states[k])) for w in range(3)]
        turns = [parts[i % 3] for i in range(len(expected) - k - 1)]
        assert [ids_of([next(part)])[0] for part in turns] == expected[k + 1 :]


def test_loaders_of_every_start_method(sources: Any) -> None:
    source = sources["tfrecord.gz"]()
    dataset = source.dataset(BATCH, "window", 5, window=100, interleave=4)
    expected = [batch["id"].numpy().tolist() for batch in dataset]
    for method in multiprocessing.get_all_start_methods():
        loader = DataLoader(
            dataset.torch(), batch_size=None, num_workers=2, multiprocessing_context=method
        )
        assert [batch["id"].tolist() for batch in loader] == expected
    assert [batch["id"].tolist() for batch in dataset.numpy()] == expected
    assert [batch["id"].tolist() for batch in dataset.jax()] == expected


def test_states_of_other_interleaving_are_refused(sources: Any) -> None:
    source = sources["csv"]()
    state = source.dataset(BATCH, "window").state_dict()
    assert state["interleave"] == 16
    with pytest.raises(cst.errors.StateError, match="interleave 16, but this one has 4"):
        source.dataset(BATCH, "window", interleave=4).load_state_dict(state)
    for shuffle in (False, "global"):
        plain = sources["tfrecord"]().dataset(BATCH, shuffle)
        assert "interleave" not in plain.state_dict()


@pytest.mark.parametrize(
    ("interleave", "error"),
    [(0, cst.errors.ArgumentError), (1025, cst.errors.ArgumentError), ("2", TypeError)],
)
def test_wrong_numbers(interleave: Any, error: type[Exception], sources: Any) -> None:
    with pytest.raises(error, match="interleave"):
        sources["csv"]().dataset(BATCH, True, interleave=interleave)


def test_only_shuffled_rows_are_interleaved(sources: Any) -> None:
    with pytest.raises(
        cst.errors.ArgumentError, match="interleave is 2, but rows that are not shuffled"
    ):
        sources["csv"]().dataset(BATCH, interleave=2)
    sources["csv"]().dataset(BATCH, interleave=1)


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=9),
    window=st.integers(1, 50),
    batch=st.integers(1, 12),
    interleave=st.integers(1, 10),
    shards=st.integers(1, 3),
    drop=st.booleans(),
    ending=st.sampled_from(["tfrecord", "tfrecord.gz", "csv"]),
)
def test_every_row_once(
    sizes: list[int],
    window: int,
    batch: int,
    interleave: int,
    shards: int,
    drop: bool,
    ending: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Files of any sizes: all rows, once, divided among shards, and the same from any batch on."""
    folder = tmp_path_factory.mktemp("sizes")
    paths, begin = [], 0
    for i, rows in enumerate(sizes):
        paths.append(str(folder / f"{i}.{ending}"))
        cst.write(labelled(begin, i, rows), paths[-1])
        begin += rows
    schema = 'feature { name: "id" type: INT } feature { name: "label" type: INT }'
    source = cst.open(paths, schema=schema)

    def dataset(**more: Any) -> Any:
        return source.dataset(
            batch, "window", 2, window=window, interleave=interleave, as_batches=True, **more
        )

    def rows_of(item: Any) -> list[int]:
        return [row[0] for row in pa.record_batch(item)["id"].to_pylist()]

    whole = [rows_of(item) for item in dataset()]
    assert sorted(chain(*whole)) == list(range(begin))
    for shard in range(shards):
        own = [rows_of(item) for item in dataset(shard=(shard, shards), drop_last=drop)]
        kept = [k for k, rows in enumerate(whole) if not drop or len(rows) == batch]
        kept = kept[: len(kept) // shards * shards] if drop else kept
        assert own == [whole[k] for k in kept if k % shards == shard]
    for item in list(dataset())[::4]:
        rest = list(dataset().iterate(start=item.position))
        assert [rows_of(one) for one in rest] == whole[item.position.batch + 1 :]
