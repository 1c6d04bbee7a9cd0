"""Encoders of tf.Examples: exact bytes, every input type, and what cannot be encoded."""

from __future__ import annotations

import math
import pickle

import columnstone as cst
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import wire


def encode(batch: object, **options: bool) -> list[bytes]:
    return cst.encoder("example", **options).encode(batch).to_pylist()


def test_exact_bytes() -> None:
    batch = pa.record_batch(
        {
            "b": [[1, 2], None, []],
            "a": pa.array([[1.5], [], None], pa.large_list(pa.float32())),
            "c": [[b"x"], [b""], [b"y", b"z"]],
        }
    )
    assert encode(batch) == [
        wire.example({"a": [1.5], "b": [1, 2], "c": [b"x"]}),
        wire.field(
            1,
            wire.entry("a", wire.field(2, b""))
            + wire.entry("b", b"")
            + wire.entry("c", wire.feature([b""])),
        ),
        wire.field(
            1,
            wire.entry("a", b"")
            + wire.entry("b", wire.field(3, b""))
            + wire.entry("c", wire.feature([b"y", b"z"])),
        ),
    ]


def test_keys_are_sorted_bytewise() -> None:
    batch = pa.record_batch({"b": [1], "B": [2], "é": [3], "a": [4]})
    assert encode(batch) == [wire.example({"B": [2], "a": [4], "b": [1], "é": [3]})]


@pytest.mark.parametrize(
    "type_",
    ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
)
def test_integers(type_: str) -> None:
    column = pa.array([0, 1, 100], getattr(pa, type_)())
    assert encode(pa.record_batch({"a": column})) == [wire.example({"a": [v]}) for v in (0, 1, 100)]


@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("make", [lambda t: t, pa.list_, pa.large_list, lambda t: pa.list_(t, 1)])
def test_strings_and_lists(text: pa.DataType, make) -> None:
    type_ = make(text)
    values = ["hello", "a string of more than twelve bytes"]
    column = pa.array(values if type_ == text else [[v] for v in values], type_)
    assert encode(pa.record_batch({"a": column})) == [
        wire.example({"a": [v.encode()]}) for v in values
    ]


def test_slices() -> None:
    batch = pa.record_batch({"a": [[i] * (i % 3) for i in range(20)]})
    assert encode(batch.slice(3, 7)) == encode(batch)[3:10]


def test_tables_and_streams() -> None:
    batch = pa.record_batch({"a": [[1], None, [2, 3]], "s": [[b"x"], [b"y"], [b"z"]]})
    wanted = encode(batch)
    empty = batch.slice(0, 0)
    assert encode(pa.Table.from_batches([batch, empty, batch])) == wanted * 2
    assert encode(pa.Table.from_batches([batch])) == wanted
    assert encode(pa.RecordBatchReader.from_batches(batch.schema, [batch, batch])) == wanted * 2
    assert encode(pa.RecordBatchReader.from_batches(batch.schema, [])) == []
    assert encode(pl.DataFrame(batch)) == wanted
    assert encode(pd.DataFrame({"x": [1, 2]})) == [wire.example({"x": [v]}) for v in (1, 2)]
    assert encode(cst.decoder("example").decode(wanted)) == wanted


def test_a_failing_stream_says_why() -> None:
    def batches():
        yield pa.record_batch({"a": [1]})
        raise RuntimeError("the disk is on fire")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches())
    with pytest.raises(cst.errors.ArgumentError, match="the disk is on fire"):
        cst.encoder("example").encode(reader)


@pytest.mark.parametrize(
    ("column", "row"),
    [
        (pa.array([[1], [2, None]]), 1),
        (pa.array([0, 2**63], pa.uint64()), 1),
        (pa.array([1.0, 0.1, 2.0]), 1),
        (pa.array([[0.5], [1.0], [1e300]]), 2),
    ],
)
def test_what_cannot_be_held(column: pa.Array, row: int) -> None:
    batch = pa.record_batch({"good": pa.array([1] * len(column)), "bad": column})
    with pytest.raises(cst.errors.UnsupportedError) as caught:
        cst.encoder("example").encode(batch)
    assert (caught.value.record, caught.value.path) == (row, "bad")
    before = pa.record_batch({"good": [1, 1], "bad": column.slice(0, 1).take([0, 0])})
    with pytest.raises(cst.errors.UnsupportedError) as caught:
        cst.encoder("example").encode(pa.Table.from_batches([before, batch]))
    assert caught.value.record == row + 2


def test_lossy_and_nan() -> None:
    batch = pa.record_batch({"a": [0.1, math.nan, math.inf, 0.5]})
    values = cst.decoder("example").decode(encode(batch, lossy=True)).to_pydict()["a"]
    assert values[0] == [pa.scalar(0.1, pa.float32()).as_py()]
    assert math.isnan(values[1][0])
    assert values[2:] == [[math.inf], [0.5]]
    assert len(encode(pa.record_batch({"a": [math.nan, 0.5]}))) == 2


@pytest.mark.parametrize("wrong", [None, 5, "text", [1], [b"x"]])
def test_wrong_argument(wrong: object) -> None:
    with pytest.raises(TypeError, match="__arrow_c_array__"):
        cst.encoder("example").encode(wrong)  # type: ignore[arg-type]


def test_not_a_batch() -> None:
    with pytest.raises(cst.Error):
        cst.encoder("example").encode(pa.array([1, 2]))
    with pytest.raises(cst.Error):
        cst.encoder("example").encode(pa.record_batch({"a": [{"x": 1}]}))


def test_schema_is_checked(schema: cst.Schema) -> None:
    encoder = cst.encoder("example", schema)
    assert encoder.schema == schema
    with pytest.raises(cst.errors.SchemaError, match="id"):
        encoder.encode(pa.record_batch({"id": [[b"x"]]}))


def test_pickle(schema: cst.Schema) -> None:
    again = pickle.loads(pickle.dumps(cst.encoder("example", schema, lossy=True)))
    assert again.schema == schema
    assert (
        len(
            pickle.loads(pickle.dumps(cst.encoder("example", lossy=True))).encode(
                pa.record_batch({"a": [0.1]})
            )
        )
        == 1
    )


def test_array() -> None:
    records = cst.encoder("example").encode(pa.record_batch({"a": list(range(10))}))
    assert len(records) == 10
    assert isinstance(records[0], bytes)
    assert records[-1] == records[9] == list(records)[9]
    assert records[2:5].to_pylist() == records.to_pylist()[2:5]
    assert list(records[8:100]) == list(records)[8:]
    assert len(records[5:2]) == 0
    assert pa.array(records).type == pa.large_binary()
    assert pa.array(records[3:6]).to_pylist() == records.to_pylist()[3:6]
    for wrong in (10, -11, 2**70):
        with pytest.raises(IndexError):
            records[wrong]
    with pytest.raises(ValueError, match="step"):
        records[::2]
    with pytest.raises(TypeError):
        records["a"]  # type: ignore[call-overload]
