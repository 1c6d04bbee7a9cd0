"""Decoders of tf.Examples: inputs of every kind, cell states, options, threads."""

from __future__ import annotations

import array
import pickle
import sys
import threading
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
import wire
from conftest import records

RECORDS = records(20)


def table(batch: cst.RecordBatch) -> pa.RecordBatch:
    out = pa.record_batch(batch)
    out.validate(full=True)
    return out


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        iter,
        lambda r: (x for x in r),
        lambda r: [bytearray(x) for x in r],
        lambda r: [memoryview(x) for x in r],
        lambda r: [array.array("B", x) for x in r],
        lambda r: [bytearray(x) if i % 2 else x for i, x in enumerate(r)],
        lambda r: pa.array(r, pa.binary()),
        lambda r: pa.array(r, pa.large_binary()),
        lambda r: pa.array(r, pa.binary_view()),
        lambda r: pa.array([b"", *r, b""], pa.binary()).slice(1, len(r)),
        lambda r: pa.record_batch({"record": pa.array(r, pa.binary())}),
        lambda r: pa.record_batch({"record": pa.array([b"", *r], pa.binary())}).slice(1),
    ],
)
def test_inputs(schema: cst.Schema, make) -> None:
    wanted = table(cst.decoder("example", schema).decode(RECORDS))
    assert table(cst.decoder("example", schema).decode(make(RECORDS))).equals(wanted)
    assert (
        table(cst.decoder("example", schema, binary_views=True).decode(make(RECORDS)))
        .cast(wanted.schema)
        .equals(wanted)
    )


@pytest.mark.parametrize("place", [0, 1, 31, 32, 40])
def test_a_list_with_one_that_is_not_bytes(schema: cst.Schema, place: int) -> None:
    class Derived(bytes):
        pass

    records = [RECORDS[i % len(RECORDS)] for i in range(70)]
    decoder = cst.decoder("example", schema)
    wanted = decoder.decode(tuple(records)).to_pydict()
    mine = [bytes(bytearray(record)) for record in records]
    counts = [sys.getrefcount(record) for record in mine]
    assert decoder.decode(mine).to_pydict() == wanted
    for other in (bytearray, Derived, memoryview):
        given: list[Any] = [*mine[:place], other(mine[place]), *mine[place + 1 :]]
        assert decoder.decode(given).to_pydict() == wanted
    with pytest.raises(TypeError, match=rf"records\[{place}\] is int"):
        decoder.decode([*mine[:place], 5, *mine[place + 1 :]])
    with pytest.raises(cst.Error):
        decoder.decode([*mine[:place], b"\x0b", *mine[place + 1 :]])
    del given
    assert [sys.getrefcount(record) for record in mine] == counts


def test_our_own_array(schema: cst.Schema) -> None:
    decoder = cst.decoder("example", schema)
    batch = decoder.decode(RECORDS)
    again = decoder.decode(cst.encoder("example", schema).encode(batch))
    assert again.to_pydict() == batch.to_pydict()


def test_cell_states() -> None:
    schema = 'feature { name: "a" type: INT } feature { name: "b" type: BYTES }'
    cases = {
        b"": None,
        wire.example({}): None,
        wire.example({"a": None}): None,
        wire.field(1, wire.entry("a", wire.feature([], "int"))): [],
        wire.example({"a": [5]}): [5],
        wire.example({"a": [-1, 2**62, 0]}): [-1, 2**62, 0],
    }
    batch = cst.decoder("example", schema).decode(list(cases))
    assert batch.to_pydict() == {"a": list(cases.values()), "b": [None] * len(cases)}


def test_without_schema() -> None:
    batch = cst.decoder("example").decode(
        [wire.example({"z": [1], "a": None}), wire.example({"m": [b"x"]}), b""]
    )
    assert batch.column_names == ["a", "m", "z"]
    assert batch.schema.children[0].format == "n"
    assert batch.to_pydict() == {
        "a": [None] * 3,
        "m": [None, [b"x"], None],
        "z": [[1], None, None],
    }


def test_each_call_has_its_own_schema() -> None:
    decoder = cst.decoder("example")
    assert decoder.arrow_schema is None
    assert decoder.decode([wire.example({"a": [1]})]).column_names == ["a"]
    assert decoder.decode([wire.example({"b": [1.5]})]).column_names == ["b"]


def test_no_records(schema: cst.Schema) -> None:
    batch = cst.decoder("example", schema).decode([])
    assert (batch.num_rows, batch.column_names) == (0, ["id", "pair", "tags", "steps"])
    batch = cst.decoder("example").decode([])
    assert (batch.num_rows, batch.num_columns) == (0, 0)


def test_no_features_keeps_the_rows() -> None:
    batch = cst.decoder("example", b"").decode(RECORDS)
    assert (len(batch), batch.num_rows, batch.num_columns) == (20, 20, 0)
    assert table(batch).num_rows == 20


def test_columns(schema: cst.Schema) -> None:
    batch = cst.decoder("example", schema, ["tags", "id"]).decode(RECORDS)
    assert batch.column_names == ["tags", "id"]
    assert cst.decoder("example", schema, ("id",)).decode(RECORDS).column_names == ["id"]
    with pytest.raises(cst.errors.NotFoundError, match="steps"):
        cst.decoder("example", schema, ["step"])


@pytest.mark.parametrize("wrong", ["id", b"id", [b"id"], [1], 3])
def test_wrong_columns(schema: cst.Schema, wrong: object) -> None:
    with pytest.raises(TypeError):
        cst.decoder("example", schema, wrong)  # type: ignore[arg-type]


def test_nul_in_a_column_name(schema: cst.Schema) -> None:
    with pytest.raises(ValueError, match="NUL"):
        cst.decoder("example", schema, ["id\0"])


def test_malformed_unwanted_features_do_no_harm() -> None:
    bad = wire.field(
        1, wire.entry("bad", wire.field(3, b"\x08")) + wire.entry("a", wire.feature([1]))
    )
    schema = 'feature { name: "a" type: INT } feature { name: "bad" type: INT }'
    assert cst.decoder("example", schema, ["a"]).decode([bad]).to_pydict() == {"a": [[1]]}
    with pytest.raises(cst.errors.CorruptError):
        cst.decoder("example", schema).decode([bad])


def test_layout_options(schema: cst.Schema) -> None:
    formats = {
        (): ["+L", "+L", "+L", "+L"],
        ("offsets",): ["+l", "+l", "+l", "+l"],
        ("fixed_size",): ["+w:1", "+w:2", "+L", "+L"],
    }
    for options, wanted in formats.items():
        values = {name: 32 if name == "offsets" else True for name in options}
        batch = cst.decoder("example", schema, **values).decode(RECORDS)
        assert [c.format for c in batch.schema.children] == wanted
        table(batch)
    views = cst.decoder("example", schema, binary_views=True).decode(RECORDS)
    assert views.schema.children[2].children[0].format == "vz"
    assert views.to_pydict() == cst.decoder("example", schema).decode(RECORDS).to_pydict()
    with pytest.raises(cst.errors.ArgumentError):
        cst.decoder("example", schema, offsets=16)


def test_views_of_arrow_input_are_zero_copy() -> None:
    image = b"\x5a" * 100_000
    records = pa.array([wire.example({"image": [image]})], pa.large_binary())
    decoder = cst.decoder("example", 'feature { name: "image" type: BYTES }', binary_views=True)
    column = table(decoder.decode(records)).column("image").values
    source = records.buffers()[2]
    inside = [b for b in column.buffers()[2:] if b is not None]
    assert any(source.address <= b.address < source.address + source.size for b in inside)
    del records, source
    assert column.to_pylist() == [image]


@pytest.mark.parametrize("wrong", [None, "text", b"bytes", bytearray(b"x"), {"a": 1}, 5, 1.5])
def test_wrong_argument(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"decode\(\) takes a list"):
        cst.decoder("example").decode(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, "text", 5, []])
def test_wrong_record_is_named_by_index(wrong: object) -> None:
    for rest in [[], [b""], [bytearray()]]:
        with pytest.raises(
            TypeError, match=rf"records\[{1 + len(rest)}\] is {type(wrong).__name__}"
        ):
            cst.decoder("example").decode([b"", *rest, wrong])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "wrong",
    [pa.array([1]), pa.array([b"", None]), pa.array([[b""]]), pa.record_batch({"a": [1]})],
)
def test_wrong_arrow_input(wrong: pa.Array) -> None:
    with pytest.raises((cst.Error, TypeError)):
        cst.decoder("example").decode(wrong)


def test_type_mismatch_names_record_and_feature(schema: cst.Schema) -> None:
    with pytest.raises(cst.errors.SchemaError) as caught:
        cst.decoder("example", schema).decode([*RECORDS, wire.example({"id": [b"x"]})])
    assert (caught.value.record, caught.value.path) == (20, "id")


def test_pickle(schema: cst.Schema) -> None:
    decoder = cst.decoder("example", schema, ["tags", "id"], offsets=32, binary_views=True)
    again = pickle.loads(pickle.dumps(decoder))
    assert again.arrow_schema == decoder.arrow_schema
    assert again.decode(RECORDS).to_pydict() == decoder.decode(RECORDS).to_pydict()
    assert pickle.loads(pickle.dumps(cst.decoder("example"))).schema is None


def test_the_list_may_change_while_decoding(schema: cst.Schema) -> None:
    decoder = cst.decoder("example", schema)
    shared = records(200)
    stop = threading.Event()

    def mutate() -> None:
        while not stop.is_set():
            shared.append(records(1)[0])
            del shared[0]

    thread = threading.Thread(target=mutate)
    thread.start()
    try:
        for _ in range(200):
            assert decoder.decode(shared).num_rows in (199, 200, 201)
    finally:
        stop.set()
        thread.join()


def test_one_decoder_in_many_threads(schema: cst.Schema) -> None:
    decoder = cst.decoder("example", schema)
    wanted = decoder.decode(RECORDS).to_pydict()
    wrong: list[object] = []

    def work() -> None:
        for _ in range(100):
            got = decoder.decode(RECORDS).to_pydict()
            if got != wanted:
                wrong.append(got)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_batches_outlive_the_decoder(schema: cst.Schema) -> None:
    decoder = cst.decoder("example", schema)
    batches = [decoder.decode(RECORDS[:k]) for k in range(20)]
    wanted = [b.to_pydict() for b in batches]
    del decoder
    assert [b.to_pydict() for b in batches] == wanted


def test_one_column_of_many_large_batches_outlives_the_others(schema: cst.Schema) -> None:
    """Batches that are kept share blocks of memory, which live as long as anything in them."""
    decoder = cst.decoder("example", schema)
    data = RECORDS * 500
    wanted = table(decoder.decode(data))
    assert wanted.nbytes > 256 << 10
    kept = [table(decoder.decode(data)) for _ in range(16)]
    assert all(batch.equals(wanted) for batch in kept)
    column = kept[9].column(0)
    del kept
    for _ in range(8):  # what was released is filled again
        decoder.decode(RECORDS[::-1] * 500)
    del decoder
    assert column.equals(wanted.column(0))


def test_streams_of_one_binary_column(schema: cst.Schema) -> None:
    data = records(7)
    decoder = cst.decoder("example", schema)
    expected = decoder.decode(data).to_pydict()
    array = pa.array(data, pa.binary())
    chunked = pa.chunked_array([array.slice(0, 3), array.slice(3)])
    tables = [pa.table({"r": array}), pa.table({"r": chunked})]
    for given in (*tables, chunked, pa.chunked_array([array])):
        assert decoder.decode(given).to_pydict() == expected
    assert decoder.decode(pa.table({"r": array.slice(0, 0)})).num_rows == 0
    with pytest.raises(cst.errors.ArgumentError, match="2 columns"):
        decoder.decode(pa.table({"a": array, "b": array}))
