"""open and Source: paths, options, passes, threads, schemas, counting and verifying."""

from __future__ import annotations

import gc
import os
import pathlib
import pickle
import subprocess
import sys
import threading

import columnstone as cst
import pyarrow as pa
import pytest
import wire
from conftest import SCHEMA, MakeFile, records
from threads import library_threads


def ids(source: cst.Source) -> list[int]:
    return [row[0] for batch in source for row in batch.to_pydict()["id"]]


def test_the_example_of_the_readme(file: pathlib.Path, schema: cst.Schema) -> None:
    source = cst.open(file, schema=schema, columns=["tags", "id"], batch_size=30, threads=2)
    assert source.schema == schema
    assert source.column_names == ["tags", "id"]
    assert pa.schema(source.arrow_schema).names == ["tags", "id"]
    assert source.batch_size == 30
    assert source.files == [str(file)]
    assert source.total_bytes == file.stat().st_size
    assert [b.num_rows for b in source] == [30, 30, 30, 10]
    assert ids(source) == list(range(100))


def test_head(file: pathlib.Path, schema: cst.Schema) -> None:
    source = cst.open(file, schema=schema, columns=["id"], batch_size=7)
    assert source.head().to_pydict()["id"] == [[i] for i in range(5)]
    for n in (0, 1, 7, 8, 99, 100, 1000):
        batch = source.head(n)
        assert batch.column_names == ["id"]
        assert batch.to_pydict()["id"] == [[i] for i in range(min(n, 100))]
    with pytest.raises(cst.errors.ArgumentError, match="n is -1"):
        source.head(-1)
    reader, writer = os.pipe()
    with os.fdopen(reader), os.fdopen(writer, "wb") as pipe:
        pipe.write(file.read_bytes())
        pipe.close()
        once = cst.open(f"/dev/fd/{reader}", schema=schema)
        assert len(once.head(3)) == 3
        with pytest.raises(cst.errors.StateError, match="only once"):
            once.head(3)


def test_paths(make_file: MakeFile, tmp_path: pathlib.Path) -> None:
    b, a = make_file("b-1", 3, 10), make_file("b-0", 3, 0)
    for paths in ([b, a], (str(b), str(a)), iter([b, str(a)]), [os.fsencode(b), a]):
        assert ids(cst.open(paths)) == [10, 11, 12, 0, 1, 2]
    assert ids(cst.open(str(tmp_path / "b-*"))) == [0, 1, 2, 10, 11, 12]
    assert ids(cst.open([str(tmp_path / "b-[1]"), a])) == [10, 11, 12, 0, 1, 2]
    assert cst.open(tmp_path / "b-?").files == [str(a), str(b)]


def test_a_name_that_looks_like_a_glob(make_file: MakeFile) -> None:
    assert ids(cst.open(make_file("x[1]*.tfrecord", 3))) == [0, 1, 2]


def test_missing(file: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for paths in ("/no/such", [file, "/no/such"], str(tmp_path / "none-*"), ""):
        with pytest.raises(cst.errors.NotFoundError):
            cst.open(paths)


def test_unknown_column(file: pathlib.Path, schema: cst.Schema) -> None:
    with pytest.raises(cst.errors.NotFoundError, match="tags"):
        cst.open(file, schema=schema, columns=["tag"])
    with pytest.raises(cst.errors.NotFoundError, match="tags"):
        list(cst.open(file, columns=["tag"]))


def test_no_columns(file: pathlib.Path, schema: cst.Schema) -> None:
    batches = list(cst.open(file, schema=schema, columns=[], batch_size=60))
    assert [(b.num_rows, b.num_columns) for b in batches] == [(60, 0), (40, 0)]


def test_unknown_format(file: pathlib.Path) -> None:
    with pytest.raises(cst.errors.NotFoundError, match="example"):
        cst.open(file, format="exampel")


@pytest.mark.parametrize(
    "wrong",
    [
        {"batch_size": "1"},
        {"batch_size": 1.5},
        {"threads": "2"},
        {"format": 3},
        {"columns": "id"},
        {"columns": [1]},
        {"schema": 3},
        {"group": 1},
        {"batch_bytes": "x"},
        {"max_record_size": b""},
        {"paths": 3},
        {"paths": None},
        {"paths": [3]},
        {"unheard_of": 1},
    ],
)
def test_wrong_types(file: pathlib.Path, wrong: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        cst.open(**{"paths": file, **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        {"batch_size": 0},
        {"batch_size": -1},
        {"batch_size": 2**63},
        {"threads": 0},
        {"threads": 2**31},
        {"batch_bytes": 0},
        {"max_record_size": 0},
        {"offsets": 16},
        {"paths": []},
    ],
)
def test_wrong_values(file: pathlib.Path, wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        cst.open(**{"paths": file, **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", ["", ".gz", ".zlib", ".zst"])
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_batches_cross_files(
    make_file: MakeFile, suffix: str, threads: int, batch_size: int
) -> None:
    paths = [make_file(f"p{i}{suffix}", n, 100 * i) for i, n in enumerate([5, 0, 17, 1])]
    source = cst.open(paths, schema=SCHEMA, batch_size=batch_size, threads=threads)
    sizes = [b.num_rows for b in source]
    assert sizes == [batch_size] * (23 // batch_size) + [23 % batch_size] * (23 % batch_size > 0)
    assert ids(source) == [*range(5), *range(200, 217), 300]


def test_compression_is_found_from_the_bytes(make_file: MakeFile, tmp_path: pathlib.Path) -> None:
    path = make_file("a.gz", 5).rename(tmp_path / "a.zst")
    assert ids(cst.open(path)) == list(range(5))


def test_threads_give_the_same_batches(make_file: MakeFile) -> None:
    path = make_file("big", 20_000)
    one = [pa.record_batch(b) for b in cst.open(path, schema=SCHEMA, batch_size=777)]
    for threads in (2, 3, 8):
        many = [
            pa.record_batch(b)
            for b in cst.open(path, schema=SCHEMA, batch_size=777, threads=threads)
        ]
        assert len(one) == len(many)
        assert all(a.equals(b) for a, b in zip(one, many, strict=True))


@pytest.mark.parametrize("threads", [1, 3])
def test_early_break_and_two_iterators(make_file: MakeFile, threads: int) -> None:
    path = make_file("big", 5000)
    source = cst.open(path, schema=SCHEMA, batch_size=100, threads=threads)
    before = library_threads()
    first, second = iter(source), iter(source)
    assert next(first).to_pydict()["id"][0] == [0]
    assert next(first).to_pydict()["id"][0] == [100]
    assert next(second).to_pydict()["id"][0] == [0]
    for batch in source:
        assert batch.num_rows == 100
        break
    del first, second
    gc.collect()
    assert library_threads() == before
    assert ids(source) == list(range(5000))


def test_threads_start_at_the_first_next(make_file: MakeFile) -> None:
    source = cst.open(make_file("big", 2000), schema=SCHEMA, threads=4)
    before = library_threads()
    running = iter(source)
    assert library_threads() == before
    next(running)


def test_an_iterator_is_shared_by_threads(make_file: MakeFile) -> None:
    running = iter(cst.open(make_file("big", 5000), schema=SCHEMA, batch_size=10, threads=2))
    seen: list[int] = []

    def work() -> None:
        for batch in running:
            seen.extend(row[0] for row in batch.to_pydict()["id"])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(5000))


def test_the_end_stays_the_end(file: pathlib.Path) -> None:
    running = iter(cst.open(file))
    assert len(list(running)) == 1
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(running)


def test_progress(file: pathlib.Path, schema: cst.Schema) -> None:
    running = iter(cst.open(file, schema=schema, batch_size=10))
    assert isinstance(running, cst.source.Pass)
    assert running.progress() == (0, 0)
    next(running)
    assert running.progress()[1] == 10
    list(running)
    assert running.progress() == (file.stat().st_size, 100)


def test_a_failure_repeats(file: pathlib.Path, schema: cst.Schema) -> None:
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    running = iter(cst.open(file, schema=schema, batch_size=99))
    assert next(running).num_rows == 99
    texts = set()
    for _ in range(3):
        with pytest.raises(cst.errors.CorruptError) as caught:
            next(running)
        texts.add(str(caught.value))
    assert len(texts) == 1


def test_check_crc(file: pathlib.Path, schema: cst.Schema) -> None:
    data = bytearray(file.read_bytes())
    data[-1] ^= 1  # the CRC of the last record's data
    file.write_bytes(data)
    assert ids(cst.open(file, schema=schema, check_crc=False)) == list(range(100))


@pytest.mark.parametrize("memory_map", [False, True])
def test_memory_map(file: pathlib.Path, memory_map: bool) -> None:
    assert ids(cst.open(file, memory_map=memory_map)) == list(range(100))


def test_max_record_size(make_file: MakeFile) -> None:
    path = make_file("d", [wire.example({"a": [b"x" * 1000]})])
    assert len(list(cst.open(path, max_record_size=2000))) == 1
    with pytest.raises(cst.errors.LimitError):
        list(cst.open(path, max_record_size=100))


def test_batch_bytes(file: pathlib.Path, schema: cst.Schema) -> None:
    sizes = [b.num_rows for b in cst.open(file, schema=schema, batch_bytes=500)]
    assert len(sizes) > 5
    assert sum(sizes) == 100


def test_layout_options(file: pathlib.Path, schema: cst.Schema) -> None:
    wanted = pa.table(cst.open(file, schema=schema))
    narrow = cst.open(file, schema=schema, offsets=32)
    assert narrow.arrow_schema.children[0].format == "+l"
    assert pa.table(narrow).cast(wanted.schema).equals(wanted)
    views = cst.open(file, schema=schema, binary_views=True, threads=2)
    table = pa.table(views)
    table.validate(full=True)
    assert table.cast(wanted.schema).equals(wanted)
    fixed = cst.open(file, schema=schema, fixed_size=True)
    assert fixed.arrow_schema.children[1].format == "+w:2"


def test_raw(make_file: MakeFile) -> None:
    path = make_file("d", [b"", b"anything", bytes(5000)])
    source = cst.open(path, format="raw")
    assert source.schema is None
    (batch,) = source
    assert batch.column_names == ["record"]
    assert batch.to_pydict()["record"] == [b"", b"anything", bytes(5000)]


def test_raw_batches_can_be_decoded(file: pathlib.Path, schema: cst.Schema) -> None:
    decoder = cst.decoder("example", schema)
    decoded = [decoder.decode(b) for b in cst.open(file, format="raw", batch_size=33)]
    assert pa.Table.from_batches([pa.record_batch(b) for b in decoded]).equals(
        pa.table(cst.open(file, schema=schema))
    )


# Without a schema


def test_schema_is_inferred_over_all_input(make_file: MakeFile) -> None:
    late = wire.example({"late": [1.5]})
    path = make_file("d", [*records(30_000), late])
    source = cst.open(path)
    assert source.column_names == ["id", "late", "pair", "steps", "tags"]
    assert source.schema is not None
    assert sum(b.num_rows for b in source) == 30_001


def test_a_pipe_is_inferred_over_its_beginning(make_file: MakeFile) -> None:
    early = [wire.example({"a": [1]})] * 10_000
    good = make_file("good", [*early, wire.example({"a": [2]})])
    bad = make_file("bad", [*early, wire.example({"late": [2]})])
    code = """if True:
        import sys, columnstone as cst
        source = cst.open("-")
        try:
            print(sum(b.num_rows for b in source))
        except cst.errors.SchemaError as e:
            print("SchemaError", e.record, e)
        try:
            list(source)
        except cst.errors.StateError as e:
            print("StateError")
    """
    outputs = []
    for path in (good, bad):
        with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
            done = subprocess.run(
                [sys.executable, "-c", code], stdin=cat.stdout, capture_output=True, check=True
            )
        outputs.append(done.stdout.decode().splitlines())
    assert outputs[0] == ["10001", "StateError"]
    assert outputs[1][0].startswith("SchemaError 10000 ")
    assert "schema infer" in outputs[1][0]
    assert outputs[1][1] == "StateError"


def test_empty_files(make_file: MakeFile, schema: cst.Schema) -> None:
    path = make_file("empty", 0)
    assert list(cst.open(path, schema=schema)) == []
    assert pa.table(cst.open(path, schema=schema)).num_rows == 0
    assert pa.table(cst.open(path, schema=schema)).schema.names == ["id", "pair", "tags", "steps"]
    assert pa.table(cst.open(path)).num_columns == 0


# Life


def test_context_manager_and_close(make_file: MakeFile, schema: cst.Schema) -> None:
    path = make_file("big", 5000)
    with cst.open(path, schema=schema, batch_size=10, threads=3) as source:
        running = iter(source)
        next(running)
    with pytest.raises(cst.errors.StateError):
        next(running)
    for use in (iter, lambda s: s.tensors(), lambda s: s.schema, lambda s: s.__arrow_c_stream__()):
        with pytest.raises(cst.errors.StateError):
            use(source)
    source.close()
    assert "closed" in repr(source)


def test_repr_shows_the_first_rows(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    rows = pa.table({"id": range(12), "tags": [["a", "b"]] * 12})
    for ending in ("csv", "jsonl", "arrow", "parquet", "tfrecord", "tfrecord.gz"):
        path = tmp_path / f"rows.{ending}"
        cst.write(rows.select(["id"]) if ending == "csv" else rows, path)
        lines = repr(cst.open(path)).split("\n")
        assert lines[0].startswith(f"Source {str(path)!r}, ")
        assert lines[1].split()[0] == "id"
        assert [line.split()[0].strip("[],") for line in lines[4:14]] == [str(i) for i in range(10)]
        assert lines[14:] == [" …"]
    assert " and 1 more, 1 column" in repr(cst.open([tmp_path / "rows.csv"] * 2))
    cst.write(rows.slice(0, 2), tmp_path / "few.jsonl")
    assert "…" not in repr(cst.open(tmp_path / "few.jsonl", columns=["id"]))


def test_repr_calls_nobody_and_uses_nothing_up(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": 1}\n{"id": "one"}\n')
    source = cst.open(path, on_error=lambda dropped: pytest.fail("called"), columns=["id"])
    plain = f"<columnstone.Source {str(path)!r}"
    assert repr(source) == f"{plain}: id>"
    assert repr(source.map(pytest.fail)) == f"{plain}>"
    assert repr(cst.open(path)) == f"{plain}>"  # its values are of two types
    path.write_text('{"id": 1}\n')
    query = cst.Query.from_text("from table [{id: int64}]\noutput twice = id + id")
    viewed = cst.open(path, view=query)
    assert repr(viewed) == f"{plain}: twice int64?>"
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    assert repr(cst.open(pipe, format="json", columns=["id"])).endswith("pipe.jsonl': id>")
    reader = pa.table({"id": [1]}).to_reader()
    source = cst.open(reader)
    assert repr(source).startswith("<columnstone.Source ")
    assert source.num_rows == 1


def test_streams_outlive_the_source(file: pathlib.Path, schema: cst.Schema) -> None:
    with cst.open(file, schema=schema, threads=2) as source:
        reader = pa.RecordBatchReader.from_stream(source)
    del source
    assert reader.read_all().num_rows == 100


def test_pickle(file: pathlib.Path, schema: cst.Schema) -> None:
    source = cst.open(
        file, schema=schema, columns=["tags", "id"], batch_size=7, threads=2, offsets=32
    )
    again = pickle.loads(pickle.dumps(source))
    assert again.arrow_schema == source.arrow_schema
    assert again.batch_size == 7
    assert [b.to_pydict() for b in again] == [b.to_pydict() for b in source]
    third = pickle.loads(pickle.dumps(again))
    assert ids(third) == ids(source)


def test_pickle_keeps_the_files_of_the_glob(make_file: MakeFile, tmp_path: pathlib.Path) -> None:
    make_file("a-0", 3)
    data = pickle.dumps(cst.open(str(tmp_path / "a-*")))
    make_file("a-1", 3)
    assert len(pickle.loads(data).files) == 1


def test_last_error(file: pathlib.Path, schema: cst.Schema) -> None:
    source = cst.open(file, schema=schema, batch_size=10)
    assert source.last_error is None
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(Exception, match="record 99"):
        pa.table(source)
    error = source.last_error
    assert isinstance(error, cst.errors.CorruptError)
    assert (error.file, error.record) == (str(file), 99)


def test_a_file_that_vanishes(make_file: MakeFile, schema: cst.Schema) -> None:
    path = make_file("d", 10)
    source = cst.open(path, schema=schema)
    path.unlink()
    with pytest.raises(cst.Error) as caught:
        list(source)
    assert caught.value.file == str(path)


# Without decoding


def test_count(make_file: MakeFile) -> None:
    paths = [make_file("a", 5), make_file("b.gz", 7)]
    counts = cst.open(paths).count()
    assert [c.records for c in counts] == [5, 7]
    assert [c.file for c in counts] == [str(p) for p in paths]
    assert [c.file_bytes for c in counts] == [p.stat().st_size for p in paths]
    assert counts[1].record_bytes == sum(map(len, records(7)))
    assert counts[1].stream_bytes == counts[1].record_bytes + 7 * 16


def test_count_of_parts(make_file: MakeFile) -> None:
    source = cst.open(make_file("a", 30))
    whole = source.count()[0]
    parts = [source[:10].count()[0], source[10:20].count()[0], source[20:].count()[0]]
    assert sum(part.stream_bytes for part in parts) == whole.stream_bytes
    for part in parts:
        assert part.stream_bytes == part.record_bytes + 10 * 16 == part.file_bytes


def test_count_of_a_cut_file(file: pathlib.Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(cst.errors.CorruptError):
        cst.open(file).count()


def test_verify(make_file: MakeFile) -> None:
    good, bad = make_file("good", 5), make_file("bad", 5)
    data = bytearray(bad.read_bytes())
    second = 16 + len(records(1)[0])
    data[second + 14] ^= 1
    bad.write_bytes(bytes(data[:-1]))
    found = cst.open([good, bad]).verify()
    assert [f.kind for f in found.faults] == ["data-crc", "truncated"]
    assert all((f.code, f.file) == ("CORRUPT", str(bad)) for f in found.faults)
    first = found.faults[0]
    assert (first.record, first.offset, first.path) == (1, second, None)
    assert str(first).startswith(f"{bad}: record 1, byte {second}: data CRC")
    assert [f.file for f in found.files] == [str(good), str(bad)]
    assert not found and found.num_faults == 2
    assert str(found).endswith("\n2 files, 9 records, 2 faults")
    assert found.batch.to_pydict()["record"] == [1, 4]
    bounded = cst.open([good, bad]).verify(max_faults=1)
    assert (bounded.num_faults, bounded.faults) == (2, [first])
    assert cst.open(good).verify()
    with pytest.raises(cst.errors.ArgumentError, match="max_faults"):
        cst.open(good).verify(max_faults=0)


def test_verify_against_the_schema(make_file: MakeFile) -> None:
    path = make_file("d", [wire.example({"id": [1]}), wire.example({"id": [b"x"]})])
    (fault,) = cst.open(path, schema='feature { name: "id" type: INT }').verify().faults
    assert fault.kind == "record"
    assert (fault.code, fault.path) == ("SCHEMA", "id")


# Batches


def test_record_batch(file: pathlib.Path, schema: cst.Schema) -> None:
    batch = next(iter(cst.open(file, schema=schema, batch_size=10)))
    assert (len(batch), batch.num_rows, batch.num_columns) == (10, 10, 4)
    assert batch.column_names == ["id", "pair", "tags", "steps"]
    assert batch.schema.names == batch.column_names
    assert repr(batch).startswith("RecordBatch, 10 rows, 4 columns\n")
    values = batch.to_pydict()
    assert values["id"] == [[i] for i in range(10)]
    assert values["pair"][1] == [1.5, -1.0]
    assert values["tags"][:5] == [None, [b"tag0"], [b"tag0", b"tag1"], None, wanted_tags(4)]
    assert values["steps"][:4] == [[], [0], [0, 1], [0, 1, 2]]
    assert batch["id"].to_pylist() == batch.column(0).to_pylist() == values["id"]
    assert batch[-1][3] == [0, 1, 2]
    with pytest.raises(KeyError):
        batch["none"]
    with pytest.raises(IndexError):
        batch[4]
    with pytest.raises(TypeError):
        batch[1.5]  # type: ignore[index]


def wanted_tags(count: int) -> list[bytes]:
    return [b"tag%d" % k for k in range(count)]


def test_arrow_schema(file: pathlib.Path, schema: cst.Schema) -> None:
    first = cst.open(file, schema=schema).arrow_schema
    second = cst.open(file, schema=schema).arrow_schema
    assert first == second
    assert hash(first) == hash(second)
    assert len(first) == 4
    assert first != cst.open(file, schema=schema, columns=["id"]).arrow_schema
    assert first != 3
    assert [c.name for c in first.children] == first.names
    assert first.children[0].nullable
    assert "pair: large_list<float32>" in repr(first)


def test_one_batch_many_exports(file: pathlib.Path, schema: cst.Schema) -> None:
    batch = next(iter(cst.open(file, schema=schema)))
    exports = [pa.record_batch(batch) for _ in range(5)]
    columns = [pa.array(batch["tags"]) for _ in range(5)]
    del batch
    gc.collect()
    for export, column in zip(exports, columns, strict=True):
        export.validate(full=True)
        assert export["tags"].equals(column)


def test_max_inflation(make_file: MakeFile) -> None:
    path = make_file("zeros.gz", [bytes(80_000_000)])
    with pytest.raises(cst.errors.LimitError) as caught:
        list(cst.open(path, format="raw"))
    assert "max_inflation" in str(caught.value.hint)
    assert [b.num_rows for b in cst.open(path, format="raw", max_inflation=10_000)] == [1]
    with pytest.raises(cst.errors.ArgumentError):
        cst.open(path, max_inflation=0)


def test_types_come_from_a_sample_if_asked_for(tmp_path: pathlib.Path) -> None:
    rows: list[dict[str, wire.Values]] = [{"a": [1]}, {"a": [2]}, {"a": [3], "b": [4]}]
    path = tmp_path / "x.tfrecord"
    with cst.codec.TFRecordWriter(path) as writer:
        for row in rows:
            writer.write(wire.example(row))
    assert cst.open(path).column_names == ["a", "b"]
    source = pickle.loads(pickle.dumps(cst.open(path, sample_records=2, batch_size=1)))
    assert source.column_names == ["a"]
    batches = iter(source)
    assert [next(batches).to_pydict(), next(batches).to_pydict()] == [{"a": [[1]]}, {"a": [[2]]}]
    with pytest.raises(cst.errors.SchemaError) as caught:
        next(batches)
    assert caught.value.record == 2
    with pytest.raises(
        cst.errors.NotFoundError, match="no feature of that name in the first 2 records"
    ):
        _ = cst.open(path, sample_records=2, columns=["b"]).arrow_schema
    with pytest.raises(cst.errors.ArgumentError, match="sample_records"):
        cst.open(path, sample_records=-1)


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_types_of_tables_come_from_a_sample_if_asked_for(tmp_path: pathlib.Path, name: str) -> None:
    path = tmp_path / name
    text = "a\n1\n2\nx\n" if name == "x.csv" else '{"a": 1}\n{"a": 2}\n{"a": "x"}\n'
    path.write_text(text)
    for flat in (False, True):
        source = cst.open(path, sample_records=2, batch_size=1, flat=flat)
        assert pa.schema(source.arrow_schema).field("a").type == pa.int64()
        with pytest.raises(cst.errors.SchemaError) as caught:
            list(source)
        assert caught.value.record == 2


def test_flat_looks_at_the_sample_of_a_table(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": [1]}\n{"a": [2]}\n{"a": [3, 4]}\n')
    assert "list" in str(pa.schema(cst.open(path, flat=True).arrow_schema).field("a").type)
    source = cst.open(path, flat=True, sample_records=2, batch_size=1)
    assert pa.schema(source.arrow_schema).field("a").type == pa.int64()
    batches = iter(source)
    assert [next(batches).to_pydict(), next(batches).to_pydict()] == [{"a": [1]}, {"a": [2]}]
    with pytest.raises(cst.errors.SchemaError):
        next(batches)
