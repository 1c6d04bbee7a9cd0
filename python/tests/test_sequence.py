"""Decoders and encoders of SequenceExamples, and files of SequenceExamples."""

from __future__ import annotations

import pathlib
import pickle

import columnstone as cst
import polars as pl
import pyarrow as pa
import pytest
import wire
from conftest import MakeFile

SCHEMA = """
feature { name: "id" type: INT }
feature {
  name: "##SEQUENCE##" type: STRUCT
  struct_domain {
    feature { name: "steps" type: INT }
    feature { name: "words" type: BYTES }
  }
}
"""
BIG = 2**63 - 1


def sequence(
    context: dict[str, wire.Values], lists: dict[str, list[wire.Values]] | None = None
) -> bytes:
    """A SequenceExample by hand. A feature list of None features: ones without a kind."""
    out = wire.field(1, b"".join(wire.entry(k, wire.feature(v)) for k, v in context.items()))
    if lists is None:
        return out
    entries = []
    for name, features in lists.items():
        body = b"".join(wire.field(1, wire.feature(f)) for f in features)
        entries.append(wire.field(1, wire.field(1, name.encode()) + wire.field(2, body)))
    return out + wire.field(2, b"".join(entries))


RECORDS = [
    sequence({"id": [1]}, {"steps": [[1, 2], [], [BIG, -BIG - 1]], "words": [[b"a"]]}),
    sequence({"id": [2]}, {"steps": []}),
    sequence({}, {"steps": [[3], None]}),
    sequence({"id": [4]}),
]
WITH_SCHEMA = {
    "id": [[1], [2], None, [4]],
    "##SEQUENCE##": [
        {"steps": [[1, 2], [], [BIG, -BIG - 1]], "words": [[b"a"]]},
        {"steps": [], "words": None},
        {"steps": [[3], None], "words": None},
        {"steps": None, "words": None},
    ],
}


@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["inferred", "schema"])
def test_every_state_of_a_cell(schema: str | None) -> None:
    decoder = cst.decoder("sequence_example", schema)
    assert decoder.decode(RECORDS).to_pydict() == WITH_SCHEMA
    assert decoder.decode(pa.array(RECORDS)).to_pydict() == WITH_SCHEMA
    assert decoder.decode(iter(RECORDS)).to_pydict() == WITH_SCHEMA


def test_arrow_types() -> None:
    inner = pa.large_list(pa.large_list(pa.int64()))
    decoder = cst.decoder("sequence_example", SCHEMA, ["##SEQUENCE##.steps", "id"])
    assert decoder.arrow_schema is not None
    assert pa.schema(decoder.arrow_schema).equals(
        pa.schema({"##SEQUENCE##": pa.struct([("steps", inner)]), "id": pa.large_list(pa.int64())})
    )
    assert cst.decoder("sequence_example").arrow_schema is None
    small = cst.decoder("sequence_example", SCHEMA, offsets=32).decode(RECORDS)
    assert pa.record_batch(small).schema.field("id").type == pa.list_(pa.int64())


@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["inferred", "schema"])
def test_there_and_back(schema: str | None) -> None:
    decoder, encoder = (
        cst.decoder("sequence_example", schema),
        cst.encoder("sequence_example", schema),
    )
    batch = decoder.decode(RECORDS)
    encoded = encoder.encode(batch)
    assert decoder.decode(encoded).to_pydict() == batch.to_pydict()
    table = pa.table(pa.record_batch(batch))
    assert encoder.encode(pa.concat_tables([table] * 3)).to_pylist() == encoded.to_pylist() * 3
    assert encoder.encode(pl.DataFrame(pa.record_batch(batch))).to_pylist() == encoded.to_pylist()


def test_lists_without_values_have_narrow_offsets_too() -> None:
    decoder = cst.decoder("sequence_example", SCHEMA, offsets=32)
    full = sequence({}, {"words": [[b"abc"], [b"de"]]})
    empty = sequence({}, {"words": [None, None]})
    wanted = {full: [[b"abc"], [b"de"]], empty: [None, None]}
    for records in ([empty], [full, full], [empty], [full, empty], [empty, empty]):
        batch = pa.record_batch(decoder.decode(records))
        batch.validate(full=True)
        rows = batch.column("##SEQUENCE##").to_pylist()
        assert [row["words"] for row in rows] == [wanted[record] for record in records]


def test_another_name_of_the_struct_column() -> None:
    decoder = cst.decoder("sequence_example", sequence_column="seq")
    batch = decoder.decode(RECORDS)
    assert batch.column_names == ["id", "seq"]
    encoder = cst.encoder("sequence_example", sequence_column="seq")
    assert decoder.decode(encoder.encode(batch)).to_pydict() == batch.to_pydict()
    assert pickle.loads(pickle.dumps(decoder)).decode(RECORDS).column_names == ["id", "seq"]
    copied = pickle.loads(pickle.dumps(encoder))
    assert copied.encode(batch).to_pylist() == encoder.encode(batch).to_pylist()


def test_pickling_keeps_the_schema() -> None:
    decoder = pickle.loads(
        pickle.dumps(cst.decoder("sequence_example", SCHEMA, ["id"], offsets=32))
    )
    assert decoder.decode(RECORDS).column_names == ["id"]
    assert decoder.schema == cst.Schema(SCHEMA)
    assert (
        pickle.loads(pickle.dumps(cst.encoder("sequence_example", SCHEMA))).schema == decoder.schema
    )


def test_what_is_refused() -> None:
    decoder = cst.decoder("sequence_example", SCHEMA)
    with pytest.raises(cst.errors.CorruptError) as corrupt:
        decoder.decode([*RECORDS, b"\xff"])
    assert corrupt.value.record == 4
    bad = sequence({"id": [1]}, {"steps": [[1], [b"text"]]})
    with pytest.raises(cst.errors.SchemaError) as schema:
        decoder.decode([RECORDS[0], bad])
    assert (schema.value.record, schema.value.path) == (1, "##SEQUENCE##.steps")
    with pytest.raises(TypeError):
        decoder.decode([None])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="sequence_column"):
        cst.decoder("sequence_example", sequence_column=1)  # type: ignore[arg-type]
    with pytest.raises(cst.errors.NotFoundError):
        cst.decoder("sequence_example", SCHEMA, ["nothing"])
    with pytest.raises(cst.errors.UnsupportedError):
        cst.encoder("sequence_example").encode(pa.table({"id": [[1, None]]}))
    assert decoder.decode(RECORDS).to_pydict() == WITH_SCHEMA


def test_files(make_file: MakeFile) -> None:
    path = make_file("seq.tfrecord", RECORDS * 10)
    source = cst.open(path, "sequence_example", schema=SCHEMA, batch_size=15, threads=2)
    assert [b.num_rows for b in source] == [15, 15, 10]
    assert pa.table(source).to_pydict() == {k: v * 10 for k, v in WITH_SCHEMA.items()}
    assert pickle.loads(pickle.dumps(source)).arrow_schema == source.arrow_schema
    named = cst.open(path, "sequence_example", sequence_column="seq")
    assert named.column_names == ["id", "seq"]


def test_files_there_and_back(make_file: MakeFile, tmp_path: pathlib.Path) -> None:
    path = make_file("seq.tfrecord", RECORDS * 10)
    source = cst.open(path, "sequence_example", batch_size=7)
    copy = tmp_path / "copy.tfrecord.gz"
    assert cst.write(source, copy, "sequence_example") == 40
    assert pa.table(cst.open(copy, "sequence_example")).equals(pa.table(source))


def test_nested_columns_are_a_flag() -> None:
    schema = """
    feature { name: "x" type: INT }
    feature { name: "lengths" type: INT }
    tensor_representation_group { key: "" value { tensor_representation { key: "t" value {
      ragged_tensor { feature_path { step: "x" } partition { row_length: "lengths" } } } } } }
    """
    records = [wire.example({"x": [1, 2, 3], "lengths": [2, 0, 1]})]
    batch = cst.decoder("example", schema, nested=True).decode(records)
    assert [[1, 2], [], [3]] in [column[0] for column in batch.to_pydict().values()]
    flat = cst.decoder("example", schema).decode(records).to_pydict()
    assert flat == {"x": [[1, 2, 3]], "lengths": [[2, 0, 1]]}
    copied = pickle.loads(pickle.dumps(cst.decoder("example", schema, nested=True)))
    assert copied.decode(records).to_pydict() == batch.to_pydict()
