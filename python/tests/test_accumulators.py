"""SchemaInference, Validation and Counts: what they find is what a source finds."""

from __future__ import annotations

import copy
import io
import pathlib
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from google.protobuf import wrappers_pb2

SCHEMA = """
feature { name: "a" type: INT value_count { min: 1 max: 1 } int_domain { min: 0 max: 2 } }
feature { name: "s" type: BYTES string_domain { value: "x" } }
"""


def batch(**columns: Any) -> cst.RecordBatch:
    return cst.record_batch(columns)


def found_in(
    *batches: cst.RecordBatch,
) -> tuple[cst.Schema, cst.schema.SchemaCheck, cst.accumulate.ColumnCounts]:
    makes = (
        cst.accumulate.SchemaInference(),
        cst.accumulate.Validation(SCHEMA),
        cst.accumulate.Counts(),
    )
    for one in batches:
        for accumulator in makes:
            assert accumulator.add(one) == len(one)
    inference, validation, counts = makes
    return inference.finish(), validation.finish(), counts.finish()


def test_what_is_found() -> None:
    schema, check, counts = found_in(
        batch(a=[[1, 2], None, [3]], s=["x", None, "y"]), batch(a=[[1]], b=[1.5])
    )
    assert [(f.name, f.type) for f in schema.features] == [
        ("a", "int64"),
        ("b", "float32"),
        ("s", "bytes"),
    ]
    assert [(a.kind, a.path, a.count) for a in check.anomalies] == [
        ("value-count", "a", 1),
        ("int-domain", "a", 1),
        ("string-domain", "s", 1),
        ("unexpected-feature", "b", 1),
    ]
    assert counts == cst.accumulate.ColumnCounts(
        4,
        [
            cst.accumulate.ColumnCount("a", 3, 4),
            cst.accumulate.ColumnCount("b", 1, 1),
            cst.accumulate.ColumnCount("s", 2, 2),
        ],
    )


@pytest.mark.parametrize(
    "make",
    [
        cst.accumulate.SchemaInference,
        lambda: cst.accumulate.Validation(SCHEMA, places=2),
        cst.accumulate.Counts,
    ],
)
def test_pickling_copying_and_merging(make: Any) -> None:
    one, other, whole = make(), make(), make()
    parts = [batch(a=[[1], [2, 5]]), batch(a=[None, [4]], s=["x", "z"])]
    for accumulator, part in zip((one, other), parts, strict=True):
        accumulator.add(part)
        whole.add(part)
    restored = pickle.loads(pickle.dumps(other))
    assert restored.finish() == other.finish()
    merged = copy.deepcopy(one)
    merged.merge(restored)
    assert merged.finish() == whole.finish()
    assert repr(merged) == repr(whole)
    assert repr(merged).startswith(f"<columnstone.accumulate.{type(merged).__name__}: ")
    merged.add(parts[0])  # it goes on after finish
    whole.add(parts[0])
    assert merged.finish() == whole.finish()


def test_a_merge_wants_one_of_the_same_kind_and_options() -> None:
    validation = cst.accumulate.Validation(SCHEMA)
    with pytest.raises(TypeError, match="expected a Validation, not Counts"):
        validation.merge(cst.accumulate.Counts())  # type: ignore[arg-type]
    with pytest.raises(cst.errors.ArgumentError, match="different options"):
        validation.merge(cst.accumulate.Validation(SCHEMA, places=1))
    with pytest.raises(cst.errors.ArgumentError, match="with itself"):
        validation.merge(validation)
    with pytest.raises(cst.errors.ArgumentError, match="different options"):
        cst.accumulate.SchemaInference().merge(cst.accumulate.SchemaInference(look_at_values=True))


def test_a_failure_names_the_column_and_changes_nothing() -> None:
    inference = cst.accumulate.SchemaInference()
    inference.add(batch(a=[[1]]))
    before = pickle.dumps(inference)
    with pytest.raises(cst.errors.SchemaError, match="found FLOAT, expected INT") as caught:
        inference.add(batch(b=[1, 2], a=[None, [1.5]]), file="part-7", record=40)
    assert (caught.value.path, caught.value.file, caught.value.record) == ("a", "part-7", 41)
    with pytest.raises(cst.errors.UnsupportedError) as caught:
        inference.add(batch(deep=[[{"x": 1}]]))
    assert caught.value.path == "deep"
    assert pickle.dumps(inference) == before


def test_places() -> None:
    validation = cst.accumulate.Validation(SCHEMA)
    validation.add(batch(a=[[1], [7]]), file="x", record=10)
    validation.add(batch(a=[[7]]), file="x")
    validation.add(batch(a=[[7]]))
    (anomaly,) = validation.finish().anomalies
    assert [(p.file, p.record) for p in anomaly.places] == [("x", 11), ("x", None), ("", None)]
    with pytest.raises(cst.errors.ArgumentError, match="record is -1"):
        validation.add(batch(a=[[1]]), record=-1)


def test_what_infer_schema_proposes() -> None:
    inference = cst.accumulate.SchemaInference(propose=True, group="g", max_domain=2)
    inference.add(batch(n=[1, 2] * 9, s=["x", "y"] * 9))
    again = pickle.loads(pickle.dumps(inference))
    again.add(batch(n=[5], s=["y"]))
    text = again.finish().to_text()
    assert "int_domain {\n    min: 1\n    max: 5\n  }" in text
    assert 'string_domain {\n    value: "x"\n    value: "y"\n  }' in text
    assert 'key: "g"' in text
    with pytest.raises(cst.errors.ArgumentError, match="need propose=True"):
        cst.accumulate.SchemaInference(group="g")
    with pytest.raises(cst.errors.ArgumentError, match="exclude each other"):
        cst.accumulate.SchemaInference(propose=True, look_at_values=True)


def test_dictionaries_are_their_values() -> None:
    words = pa.array(["x", None, "x"]).dictionary_encode()
    plain, encoded = cst.accumulate.Counts(), cst.accumulate.Counts()
    plain.add(pa.record_batch({"s": words.dictionary_decode()}))
    encoded.add(pa.record_batch({"s": words}))
    assert plain.finish() == encoded.finish()


def test_an_anomaly_without_a_place_says_none() -> None:
    validation = cst.accumulate.Validation(SCHEMA)
    validation.add(batch(a=[[7]]))
    assert "first" not in str(validation.finish())


def test_damage_in_a_source_is_what_it_raises(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.tfrecord"
    cst.write(batch(a=[1, 2, 3]), path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(cst.errors.CorruptError) as caught:
        cst.accumulate.Counts().add(cst.open(path, schema="feature { name: 'a' type: INT }"))
    assert (caught.value.file, caught.value.record) == (str(path), 2)


def test_any_accumulator_by_its_name() -> None:
    lengths = cst.accumulate.Accumulator("lengths", columns="a")
    lengths.add(batch(a=[[1, 2], None, []], b=[[1], [2], [3]]))
    again = pickle.loads(pickle.dumps(lengths))
    again.merge(lengths)
    assert again.finish().to_pydict() == {
        "path": ["a"],
        "level": [1],
        "nulls": [2],
        "lists": [4],
        "empty": [2],
        "min": [0],
        "max": [2],
        "sum": [4],
    }
    assert repr(again) == "<columnstone.accumulate.Accumulator: lengths, 1 finding>"


def test_the_list_of_accumulators_is_enough_to_make_them() -> None:
    listed = cst.accumulate.accumulators().to_pydict()
    for name, options in zip(listed["name"], listed["options"], strict=True):
        given = {o["name"]: SCHEMA for o in options if o["kind"] == "schema"}
        usual = {
            o["name"]: int(o["default"])
            for o in options
            if o["default"] is not None and o["kind"] == "number"
        }
        one = cst.accumulate.Accumulator(name, **given)
        one.add(batch(a=[[1]], s=["x"]))
        one.merge(cst.accumulate.Accumulator(name, **given, **usual))  # the defaults are these
        found = one.finish()
        empty = cst.accumulate.Accumulator(name, **given).finish()
        assert empty.schema == found.schema
        assert pa.record_batch(found).schema.equals(pa.record_batch(empty).schema)
        assert pa.record_batch(empty).num_rows == 0 or name == "validation"
        pa.record_batch(found).validate(full=True)


def test_findings_say_what_they_are_in_their_metadata() -> None:
    lengths = cst.accumulate.Accumulator("lengths")
    lengths.add(batch(a=[[1], None]))
    metadata = pa.record_batch(lengths.finish()).schema.metadata
    assert metadata == {b"findings": b"lists", b"num_rows": b"2"}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("lenghts", {}, "unknown accumulator 'lenghts' .did you mean 'lengths'"),
        ("lengths", {"column": "a"}, "lengths has no option 'column'"),
        ("validation", {}, "no schema to validate against"),
        ("proposal", {"max_domain": 0}, "max_domain"),
    ],
)
def test_what_makes_no_accumulator(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(cst.errors.ArgumentError, match=message):
        cst.accumulate.Accumulator(name, **options)


@pytest.mark.parametrize("threads", [1, 3])
def test_all_of_a_source(tmp_path: pathlib.Path, threads: int) -> None:
    path = tmp_path / "x.tfrecord"
    cst.write([{"a": [i] * (i % 4), "s": [b"x"]} for i in range(5000)], path)
    source = cst.open(path, threads=threads, batch_size=100)
    counted = source.accumulate(cst.accumulate.Counts())
    assert counted.num_rows == 5000
    assert source.accumulate("lengths", columns=["a"]).to_pydict()["sum"] == [7500]
    one = cst.accumulate.Validation(SCHEMA)
    assert source.accumulate(one) == source.validate(SCHEMA)
    schema = source.accumulate(cst.accumulate.SchemaInference())
    assert schema == cst.infer_schema(path)
    with pytest.raises(
        cst.errors.ArgumentError, match="options are only for an accumulator given by name"
    ):
        source.accumulate(one, places=3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="expected an accumulator"):
        source.accumulate(3)  # type: ignore[call-overload]


def test_damage_of_a_source_is_counted_or_raised(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.tfrecord"
    cst.write(batch(a=[1, 2, 3]), path)
    path.write_bytes(path.read_bytes()[:-1])
    check = cst.open(path).accumulate(cst.accumulate.Validation(SCHEMA, ignore_unexpected=True))
    assert [a.kind for a in check.anomalies][-1] == "record"
    counts = cst.accumulate.Counts()
    with pytest.raises(cst.errors.CorruptError):
        cst.open(path).accumulate(counts)
    assert counts.finish().num_rows == 0  # as it was


def test_many_threads_share_one() -> None:
    counts = cst.accumulate.Counts()
    others = [cst.accumulate.Counts() for _ in range(4)]
    one = batch(a=[1, 2, 3])

    def work(other: cst.accumulate.Counts) -> None:
        for _ in range(50):
            counts.add(one)
            other.merge(counts)
            counts.finish()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, others))
    assert counts.finish().num_rows == 600


def test_lengths_look_at_the_wanted_columns_only() -> None:
    table = pa.table({"a": [[1], []], "v": pa.array([[1], [2]], pa.list_view(pa.int64()))})
    lengths = cst.accumulate.Accumulator("lengths", columns=["a"])
    lengths.add(table.to_batches()[0])
    assert lengths.finish().to_pydict()["path"] == ["a"]
    with pytest.raises(cst.errors.UnsupportedError, match="'v'"):
        cst.accumulate.Accumulator("lengths").add(table.to_batches()[0])


def test_lengths_of_a_column_that_no_row_has() -> None:
    lengths = cst.accumulate.Accumulator("lengths", columns=["a", "b"])
    assert len(lengths.finish()) == 0  # no rows: nobody knows
    lengths.add(batch(a=[[1]]))
    with pytest.raises(cst.errors.NotFoundError, match="'b'"):
        lengths.finish()
    other = cst.accumulate.Accumulator("lengths", columns=["a", "b"])
    other.add(batch(b=[1]))  # is there, and no list
    lengths.merge(pickle.loads(pickle.dumps(other)))
    assert lengths.finish().to_pydict()["path"] == ["a"]


def test_zeros_of_both_signs_are_one_in_any_order() -> None:
    parts = []
    for values in ([0.0, 1.0], [-0.0, 1.0]):
        part = cst.accumulate.SchemaInference(propose=True)
        part.add(batch(x=values))
        parts.append(pickle.dumps(part))
    texts = []
    for order in (parts, parts[::-1]):
        first, second = (pickle.loads(part) for part in order)
        first.merge(second)
        texts.append(first.finish().to_text())
    assert texts[0] == texts[1]


@pytest.fixture(params=["tfrecord", "jsonl", "csv", "arrow", "parquet", "table"])
def numbers(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Any:
    """An input of each kind: a is 0 to 99, and b is "x"."""
    table = pa.table({"a": list(range(100)), "b": ["x"] * 100})
    if request.param == "table":
        return table
    cst.write(table, tmp_path / f"numbers.{request.param}")
    return tmp_path / f"numbers.{request.param}"


def is_even(batch: cst.RecordBatch) -> list[bool]:
    return [a % 2 == 0 if isinstance(a, int) else a[0] % 2 == 0 for a in batch.to_pydict()["a"]]


@pytest.mark.parametrize("threads", [1, 2])
def test_what_stages_give_is_looked_at(numbers: Any, threads: int) -> None:
    src = cst.open(numbers, threads=threads, batch_size=7).filter(is_even)
    assert src.accumulate("counts").to_pydict()["rows"] == [50, 50]
    limited = (
        'feature { name: "a" type: INT int_domain { max: 49 } } feature { name: "b" type: BYTES }'
    )
    check = src.validate(limited)
    assert check.num_rows == 50
    (anomaly,) = check.anomalies
    assert (anomaly.count, anomaly.places[0].record) == (25, 50)  # of the input
    ones = src.map(lambda batch: pa.table({"n": pa.array([1] * len(batch), pa.int64())}))
    assert ones.accumulate("counts").to_pydict()["path"] == ["n"]


def test_all_columns_are_looked_at_whatever_columns_say(numbers: Any) -> None:
    src = cst.open(numbers, columns=["a"])
    schema = """feature { name: "a" type: INT }
        feature { name: "b" type: BYTES presence { min_count: 1 min_fraction: 1 } }"""
    assert not src.validate(schema).anomalies
    assert src.accumulate("counts").to_pydict()["path"] == ["a", "b"]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("format", ["csv", "tfrecord"])
def test_what_is_dropped_is_told(tmp_path: pathlib.Path, format: str, threads: int) -> None:
    path = tmp_path / f"bad.{format}"
    types: Any = None
    if format == "csv":
        path.write_text("a,b\n" + "1,2\n" * 20 + "3\n" + "4,5\n" * 20 + "6\n")
        types = pa.schema([("a", pa.int64()), ("b", pa.int64())])
    else:
        rows = pa.table({"a": [[i] for i in range(40)], "b": [[i] for i in range(40)]})
        cst.write(rows, path)
        data = bytearray(path.read_bytes())
        size = len(data) // 40
        for record in (10, 30):
            data[size * record + 20] ^= 1
        path.write_bytes(data)
    options: dict[str, Any] = {"types": types, "threads": threads, "batch_size": 4}
    src = cst.open(path, on_error="skip", **options)
    expected = pa.table(src).num_rows
    dropped = src.dropped
    assert len(dropped) == 2
    found = src.accumulate("counts")
    assert found.to_pydict()["rows"] == [expected, expected]
    assert [d.record for d in src.dropped] == [d.record for d in dropped]
    with pytest.raises(cst.errors.LimitError):
        cst.open(path, on_error="skip", max_errors=1, **options).accumulate("counts")
    told: list[Any] = []
    src = cst.open(path, on_error=lambda one: told.append(one.record), **options)
    src.accumulate("counts")
    assert told == [d.record for d in dropped]

    def stop(one: object) -> None:
        raise KeyError(one)

    with pytest.raises(KeyError):
        cst.open(path, on_error=stop, **options).accumulate("counts")


def test_messages_that_do_not_parse_are_rows_of_nulls() -> None:
    records = [b"\x08\x01", b"\xff", b"\x08\x02"]
    file = io.BytesIO()
    with cst.codec.TFRecordWriter(file) as writer:
        for record in records:
            writer.write(record)
    for threads in (1, 2):
        file.seek(0)
        src = cst.open(file, message=wrappers_pb2.Int64Value, on_error="null", threads=threads)
        found = pa.record_batch(src.accumulate("counts"))
        assert found.schema.metadata[b"num_rows"] == b"3"
        assert found.to_pydict()["rows"] == [2]


@pytest.mark.parametrize("format", ["csv", "jsonl", "tfrecord", "arrow"])
def test_a_part_of_no_files(tmp_path: pathlib.Path, format: str) -> None:
    path = tmp_path / f"one.{format}"
    cst.write(pa.table({"a": [1]}), path)
    parts = [cst.open(path).split(i, 3) for i in range(3)]
    checks = [part.validate('feature { name: "a" type: INT }') for part in parts]
    assert sum(check.num_rows for check in checks) == 1
    assert not any(check.anomalies for check in checks)
    assert sorted(part.accumulate("counts").to_pydict()["rows"] for part in parts) == [[], [], [1]]
    assert all(repr(part).startswith("<columnstone.Source") for part in parts)
