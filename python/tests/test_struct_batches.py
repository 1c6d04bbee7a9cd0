"""Structured tensors as batches: of sources and datasets, in files, as columns and as tensors."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from columnstone import _core

SESSIONS: list[dict[str, Any]] = [
    {"id": "a", "event": [{"price": 1.5, "query": ["x", "y"]}, {"price": None, "query": []}]},
    {"id": "b", "event": []},
    {"id": None, "event": None},
    {"id": "d", "event": [{"price": 2.0, "query": ["z"]}]},
]


def nested(values: Any, is_row: bool = False) -> Any:
    return _core.structured(cst.array(values), is_row)


@pytest.fixture
def sessions(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "sessions.parquet"
    cst.write(SESSIONS, path)
    return path


# ---- sources ----


def test_batches_of_a_source(sessions: pathlib.Path) -> None:
    src = cst.open(sessions, batch_size=3)
    batches = list(src.structured())
    assert [b.shape for b in batches] == [(3,), (1,)]
    assert all(isinstance(b, cst.StructuredTensor) for b in batches)
    assert [row for b in batches for row in b.to_py()] == SESSIONS
    assert batches[0]["event", "price"].to_py() == [[1.5, None], [], None]
    assert next(src.structured())["event.query"].shape == (3, None, None)
    assert next(cst.open(sessions, columns=["id"]).structured()).field_names() == ("id",)


def test_batches_of_records(file: pathlib.Path, schema: cst.Schema) -> None:
    st = next(cst.open(file, schema=schema, batch_size=10).structured())
    assert st["pair"].shape == (10, 2)
    assert st["steps"].to_py()[:4] == [[], [0], [0, 1], [0, 1, 2]]


def test_a_batch_is_not_copied() -> None:
    table = pa.record_batch({"a": pa.array([[1, 2], [3]], pa.large_list(pa.int64()))})
    st = next(cst.open(table).structured())
    there = pa.array(st["a"].flat_values).buffers()[1].address
    assert there == table.column(0).values.buffers()[1].address


def test_a_pass_begins_with_the_call_and_ends_when_closed(sessions: pathlib.Path) -> None:
    src = cst.open(sessions, batch_size=1)
    running = src.structured()
    next(running)
    running.close()
    with pytest.raises(StopIteration):
        next(running)
    src.close()
    with pytest.raises(cst.errors.StateError):
        src.structured()


def test_errors_come_out_of_the_pass(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(cst.Error):
        list(cst.open(path).structured())


# ---- datasets ----


def test_batches_of_a_dataset(file: pathlib.Path, schema: cst.Schema) -> None:
    src = cst.open(file, schema=schema)
    plain = src.dataset(batch_size=7, shuffle=True, seed=3, as_batches=True)
    made = src.dataset(batch_size=7, shuffle=True, seed=3).structured()
    assert isinstance(made, cst.Dataset) and len(made) == len(plain) == 15
    expected = [pa.record_batch(b).to_pylist() for b in plain]
    assert [b.to_py() for b in made] == expected


def test_a_dataset_goes_on_after_its_state(file: pathlib.Path, schema: cst.Schema) -> None:
    def dataset() -> cst.Dataset:
        src = cst.open(file, schema=schema)
        return src.dataset(batch_size=8, shuffle=True, seed=1, epochs=2).structured()

    whole = [b["id"].to_py() for b in dataset()]
    first = dataset()
    running = iter(first)
    for _ in range(15):
        next(running)
    second = pickle.loads(pickle.dumps(dataset()))
    second.load_state_dict(first.state_dict())
    assert [b["id"].to_py() for b in second] == whole[15:]


def ids(st: cst.StructuredTensor) -> Any:
    return st["id"]


def test_functions_of_a_dataset_get_structured_tensors(
    file: pathlib.Path, schema: cst.Schema
) -> None:
    made = cst.open(file, schema=schema).dataset(batch_size=50).structured().map(ids)
    assert [b.shape for b in made] == [(50, 1), (50, 1)]
    assert all(isinstance(b, cst.struct.LeafTensor) for b in made)


def test_labels_and_pads_are_for_tensors(file: pathlib.Path, schema: cst.Schema) -> None:
    src = cst.open(file, schema=schema)
    for options in ({"label": "id"}, {"pad": {"steps": (0, 4)}}):
        with pytest.raises(cst.errors.ArgumentError, match="does not support label"):
            src.dataset(**options).structured()  # type: ignore[arg-type]


# ---- as rows, and as columns ----


@pytest.mark.parametrize("name", ["x.arrow", "x.parquet", "x.jsonl"])
def test_a_tensor_is_written_as_rows(tmp_path: pathlib.Path, name: str) -> None:
    st = nested(SESSIONS)
    path = tmp_path / name
    assert cst.write(st, path) == 4
    assert next(cst.open(path).structured()).to_py() == SESSIONS
    assert cst.write([st, st], path, overwrite=True) == 8
    assert cst.write(cst.open(st, batch_size=2).structured(), path, overwrite=True) == 4
    with cst.Writer(path) as writer:
        assert writer.write(st) == 4


def test_rows_of_another_tensor_are_rows(tmp_path: pathlib.Path) -> None:
    row = nested([[{"a": 1}, {"a": 2}]], True)
    assert row.rank == 1
    assert pa.array(row).to_pylist() == [{"a": 1}, {"a": 2}]
    assert pa.field(row).type == pa.array(row).type
    assert cst.write(row, tmp_path / "x.arrow") == 2
    assert cst.write(nested([{"a": 1}], True), tmp_path / "y.arrow") == 1
    deep = nested([[[1], []], [[2, 3]]])
    assert pa.array(deep).to_pylist() == [[[1], []], [[2, 3]]]
    with pytest.raises(cst.errors.UnsupportedError, match="the tensor is null"):
        pa.array(null_row())


def null_row() -> Any:
    return _core.structured(cst.array(pa.array([None], pa.large_list(pa.int64()))), True)


def test_what_is_not_rows_is_refused(tmp_path: pathlib.Path) -> None:
    for tensor in (nested([[{"a": 1}], []]), nested([1, 2])):
        with pytest.raises(cst.errors.ArgumentError, match="found one column, expected rows"):
            cst.write(tensor, tmp_path / "x.arrow")
    with pytest.raises(cst.errors.UnsupportedError, match="null rows"):
        cst.write(nested([{"a": 1}, None]), tmp_path / "x.arrow")


def test_a_tensor_is_a_column() -> None:
    batch = cst.record_batch(
        {
            "s": nested(SESSIONS),
            "l": nested([[1], [], None, [2, 3]]),
            "r": nested([[1, 2, 3, 4]], True),
            "n": [1, 2, 3, 4],
        }
    )
    assert batch["s"].to_pylist() == SESSIONS
    assert batch["l"].to_pylist() == [[1], [], None, [2, 3]]
    assert batch["r"].to_pylist() == [1, 2, 3, 4]
    with pytest.raises(cst.errors.ArgumentError, match="feature 'n': 1 values, expected 4"):
        cst.record_batch({"s": nested(SESSIONS), "n": [1]})


# ---- as tensors ----

FULL: list[dict[str, Any]] = [
    {"a": 1, "b": [1.5, 2.0], "e": [{"q": "x", "z": [1]}, {"q": "yy", "z": []}]},
    {"a": 2, "b": [], "e": []},
]


def plain(tensors: Any) -> Any:
    if isinstance(tensors, dict):
        return {name: plain(tensor) for name, tensor in tensors.items()}
    return tensors.to_list() if isinstance(tensors, cst.tensor.RaggedTensor) else tensors.tolist()


AS_TENSORS = {
    "a": [1, 2],
    "b": [[1.5, 2.0], []],
    "e": {"q": [[b"x", b"yy"], []], "z": [[[1], []], []]},
}


def test_a_tensor_is_encoded_and_given_back() -> None:
    tensors = {
        "s": nested(FULL),
        "ragged": nested([[1], [2, 3]]),
        "dense": nested([[1, 2], [3, 4]]),
        "inner": nested([[[1, 2]], [[3, 4], [5, 6]]]),
        "row": nested([[7, 8]], True),
    }
    encoder = cst.tensor.TensorEncoder.of(tensors)
    batch = encoder.encode(tensors)
    made = cst.tensor.TensorAdapter(batch.schema, encoder.representations).convert(batch)
    assert plain(made["s"]) == AS_TENSORS
    assert plain(made["ragged"]) == [[1], [2, 3]]
    assert made["dense"].shape == (2, 2)
    assert plain(made["inner"]) == [[[1, 2]], [[3, 4], [5, 6]]]
    assert made["inner"].values.shape == (3, 2)
    assert plain(made["row"]) == [7, 8]


@pytest.mark.parametrize(
    ("tensor", "match"),
    [
        (nested([1, None]), "1 of 2 values are null"),
        (nested([[1], None]), "null"),
        (nested([{"a": 1}, None]), "1 of 2 values are null"),
        (nested([1], True), "a scalar, which has no rows"),
    ],
)
def test_what_other_tensors_cannot_say_is_refused(tensor: Any, match: str) -> None:
    with pytest.raises((cst.errors.UnsupportedError, cst.errors.ArgumentError), match=match):
        cst.tensor.TensorEncoder.of({"t": tensor})


def test_in_the_frameworks() -> None:
    made = cst.tensor.to_numpy({"s": nested(FULL), "n": nested([1, 2])})
    assert made["n"].tolist() == [1, 2] and made["s"]["a"].tolist() == [1, 2]
    assert made["s"]["e"]["q"].values.tolist() == [b"x", b"yy"]
    assert cst.tensor.to_numpy(nested([[1, 2], [3, 4]])).shape == (2, 2)
    batch = cst.dataset.Batch({"s": nested(FULL)}, cst.dataset.Position(0, 3))
    assert cst.tensor.to_numpy(batch).position == cst.dataset.Position(0, 3)
    torch = pytest.importorskip("torch")
    tensors = cst.tensor.to_torch(nested([{"a": 1, "l": [1]}, {"a": 2, "l": [2, 3]}]))
    assert torch.equal(tensors["a"], torch.tensor([1, 2]))
    assert [row.tolist() for row in tensors["l"].unbind()] == [[1], [2, 3]]


def test_an_adapter_takes_tensors_as_batches() -> None:
    """Lists of structs and plain values in structs are what the representations of the encoder
    find as well; padded by the names of the fields."""
    tensors = {"s": nested(FULL)}
    found = cst.tensor.TensorEncoder.of(tensors).representations
    batch = nested([{"s": row} for row in FULL])
    assert plain(cst.tensor.TensorAdapter(batch.schema, found).convert(batch)["s"]) == AS_TENSORS
    pads = {"s.b": (0.0, 3), "s.e.z": cst.tensor.Pad(-1, (2, None))}
    padded = cst.tensor.TensorAdapter(batch.schema, found, pad=pads).convert(batch)["s"]
    assert padded["b"].tolist() == [[1.5, 2.0, 0.0], [0.0, 0.0, 0.0]]
    assert padded["e"]["z"].tolist() == [[[1], [-1]], [[-1], [-1]]]


@pytest.fixture
def full(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "full.parquet"
    cst.write(FULL, path)
    return path


def test_nested_columns_of_a_source_are_structured_tensors(full: pathlib.Path) -> None:
    """By their types alone: no schema can be inferred of them."""
    src = cst.open(full)
    kinds = {name: spec.kind for name, spec in src.tensor_representations().items()}
    assert kinds == {"a": "dense", "b": "varlen_sparse", "e": "structured"}
    made = next(src.tensors())
    assert plain(made["a"]) == [1, 2]
    assert plain(made["e"]) == AS_TENSORS["e"]
    both = next(cst.open(full, columns=["e", "a"]).tensors())
    assert sorted(both) == ["a", "e"] and plain(both["e"]) == AS_TENSORS["e"]


def test_fields_of_nested_columns_are_padded(full: pathlib.Path) -> None:
    pads: Any = {"b": (0.0, 3), "e.q": (b"", 2), "e.z": cst.tensor.Pad(-1, (2, None))}
    src = cst.open(full)
    for made in (next(src.tensors(pad=pads)), next(iter(src.dataset(batch_size=2, pad=pads)))):
        assert made["b"].tolist() == [[1.5, 2.0, 0.0], [0.0, 0.0, 0.0]]
        assert made["e"]["q"].tolist() == [[b"x", b"yy"], [b"", b""]]
        assert made["e"]["z"].tolist() == [[[1], [-1]], [[-1], [-1]]]
    with pytest.raises(cst.errors.SchemaError, match=r"e\.q"):
        next(src.tensors(pad={"e.q": (b"", 1)}))
    with pytest.raises(cst.errors.NotFoundError, match=r"no tensor 'e\.r'"):
        src.tensors(pad={"e.r": (0, 1)})


def test_nested_columns_after_a_function(full: pathlib.Path) -> None:
    src = cst.open(full).map(lambda batch: batch.select(["e", "a"]))
    made = next(src.tensors(pad={"e.q": (b"", 2)}))
    assert made["e"]["q"].tolist() == [[b"x", b"yy"], [b"", b""]]


def test_nested_columns_of_other_formats(tmp_path: pathlib.Path) -> None:
    for name in ("x.jsonl", "x.arrow"):
        cst.write(FULL, tmp_path / name)
        assert plain(next(cst.open(tmp_path / name).tensors())["e"]) == AS_TENSORS["e"]
    deep = cst.record_batch({"n": [[[1], []], [[2, 3]]]})
    assert plain(next(cst.open(deep).tensors())["n"]) == [[[1], []], [[2, 3]]]


def test_nested_columns_that_no_tensor_has() -> None:
    times = pa.record_batch(
        {"e": pa.array([[{"t": 0}]], pa.list_(pa.struct({"t": pa.time64("us")})))}
    )
    with pytest.raises(cst.errors.UnsupportedError, match=r"feature 'e\.t'"):
        cst.open(times).tensors()
    assert next(cst.open(times).structured())["e", "t"].shape == (1, 1)
    nulls = cst.record_batch({"s": [{"x": 1}, None]})
    with pytest.raises(cst.errors.SchemaError, match=r"record 1.*'s"):
        list(cst.open(nulls).tensors())
