"""Mixes of datasets: exact shares, each dataset's rows in its order, states at every batch, shards,
workers, stops, and what cannot be mixed."""

from __future__ import annotations

import gc
import itertools
import json
import pathlib
import pickle
import weakref
from collections import Counter
from fractions import Fraction
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

BATCH = 8
ROWS = (61, 40, 23)
FIRST = 1000  # ids of dataset i begin at i * FIRST
LISTS = [[k % 7] * (k % 4) for k in range(3 * FIRST)]  # the tokens of each id
SCHEMA = """
feature { name: "id" type: INT presence { min_fraction: 1 } shape {} }
feature { name: "tokens" type: INT }
tensor_representation_group { key: "" value { tensor_representation {
  key: "tokens" value { ragged_tensor { feature_path { step: "tokens" } } } } } }
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    folder = tmp_path_factory.mktemp("mix")
    made: dict[str, list[Any]] = {}
    for i, rows in enumerate(ROWS):
        begin, middle, end = i * FIRST, i * FIRST + rows // 3, i * FIRST + rows
        for ending in ("tfrecord", "tfrecord.gz", "jsonl"):
            for part, ids in enumerate((range(begin, middle), range(middle, end))):
                lists = [LISTS[k] for k in ids]
                table = pa.table({"id": [[k] for k in ids], "tokens": lists})
                cst.write(table, folder / f"{i}-{part}.{ending}")
            source = cst.open(str(folder / f"{i}-*.{ending}"), schema=SCHEMA)
            made.setdefault(ending, []).append(source)
    return made


def datasets(sources: list[Any], **options: Any) -> list[Any]:
    made = {"shuffle": True, "window": 16, "prefetch": 0, **options}
    return [source.dataset(BATCH, seed=i, **made) for i, source in enumerate(sources)]


def ids_of(batches: Any) -> list[int]:
    return [i for batch in batches for i in batch["id"].numpy().tolist()]


def order_of(source: Any, number: int, epoch: int, **options: Any) -> list[int]:
    """The ids of an epoch of one dataset alone."""
    made = {"shuffle": True, "window": 16, "prefetch": 0, **options}
    alone = source.dataset(BATCH, seed=number, **made)
    alone.set_epoch(epoch)
    return ids_of(alone)


def expected(
    sources: list[Any],
    weights: list[int],
    stop: str,
    epoch: int,
    most: int = 10_000,
    **options: Any,
) -> list[int]:
    """In plain steps: the next row is of the dataset that is farthest behind its share."""
    rows = [len(order_of(source, 0, 0, **options)) for source in sources]
    orders: dict[tuple[int, int], list[int]] = {}
    given_by = [0] * len(sources)
    made: list[int] = []
    while len(made) < most:
        next_one = min(
            range(len(sources)), key=lambda i: (Fraction(2 * given_by[i] + 1, weights[i]), i)
        )
        if stop == "first" and given_by[next_one] == rows[next_one]:
            break
        if stop == "all" and all(done >= all_ for done, all_ in zip(given_by, rows, strict=True)):
            break
        turn, row = divmod(given_by[next_one], rows[next_one])
        key = (next_one, turn)
        if key not in orders:
            at = epoch + (turn << 32)
            orders[key] = order_of(sources[next_one], next_one, at, **options)
        made.append(orders[key][row])
        given_by[next_one] += 1
    return made


def in_turns(dataset: Any, workers: int, start: Any = None) -> list[int]:
    parts = [iter(dataset.iterate(worker, workers, start)) for worker in range(workers)]
    made: list[int] = []
    for k in itertools.count():
        batch = next(parts[k % workers], None)
        if batch is None:
            return made
        made += batch["id"].numpy().tolist()
    raise AssertionError


@settings(max_examples=40, deadline=None)
@given(
    kinds=st.lists(st.sampled_from(["tfrecord", "tfrecord.gz", "jsonl"]), min_size=3, max_size=3),
    count=st.integers(1, 3),
    weights=st.lists(st.sampled_from([1, 2, 3, 10]), min_size=3, max_size=3),
    stop=st.sampled_from(["first", "all"]),
    shuffle=st.sampled_from([False, True, "window"]),
    epoch=st.integers(0, 2),
    batch=st.integers(0, 200),
    row=st.integers(0, BATCH - 1),
    workers=st.integers(1, 3),
    threads=st.integers(1, 3),
)
def test_the_rows_and_every_state(
    kinds: list[str],
    count: int,
    weights: list[int],
    stop: Any,
    shuffle: Any,
    epoch: int,
    batch: int,
    row: int,
    workers: int,
    threads: int,
    sources: dict[str, list[Any]],
) -> None:
    chosen = [sources[kind][i] for i, kind in enumerate(kinds[:count])]
    options = {"shuffle": shuffle}

    def mixed(epochs: int) -> Any:
        made = datasets(chosen, epochs=epochs, threads=threads, prefetch=threads - 1, **options)
        return cst.mix(made, [float(w) for w in weights[:count]], stop=stop)

    parts = [expected(chosen, weights[:count], stop, epoch + i, **options) for i in range(2)]
    whole = parts[0] + parts[1]
    dataset = mixed(2)
    dataset.set_epoch(epoch)
    made = list(dataset)
    assert ids_of(made) == whole
    assert dataset.num_rows == len(parts[0])
    assert dataset.num_batches == -(-len(parts[0]) // BATCH)

    batch %= len(made)
    row %= len(made[batch]["id"].numpy())
    before = ids_of(made[:batch])
    state = json.loads(json.dumps(dataset.state_of(made[batch].position, row)))
    assert in_turns(mixed(2), workers, state) == whole[len(before) + row + 1 :]
    again = pickle.loads(pickle.dumps(mixed(2)))
    again.load_state_dict(dataset.state_of(made[batch].position))
    assert ids_of(again) == whole[len(ids_of(made[: batch + 1])) :]


@pytest.mark.parametrize("weights", [[0.7, 0.3], [1e-9, 1.0], [1.0, 1e9], [1e300, 1e300]])
def test_shares_are_exact_in_every_stretch(
    weights: list[float], sources: dict[str, list[Any]]
) -> None:
    made = datasets([sources["tfrecord"][0], sources["tfrecord.gz"][1]])
    mix = cst.mix(made, weights, stop="repeat")
    found = ids_of(itertools.islice(mix, 100))
    share = weights[1] / sum(weights) if sum(weights) < 1e300 else 0.5
    of_second = np.cumsum([i >= FIRST for i in found])
    assert np.abs(of_second - share * np.arange(1, len(found) + 1)).max() <= 1


def test_without_an_end(sources: dict[str, list[Any]]) -> None:
    mix = cst.mix(datasets(sources["tfrecord"][:2]), [3, 1], stop="repeat")
    with pytest.raises(TypeError, match="length of this dataset is not known"):
        len(mix)
    for name in ("num_rows", "num_batches"):
        with pytest.raises(cst.errors.UnsupportedError, match="has no end"):
            getattr(mix, name)
    whole = expected(sources["tfrecord"][:2], [3, 1], "repeat", 0, 60 * BATCH)
    taken = list(itertools.islice(mix, 60))
    assert ids_of(taken) == whole
    for k in (0, 17, 42):
        mix.load_state_dict(mix.state_of(taken[k].position))
        assert ids_of(itertools.islice(mix, 59 - k)) == whole[(k + 1) * BATCH :]


@pytest.mark.parametrize("stop", ["first", "all"])
@pytest.mark.parametrize("drop_last", [False, True])
def test_shards(stop: Any, drop_last: bool, sources: dict[str, list[Any]]) -> None:
    chosen = [sources["tfrecord"][0], sources["jsonl"][1], sources["tfrecord.gz"][2]]

    def mixed(shard: tuple[int, int]) -> Any:
        return cst.mix(datasets(chosen, shard=shard, drop_last=drop_last), [3, 2, 1], stop=stop)

    whole = expected(chosen, [3, 2, 1], stop, 0)
    parts = [list(mixed((i, 3))) for i in range(3)]
    for k, part in enumerate(parts):
        for batch in part:
            begin = (batch.position.batch * 3 + k) * BATCH
            assert ids_of([batch]) == whole[begin : begin + BATCH]
    found = [i for part in parts for i in ids_of(part)]
    if drop_last:
        assert {len(part) for part in parts} == {len(whole) // BATCH // 3}
    else:
        assert Counter(found) == Counter(whole)
    # What is left after batch 0 of each of 3 is divided among 2.
    state = mixed((1, 3)).state_of(parts[1][0].position)
    rest = [i for k in range(2) for i in in_turns(mixed((k, 2)), 2, state)]
    if not drop_last:
        assert Counter(rest) == Counter(whole[3 * BATCH :])


def test_ids_count_the_files_of_all(sources: dict[str, list[Any]]) -> None:
    chosen = [sources["tfrecord"][0], sources["jsonl"][1], sources["tfrecord"][0]]
    mix = cst.mix(datasets(chosen, ids=True), stop="all")
    assert len(mix.files) == 6 and mix.files[0] == mix.files[4]
    mix = pickle.loads(pickle.dumps(mix))
    begins = [0, ROWS[0] // 3, FIRST, FIRST + ROWS[1] // 3, 0, ROWS[0] // 3]
    files = Counter[int]()
    for batch in mix:
        columns = (batch[name].numpy().tolist() for name in ("__file__", "__record__", "id"))
        for file, record, number in zip(*columns, strict=True):
            assert begins[file] + record == number
            files[file] += 1
    assert set(files) == set(range(6))


def test_workers_of_torch(sources: dict[str, list[Any]]) -> None:
    chosen = [sources["tfrecord"][0], sources["tfrecord.gz"][1]]

    def mixed() -> Any:
        return cst.mix(datasets(chosen, epochs=2, label="id"), [2, 1], stop="all")

    whole = [label.tolist() for _, label in mixed().torch()]
    loader = DataLoader(mixed().torch(), batch_size=None, num_workers=2)
    made = list(loader)
    assert [label.tolist() for _, label in made] == whole
    dataset = mixed()
    dataset.load_state_dict(dataset.state_of(made[5][0].position))
    loader = DataLoader(dataset.torch(), batch_size=None, num_workers=1)
    assert [label.tolist() for _, label in loader] == whole[6:]
    direct = cst.mix(datasets(sources["tfrecord"]), stop="first")
    assert len(direct) == direct.num_batches == len(list(direct))
    assert len(direct.torch()) == len(direct)
    with pytest.raises(cst.errors.ArgumentError, match="stack"):
        list(DataLoader(direct.torch(), batch_size=4))


def test_packing_mapping_and_rows(sources: dict[str, list[Any]]) -> None:
    chosen = [sources["tfrecord"][0], sources["jsonl"][1]]
    mix = cst.mix(datasets(chosen), [2, 1])
    packed = mix.pack({"tokens": 16})
    lists = [row for row in map(LISTS.__getitem__, ids_of(mix)) if row]
    values = [batch["tokens"].numpy() for batch in packed]
    segments = [batch["tokens_segment_ids"].numpy() for batch in packed]
    found = [
        block[i][ids[i] == k].tolist()
        for block, ids in zip(values, segments, strict=True)
        for i in range(len(block))
        for k in range(1, ids[i].max() + 1)
    ]
    assert Counter(map(tuple, filter(None, found))) == Counter(map(tuple, lists))
    first = next(iter(packed))
    packed.load_state_dict(packed.state_of(first.position))
    assert len(list(packed)) == len(values) - 1
    whole = cst.mix(datasets(chosen, drop_last=True), [2, 1]).pack({"tokens": 16})
    assert len(list(whole)) in (len(values), len(values) - 1)
    doubled = mix.map(lambda batch: {**batch, "twice": batch["id"].numpy() * 2})
    assert [i for batch in doubled for i in batch["twice"]] == [2 * i for i in ids_of(mix)]
    rows = cst.mix(datasets(chosen, as_batches=True), [2, 1])
    assert [i for batch in rows for i in pa.record_batch(batch)["id"].to_pylist()] == [
        [i] for i in ids_of(mix)
    ]
    assert [i for batch in mix.structured() for i in pa.array(batch["id"]).to_pylist()] == [
        [i] for i in ids_of(mix)
    ]


def test_views_and_dictionaries(tmp_path: pathlib.Path) -> None:
    """Columns of every layout: strings, dictionaries of other values, nested lists, nulls."""
    tables = [
        pa.table(
            {
                "id": pa.array(range(i * 100, i * 100 + 30)),
                "kind": pa.array([f"{i}-{k % 3}" for k in range(30)]).dictionary_encode(),
                "text": pa.array([None if k % 5 == 0 else f"{i}.{k}" for k in range(30)]),
                "lists": pa.array([[[k], None, []] if k % 2 else None for k in range(30)]),
            }
        )
        for i in range(2)
    ]
    rows = {row["id"]: row for table in tables for row in table.to_pylist()}
    for shuffle in (False, "window"):
        made = [cst.open(table).dataset(7, shuffle, as_batches=True) for table in tables]
        found = [row for b in cst.mix(made, [2, 1]) for row in pa.record_batch(b).to_pylist()]
        assert len(found) == 44 or len(found) == 45
        for row in found:
            assert row == rows[row["id"]]


def test_a_failure_is_that_of_its_dataset(sources: dict[str, list[Any]]) -> None:
    class Own(Exception):
        pass

    def fails(batch: Any) -> Any:
        raise Own("here")

    for number in range(2):
        chosen = [sources["tfrecord"][0], sources["jsonl"][1]]
        chosen[number] = chosen[number].map(fails, schema=chosen[number].arrow_schema)
        made = datasets(chosen, as_batches=True)
        with pytest.raises(Own, match="here"):
            list(cst.mix(made))


@pytest.mark.parametrize("ending", ["tfrecord", "tfrecord.gz", "jsonl"])
def test_a_row_that_does_not_fit_is_named(ending: str, tmp_path: pathlib.Path) -> None:
    schema = SCHEMA.replace("shape {}", "shape { dim { size: 2 } }")
    made = []
    for i, wrong in enumerate((None, 17)):
        lists = [[k] if k == wrong else [k, k] for k in range(30)]
        cst.write(pa.table({"id": lists, "tokens": lists}), tmp_path / f"{i}.{ending}")
        made.append(cst.open(tmp_path / f"{i}.{ending}", schema=schema))
    for shuffle in (False, True, "window"):
        mix = cst.mix([source.dataset(BATCH, shuffle) for source in made], stop="all")
        with pytest.raises(cst.errors.SchemaError, match="exactly 2") as failure:
            list(mix)
        assert failure.value.file == str(tmp_path / f"1.{ending}")
        assert failure.value.record == 17


def test_dropped_records_come_back(tmp_path: pathlib.Path) -> None:
    made = []
    for i in range(2):
        path = tmp_path / f"{i}.tfrecord"
        ids = range(i * 100, i * 100 + 20)
        cst.write(pa.table({"id": [[k] for k in ids], "tokens": [[k] for k in ids]}), path)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 255
        path.write_bytes(data)
        made.append(cst.open(path, on_error="skip", schema=SCHEMA))
    mix = cst.mix([source.dataset(4) for source in made], stop="all")
    found = ids_of(mix)
    assert len(found) >= 38 and len(set(found)) == 38
    assert {pathlib.Path(one.file).name for one in mix.source.dropped} == {
        "0.tfrecord",
        "1.tfrecord",
    }
    with_ids = cst.mix([source.dataset(4, ids=True) for source in made], stop="all")
    loader = DataLoader(with_ids.torch(), batch_size=None, num_workers=2)
    assert sorted(ids_of(loader)) == sorted(found)
    assert len(with_ids.source.dropped) == len(mix.source.dropped)
    plain = cst.open(tmp_path / "0.tfrecord", schema=SCHEMA)
    with pytest.raises(cst.errors.ArgumentError, match="on_error"):
        cst.mix([made[0].dataset(4), plain.dataset(4)])


def test_states_name_what_differs(sources: dict[str, list[Any]]) -> None:
    made = datasets(sources["tfrecord"])
    mix = cst.mix(made, [3, 2, 1])
    state = mix.state_dict()
    others = [
        (cst.mix(made, [3, 2, 2]), r"weight\[2\] 1.0"),
        (cst.mix(made, [3, 2, 1], stop="all"), "stop 'first'"),
        (cst.mix(made[:2], [3, 2]), "datasets 3"),
        (cst.mix([made[0], made[2], made[1]], [3, 2, 1]), r"seed\[1\]"),
        (made[0], "no 'seed'"),
        (mix.pack({"tokens": 9}), "pack"),
    ]
    for other, text in others:
        with pytest.raises(cst.errors.StateError, match=text):
            other.load_state_dict(state)
    with pytest.raises(cst.errors.StateError, match="no 'datasets'"):
        mix.load_state_dict(made[0].state_dict())


def test_what_cannot_be_mixed(sources: dict[str, list[Any]], tmp_path: pathlib.Path) -> None:
    first, second, _ = datasets(sources["tfrecord"])
    source = sources["tfrecord"][1]
    loaded = source.dataset(BATCH)
    loaded.load_state_dict(cst.dataset.Position(0, 1))
    cases: list[tuple[Any, type[Exception], str]] = [
        ([], cst.errors.ArgumentError, "no datasets"),
        ([first, source], TypeError, "not Source"),
        ([first, cst.mix([first, second])], cst.errors.ArgumentError, "1 is a mix itself"),
        ([first, source.dataset(BATCH, bucket_by="tokens")], cst.errors.ArgumentError, "bucket_by"),
        (
            [first, second.pack({"tokens": 9})],
            cst.errors.ArgumentError,
            r"mix first: mix\(...\).pack",
        ),
        ([first, second.map(dict)], cst.errors.ArgumentError, r"mix first: mix\(...\).map"),
        ([first, loaded], cst.errors.ArgumentError, "state of a mix into the mix"),
        ([first, source.dataset(9)], cst.errors.ArgumentError, "batch_size of dataset 1 is 9"),
        ([first, source.dataset(BATCH, epochs=2)], cst.errors.ArgumentError, "epochs of dataset 1"),
        (
            [first, source.dataset(BATCH, label="id")],
            cst.errors.ArgumentError,
            "label of dataset 1",
        ),
        (
            [first, source.dataset(BATCH, shard=(0, 2))],
            cst.errors.ArgumentError,
            "shard of dataset 1",
        ),
        ([first, source.dataset(BATCH, drop_last=True)], cst.errors.ArgumentError, "drop_last"),
        ([first, source.dataset(BATCH, as_batches=True)], cst.errors.ArgumentError, "as_batches"),
        ([first, source.dataset(BATCH, pad={"tokens": (0, 9)})], cst.errors.ArgumentError, "pad"),
        (
            [first, source.select(["id"]).dataset(BATCH)],
            cst.errors.SchemaError,
            "'tokens': no such column",
        ),
        (
            [source.select(["id"]).dataset(BATCH), first],
            cst.errors.SchemaError,
            "'tokens': a column that",
        ),
        ([first, source.dataset(BATCH, ids=True)], cst.errors.SchemaError, "__file__"),
    ]
    for wrong, error, text in cases:
        with pytest.raises(error, match=text):
            cst.mix(wrong)
    sparse = cst.open(sources["tfrecord"][1].files, schema=SCHEMA.split("tensor_repr")[0])
    with pytest.raises(
        cst.errors.SchemaError, match="the tensor 'tokens' of dataset 1 is not made"
    ):
        cst.mix([first, sparse.dataset(BATCH)])
    text = pa.table({"id": ["a"], "tokens": [[1]]})
    other = pa.table({"id": [1], "tokens": [[1]]})
    with pytest.raises(cst.errors.SchemaError, match=r"'id'.*string.*int64"):
        cst.mix([cst.open(other).dataset(8), cst.open(text).dataset(8)])
    for weights in ([1.0], [1, 0], [1, -1], [1, float("nan")], [1, float("inf")]):
        with pytest.raises(cst.errors.ArgumentError, match="weight"):
            cst.mix([first, second], weights)
    with pytest.raises(cst.errors.ArgumentError, match="stop must be one of"):
        cst.mix([first, second], stop="never")  # type: ignore[arg-type]
    empty = tmp_path / "empty.tfrecord"
    empty.write_bytes(b"")
    none = cst.open(empty, schema=SCHEMA).dataset(BATCH)
    with pytest.raises(cst.errors.ArgumentError, match="has no rows"):
        list(cst.mix([first, none], stop="all"))
    twice, once = (cst.open(one).dataset(8, as_batches=True) for one in (other, other.to_reader()))
    with pytest.raises(cst.errors.UnsupportedError, match="only once"):
        list(cst.mix([twice, once]))


def test_life(sources: dict[str, list[Any]]) -> None:
    """A mix keeps its sources, and lets them go; a source that is closed ends it."""
    table = pa.table({"id": range(100)})
    made = [cst.open(table), cst.open(table)]
    mix = cst.mix([source.dataset(8) for source in made])
    running = iter(mix)
    next(running)
    made[1].close()
    with pytest.raises(cst.errors.StateError, match="closed"):
        list(running)
    with pytest.raises(cst.errors.StateError, match="closed"):
        list(mix)
    gone = weakref.ref(mix)
    del mix, running, made
    gc.collect()
    assert gone() is None
    assert "a mix of 3 datasets" in repr(cst.mix(datasets(sources["tfrecord"])))
