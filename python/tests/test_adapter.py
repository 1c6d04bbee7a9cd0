"""TensorAdapter: anybody's record batches to tensors, structured ones included."""

from __future__ import annotations

import pathlib
import pickle
import threading
from dataclasses import replace
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

ARROW = pa.schema(
    [
        ("id", pa.large_list(pa.int64())),
        ("tags", pa.large_list(pa.large_binary())),
        ("steps", pa.large_list(pa.struct([("x", pa.large_list(pa.float32()))]))),
    ]
)
SCHEMA = """
feature { name: "id" type: INT shape { } presence { min_fraction: 1 } }
feature { name: "tags" type: BYTES }
feature { name: "steps" type: STRUCT struct_domain { feature { name: "x" type: FLOAT } } }
"""
STRUCTURED = (
    SCHEMA
    + """
tensor_representation_group { key: "whole" value { tensor_representation { key: "trip"
  value { structured_tensor { column_names: "steps" column_names: "id" } } } } }
"""
)


def batch(rows: int = 3) -> pa.RecordBatch:
    return pa.record_batch(
        [
            pa.array([[i] for i in range(rows)], ARROW.field("id").type),
            pa.array([[b"t%d" % i] * (i % 3) for i in range(rows)], ARROW.field("tags").type),
            pa.array([[{"x": [i + 0.5]}] if i else None for i in range(rows)], ARROW[2].type),
        ],
        schema=ARROW,
    )


def test_a_schema_s_tensors() -> None:
    adapter = cst.tensor.TensorAdapter(ARROW, SCHEMA)
    tensors = adapter.convert(batch())
    assert list(tensors) == ["id", "steps.x", "tags"] == list(adapter.representations)
    assert tensors["id"].tolist() == [0, 1, 2]
    assert tensors["tags"].values.tolist() == [b"t1", b"t2", b"t2"]
    assert tensors["steps.x"].to_list() == [[], [[1.5]], [[2.5]]]
    assert adapter.arrow_schema == cst._core.arrow_schema(ARROW)
    assert repr(adapter) == "<columnstone.tensor.TensorAdapter of 3 tensors: id, steps.x, tags>"


def test_representations_of_one_s_own() -> None:
    made = [
        cst.schema.TensorRepresentation("again", "dense", "int64", ("id",)),
        cst.schema.TensorRepresentation("tags", "ragged", "bytes"),
    ]
    for given_ in (made, tuple(made), {tensor.name: tensor for tensor in made}):
        tensors = cst.tensor.TensorAdapter(ARROW, given_).convert(batch())
        assert tensors["again"].tolist() == [0, 1, 2]
        assert tensors["tags"].to_list() == [[], [b"t1"], [b"t2", b"t2"]]
    assert cst.tensor.TensorAdapter(ARROW, []).convert(batch()) == {}


def test_structured_tensors_are_dicts() -> None:
    adapter = cst.tensor.TensorAdapter(ARROW, STRUCTURED, group="whole")
    tensors = adapter.convert(batch())
    assert list(tensors) == ["tags", "trip"]
    assert list(tensors["trip"]) == ["id", "steps"]
    assert tensors["trip"]["id"].tolist() == [0, 1, 2]
    assert tensors["trip"]["steps"]["x"].to_list() == [[], [[1.5]], [[2.5]]]
    trip = adapter.representations["trip"]
    assert trip.kind == "structured" and [field.name for field in trip.fields] == ["id", "steps"]
    again = cst.tensor.TensorAdapter(ARROW, adapter.representations).convert(batch())
    assert again["trip"]["steps"]["x"].to_list() == [[], [[1.5]], [[2.5]]]


def test_structured_tensors_of_a_source(tmp_path: pathlib.Path) -> None:
    schema = """
    feature { name: "id" type: INT shape { } presence { min_fraction: 1 } }
    tensor_representation_group { key: "" value { tensor_representation { key: "trip"
      value { structured_tensor { column_names: "id" } } } } }
    """
    record = b"\n\x10\n\x0e\n\x02id\x12\x08\x1a\x06\n\x04\x80\x80\x80\x01"
    path = tmp_path / "one.tfrecord"
    with cst.codec.TFRecordWriter(path) as writer:
        writer.write(record)
    source = cst.open(path, schema=schema)
    (tensors,) = source.tensors()
    assert tensors["trip"]["id"].tolist() == [1 << 21]
    spec = source.feature_spec()["trip"]
    assert spec == cst.schema.Structured({"id": cst.schema.FixedLen((), "int64")})
    with pytest.raises(
        cst.errors.UnsupportedError, match=r"tf\.io cannot parse the structured tensor 'trip'"
    ):
        cst.Schema(schema).feature_spec(tensorflow=True)


def test_batches_from_anywhere() -> None:
    adapter = cst.tensor.TensorAdapter(ARROW, SCHEMA)
    expected = [0, 1, 2]
    (own,) = cst.open(batch())
    assert adapter.convert(own)["id"].tolist() == expected
    assert adapter.convert(batch().replace_schema_metadata({"a": "b"}))["id"].tolist() == expected
    assert adapter.convert(batch(5).slice(1, 3))["id"].tolist() == [1, 2, 3]
    assert adapter.convert(batch().slice(0, 0))["id"].shape == (0,)
    flat = pa.schema([("id", pa.int32())])
    made = cst.tensor.TensorAdapter(flat, [cst.schema.TensorRepresentation("id", "dense", "int64")])
    assert made.convert(pa.record_batch([pa.array([7], pa.int32())], schema=flat))["id"].dtype == (
        "int32"
    )


def test_other_batches_are_refused() -> None:
    adapter = cst.tensor.TensorAdapter(ARROW, SCHEMA)
    with pytest.raises(cst.errors.ArgumentError, match="other columns"):
        adapter.convert(batch().select(["id"]))
    (own,) = cst.open(batch(), columns=["id"])
    with pytest.raises(cst.errors.ArgumentError, match="other columns"):
        adapter.convert(own)
    for wrong in (None, 3, [1, 2], pa.table(batch())):
        with pytest.raises(TypeError, match=r"a batch is a columnstone\.RecordBatch"):
            adapter.convert(wrong)  # type: ignore[arg-type]


def damaged() -> pa.RecordBatch:
    offsets = pa.py_buffer(np.array([0, 2, 1, 3], np.int64))
    values = pa.array([1, 2, 3])
    column = pa.Array.from_buffers(pa.large_list(pa.int64()), 3, [None, offsets], 0, 0, [values])
    return pa.record_batch([column], names=["id"])


def test_batches_of_others_are_validated() -> None:
    adapter = cst.tensor.TensorAdapter(
        damaged().schema, [cst.schema.TensorRepresentation("id", "ragged", "int64")]
    )
    with pytest.raises(cst.errors.CorruptError) as caught:
        adapter.convert(damaged())
    assert caught.value.path == "id"


def test_rows_that_do_not_fit_are_named() -> None:
    adapter = cst.tensor.TensorAdapter(ARROW, STRUCTURED, group="whole")
    rows = batch().set_column(0, ARROW.field("id"), pa.array([[1], [2, 3], [4]], ARROW[0].type))
    with pytest.raises(cst.errors.SchemaError) as caught:
        adapter.convert(rows)
    assert (caught.value.path, caught.value.record) == ("trip.id", 1)


@pytest.mark.parametrize(
    ("representations", "options", "error"),
    [
        (3, {}, TypeError),
        ([3], {}, TypeError),
        (None, {}, TypeError),
        (
            [cst.schema.TensorRepresentation("id", "dense", "int64")],
            {"group": "x"},
            cst.errors.ArgumentError,
        ),
        (SCHEMA, {"group": "x"}, cst.errors.NotFoundError),
        ([cst.schema.TensorRepresentation("no", "dense", "int64")], {}, cst.errors.SchemaError),
        ([cst.schema.TensorRepresentation("tags", "ragged", "int64")], {}, cst.errors.SchemaError),
    ],
)
def test_wrong_representations(
    representations: Any, options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        cst.tensor.TensorAdapter(ARROW, representations, **options)


def test_arrow_schema_has_to_be_one() -> None:
    with pytest.raises(TypeError, match="__arrow_c_schema__"):
        cst.tensor.TensorAdapter("id", SCHEMA)  # type: ignore[arg-type]


def test_pickles() -> None:
    adapter = cst.tensor.TensorAdapter(ARROW, STRUCTURED, group="whole", pad={"tags": (b"-", 2)})
    again = pickle.loads(pickle.dumps(adapter))
    assert again.representations == adapter.representations
    assert again.convert(batch())["tags"].tolist() == [[b"-"] * 2, [b"t1", b"-"], [b"t2", b"t2"]]


def test_tensors_outlive_batch_and_adapter() -> None:
    made = cst.tensor.TensorAdapter(ARROW, SCHEMA).convert(batch(1000))
    assert made["id"].tolist() == list(range(1000))


def test_threads_share_one() -> None:
    adapter = cst.tensor.TensorAdapter(ARROW, SCHEMA)
    batches = [batch(n) for n in range(1, 40)]
    failures: list[int] = []

    def work() -> None:
        for rows in batches:
            if adapter.convert(rows)["id"].tolist() != list(range(rows.num_rows)):
                failures.append(rows.num_rows)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


LISTS = st.lists(st.none() | st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5), max_size=30)


@given(
    LISTS,
    st.sampled_from([pa.list_, pa.large_list, pa.list_view, pa.large_list_view]),
    st.integers(0, 10),
    st.integers(0, 20),
)
def test_lists_of_every_layout(
    rows: list[list[int] | None], layout: Any, start: int, length: int
) -> None:
    part = pa.record_batch([pa.array(rows, layout(pa.int64()))], names=["x"]).slice(start, length)
    expected = [row or [] for row in rows[start : start + length]]
    made = {
        kind: cst.tensor.TensorAdapter(
            part.schema, [cst.schema.TensorRepresentation("x", kind, "int64")]
        )
        for kind in ("ragged", "varlen_sparse")
    }
    assert made["ragged"].convert(part)["x"].to_list() == expected
    sparse = made["varlen_sparse"].convert(part)["x"]
    places = [[i, k] for i, row in enumerate(expected) for k in range(len(row))]
    assert sparse.indices.tolist() == places
    assert sparse.values.tolist() == [value for row in expected for value in row]
    assert sparse.shape == (len(expected), max(map(len, expected), default=0))


# ---- representations that are none ----

INTS = cst.schema.TensorRepresentation("x", "dense", "int64")


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: [INTS, INTS], cst.errors.ArgumentError, "two tensors have the name 'x'"),
        (lambda: [replace(INTS, name=3)], TypeError, "the name of a tensor must be a str, not int"),
        (
            lambda: [replace(INTS, partitions=(3,))],
            TypeError,
            "'x': a partition must be RowLengths",
        ),
        (
            lambda: [replace(INTS, shape=(2**70,))],
            cst.errors.ArgumentError,
            "'x': 118.* fit 64 bits",
        ),
        (
            lambda: [replace(INTS, default=2**70)],
            cst.errors.ArgumentError,
            "'x': 118.* fit 64 bits",
        ),
    ],
)
def test_representations_that_are_none(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        cst.tensor.TensorAdapter(pa.schema([("x", pa.list_(pa.int64()))]), make())


def test_representations_of_any_iterable() -> None:
    schema = pa.schema([("x", pa.list_(pa.int64()))])
    for reps in ({"x": INTS}, {"x": INTS}.values(), iter([INTS]), (INTS,)):
        assert list(cst.tensor.TensorAdapter(schema, reps).representations) == ["x"]


@pytest.mark.parametrize(
    ("pad", "error", "message"),
    [
        (["x"], TypeError, "pad must be a dict of tensor name to pad, not list"),
        ({"x": (0, 2**70)}, cst.errors.ArgumentError, "the length 118.* does not fit 64 bits"),
        ({"x": (2**70, 1)}, cst.errors.ArgumentError, "the value 118.* does not fit 64 bits"),
    ],
)
def test_pads_that_are_none(pad: Any, error: type[Exception], message: str) -> None:
    ragged = replace(INTS, kind="ragged")
    with pytest.raises(error, match=message):
        cst.tensor.TensorAdapter(pa.schema([("x", pa.list_(pa.int64()))]), [ragged], pad=pad)
