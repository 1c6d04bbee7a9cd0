"""Parquet, both ways: the plug-in (through the command line and the C library) and pyarrow.

Each test runs for both. What one way writes, the other has to read: the same table, with its types.
COLUMNSTONE_BUILD names the Meson build folder with the plug-in (default: build/release). The Python
way needs the package columnstone in the environment; without it, or without the plug-in, a way is
skipped.
"""

import ctypes
import os
import pathlib
import shutil
import struct
import subprocess
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tfrecords import field, varint, write_tfrecords

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("COLUMNSTONE_BUILD", TOP / "build/release")).resolve()
CLI = BUILD / "cli/columnstone"
PLUGIN = BUILD / "plugins/parquet/columnstone-parquet.so"

LISTS = {
    "ints": pa.large_list(pa.int64()),
    "floats": pa.large_list(pa.float32()),
    "texts": pa.large_list(pa.large_binary()),
}


def run(*arguments: str | pathlib.Path) -> bytes:
    done = subprocess.run([CLI, *map(str, arguments)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


# ---- tf.Example by hand ----


def feature(values: list[Any] | None, kind: str) -> bytes:
    if values is None:
        return b""
    if kind == "ints":
        return field(3, field(1, b"".join(map(varint, values))) if values else b"")
    if kind == "floats":
        return field(2, field(1, struct.pack(f"<{len(values)}f", *values)) if values else b"")
    return field(1, b"".join(field(1, value) for value in values))


def example(row: dict[str, list[Any] | None]) -> bytes:
    entries = [(name, feature(values, name)) for name, values in row.items() if values is not None]
    return field(1, b"".join(field(1, field(1, n.encode()) + field(2, f)) for n, f in entries))


# Rows of every cell state: values, empty, absent.
ROWS: list[dict[str, list[Any] | None]] = [
    {"ints": [1, -(2**63), 2**63 - 1], "floats": [0.5], "texts": [b"a", b"\xff\x00", b""]},
    {"ints": [], "floats": [], "texts": []},
    {"ints": None, "floats": None, "texts": None},
    {"ints": [7], "floats": [float("inf"), -0.0], "texts": [b"z"]},
]


def expected(rows: list[dict[str, Any]], columns: list[str] | None = None) -> pa.Table:
    names = columns or sorted(LISTS)
    arrays = [pa.array([row[name] for row in rows], LISTS[name]) for name in names]
    return pa.table(arrays, names=names)


# ---- the two ways ----


class PluginWay:
    """The C plug-in, through the command line."""

    def write(self, source: pathlib.Path, output: pathlib.Path, columns: list[str] | None) -> None:
        wanted = ["--columns", ",".join(columns)] if columns else []
        run("convert", source, output, "--schema", source.with_suffix(".pbtxt"), *wanted)

    def read(self, path: pathlib.Path, columns: list[str] | None) -> pa.Table:
        wanted = ["--columns", ",".join(columns)] if columns else []
        stream = run("convert", path, "-", "--to", "arrows", *wanted)
        return pa.ipc.open_stream(stream).read_all()


class PythonWay:
    """pyarrow, over the stream of a source."""

    def write(self, source: pathlib.Path, output: pathlib.Path, columns: list[str] | None) -> None:
        cst = pytest.importorskip("columnstone")
        schema = str(source.with_suffix(".pbtxt"))
        pq.write_table(pa.table(cst.open(str(source), schema=schema, columns=columns)), output)

    def read(self, path: pathlib.Path, columns: list[str] | None) -> pa.Table:
        return pq.read_table(path, columns=columns)


@pytest.fixture(params=["plugin", "python"])
def way(request: pytest.FixtureRequest) -> PluginWay | PythonWay:
    if request.param == "python":
        return PythonWay()
    if not PLUGIN.exists():
        pytest.skip(f"there is no {PLUGIN}")
    return PluginWay()


@pytest.fixture
def records(tmp_path: pathlib.Path):
    """Writes rows as a TFRecord file with a schema beside it."""

    def write(rows: list[dict[str, Any]]) -> pathlib.Path:
        path = tmp_path / "x.tfrecord"
        kinds = {"ints": "INT", "floats": "FLOAT", "texts": "BYTES"}
        lines = [f'feature {{ name: "{name}" type: {kinds[name]} }}\n' for name in sorted(LISTS)]
        path.with_suffix(".pbtxt").write_text("".join(lines))
        write_tfrecords(path, map(example, rows))
        return path

    return write


def check(found: pa.Table, wanted: pa.Table) -> None:
    found.validate(full=True)
    assert found.schema.remove_metadata() == wanted.schema
    assert found.equals(wanted)


# ---- writing ----


def test_written_values(way, records, tmp_path):
    way.write(records(ROWS), tmp_path / "x.parquet", None)
    check(pq.read_table(tmp_path / "x.parquet"), expected(ROWS))


def test_written_projection_keeps_the_order(way, records, tmp_path):
    way.write(records(ROWS), tmp_path / "x.parquet", ["texts", "ints"])
    check(pq.read_table(tmp_path / "x.parquet"), expected(ROWS, ["texts", "ints"]))


def test_no_rows_are_written(way, records, tmp_path):
    way.write(records([]), tmp_path / "x.parquet", None)
    check(pq.read_table(tmp_path / "x.parquet"), expected([]))


def test_many_batches(way, records, tmp_path):
    rows = ROWS * 800  # more than one batch
    way.write(records(rows), tmp_path / "x.parquet", None)
    check(pq.read_table(tmp_path / "x.parquet"), expected(rows))


def test_both_ways_write_the_same_table(records, tmp_path):
    if not PLUGIN.exists():
        pytest.skip(f"there is no {PLUGIN}")
    source = records(ROWS)
    for name, writer in (("a", PluginWay()), ("b", PythonWay())):
        writer.write(source, tmp_path / f"{name}.parquet", None)
    a, b = (pq.read_table(tmp_path / f"{name}.parquet") for name in "ab")
    check(a, b.replace_schema_metadata(None))
    for metadata in (pq.read_metadata(tmp_path / f"{name}.parquet") for name in "ab"):
        assert metadata.num_rows == len(ROWS)
        assert metadata.row_group(0).column(0).statistics is not None


# ---- reading ----

TABLES = {
    "lists": expected(ROWS),
    "small_offsets": pa.table(
        {
            "a": pa.array([[1, None], None, []], pa.list_(pa.int32())),
            "b": pa.array([b"x", None, b""], pa.binary()),
            "c": pa.array(["x", None, "\u00e4"], pa.string()),
        }
    ),
    "numbers": pa.table(
        {
            t: pa.array([0, 1, None], getattr(pa, t)())
            for t in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
        }
    ),
    "floats": pa.table({"h": pa.array([0.5, None], pa.float16()), "d": pa.array([0.1, None])}),
    "nested": pa.table(
        {
            "s": pa.array([{"x": 1, "y": ["a"]}, None, {"x": None, "y": None}]),
            "f": pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float32(), 2)),
            "n": pa.nulls(3),
            "t": pa.array([True, None, False]),
        }
    ),
    "times": pa.table(
        {
            "t": pa.array([0, None], pa.timestamp("us", "UTC")),
            "d": pa.array([1, 2], pa.date32()),
            "e": pa.array([1, None], pa.decimal128(10, 2)),
        }
    ),
    "no_rows": expected([]),
}


@pytest.mark.parametrize("name", TABLES)
def test_read_values(way, tmp_path, name):
    pq.write_table(TABLES[name], tmp_path / "x.parquet")
    check(way.read(tmp_path / "x.parquet", None), TABLES[name])


def test_read_projection_keeps_the_order(way, tmp_path):
    pq.write_table(TABLES["nested"], tmp_path / "x.parquet")
    found = way.read(tmp_path / "x.parquet", ["t", "s"])
    check(found, TABLES["nested"].select(["t", "s"]))


def test_read_many_row_groups(way, tmp_path):
    table = pa.table({"i": pa.array(range(10_000)), "l": pa.array([[i] for i in range(10_000)])})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=777)
    check(way.read(tmp_path / "x.parquet", None), table)


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
def test_read_codecs(way, tmp_path, codec):
    pq.write_table(TABLES["lists"], tmp_path / "x.parquet", compression=codec)
    check(way.read(tmp_path / "x.parquet", None), TABLES["lists"])


# ---- damage: the plug-in alone, since pyarrow's checks are its own ----


@pytest.fixture
def plugin() -> PluginWay:
    if not PLUGIN.exists():
        pytest.skip(f"there is no {PLUGIN}")
    return PluginWay()


def status_of(path: pathlib.Path) -> int:
    command = [CLI, "convert", path, path.with_suffix(".out"), "--to", "arrow", "-f", "parquet"]
    return subprocess.run(command, capture_output=True, check=False, timeout=60).returncode


def test_cut_files_are_refused(plugin, tmp_path):
    pq.write_table(TABLES["lists"], tmp_path / "x.parquet")
    data = (tmp_path / "x.parquet").read_bytes()
    for size in range(0, len(data), max(1, len(data) // 40)):
        (tmp_path / "cut.parquet").write_bytes(data[:size])
        assert status_of(tmp_path / "cut.parquet") == 1, size


def test_a_wrong_page_checksum_is_refused(plugin, records, tmp_path):
    plugin.write(records(ROWS), tmp_path / "x.parquet", None)
    data = bytearray((tmp_path / "x.parquet").read_bytes())
    metadata = pq.read_metadata(tmp_path / "x.parquet").row_group(0).column(0)
    data[metadata.data_page_offset + metadata.total_compressed_size // 2] ^= 1
    (tmp_path / "x.parquet").write_bytes(data)
    assert status_of(tmp_path / "x.parquet") == 1


def test_a_lost_row_group_is_told(plugin, tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": range(300)}), path, row_group_size=100)
    data = bytearray(path.read_bytes())
    data[5] ^= 2  # the page is of a kind that readers pass over
    path.write_bytes(data)
    done = subprocess.run([CLI, "count", path], capture_output=True, check=False, timeout=60)
    assert done.returncode == 1
    assert b"row group 0: column 'a': found 0 rows, expected 100 as in the footer" in done.stderr


class ReadOptions(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("columns", ctypes.c_void_p),
        ("num_columns", ctypes.c_size_t),
        ("batch_size", ctypes.c_int64),
        ("threads", ctypes.c_int32),
    )


OPEN = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ReadOptions), ctypes.c_void_p, ctypes.c_void_p
)


class PluginFormat(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("abi_version", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("description", ctypes.c_char_p),
        ("extensions", ctypes.c_void_p),
        ("sniff", ctypes.c_void_p),
        ("open", OPEN),
    )


def plugin_rows(path: pathlib.Path) -> int | None:
    """The rows that the plug-in gives; None if it refuses the file."""
    library = ctypes.CDLL(str(PLUGIN))
    library.cst_plugin.restype = ctypes.POINTER(PluginFormat)
    stream, error = (ctypes.create_string_buffer(size) for size in (64, 65536))
    options = ReadOptions(ctypes.sizeof(ReadOptions), None, 0, 1024, 1)
    functions = library.cst_plugin(1).contents
    at = ctypes.addressof(stream)
    opened = functions.open(str(path).encode(), ctypes.byref(options), at, ctypes.addressof(error))
    if opened != 0:
        return None
    try:
        return pa.RecordBatchReader._import_from_c(at).read_all().num_rows
    except (pa.ArrowException, OSError):
        return None


def test_no_bit_loses_rows(plugin, tmp_path):
    """All bits of the pages, and with COLUMNSTONE_LONG those of the footer."""
    path = tmp_path / "x.parquet"
    table = pa.table({"a": [1, None, 3, 4], "l": [[1, 2], [], None, [None]]})
    pq.write_table(table, path, row_group_size=2, write_page_checksum=True, compression="none")
    data = path.read_bytes()
    pages = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    lasts = len(data) if os.environ.get("COLUMNSTONE_LONG") else min(pages, 100)
    refused = 0
    for bit in range(8 * lasts):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        rows = plugin_rows(path)
        assert rows in (None, 4), bit
        refused += rows is None
    assert refused > lasts


# ---- slices, through the C library ----


class SinkOptions(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("format", ctypes.c_char_p),
        ("compression", ctypes.c_int),
        ("level", ctypes.c_int32),
        ("schema", ctypes.c_void_p),
        ("lossy", ctypes.c_bool),
        ("allocator", ctypes.c_void_p),
    )


def write_batches(
    path: pathlib.Path, schema_of_all: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> None:
    """cst_sink over the Arrow C data interface, as any C program uses it."""
    library = ctypes.CDLL(str(BUILD / "src/libcolumnstone.so"))
    schema, array = (ctypes.create_string_buffer(128) for _ in range(2))
    at = ctypes.addressof
    schema_of_all._export_to_c(at(schema))
    options = SinkOptions(size=ctypes.sizeof(SinkOptions), format=b"parquet")
    handle = ctypes.c_void_p()
    opened = library.cst_sink_open(
        str(path).encode(), schema, ctypes.byref(options), ctypes.byref(handle), None
    )
    assert opened == 0
    for batch in batches:
        batch._export_to_c(at(array))
        assert library.cst_sink_write(handle, array, None) == 0
        pa.RecordBatch._import_from_c(at(array), batch.schema)  # releases it
    assert library.cst_sink_finish(handle, None) == 0
    library.cst_sink_free(handle)
    pa.Schema._import_from_c(at(schema))


def test_slices_are_written(plugin, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNSTONE_PLUGIN_PATH", str(PLUGIN.parent))
    table = pa.concat_tables([expected(ROWS)] * 5).combine_chunks()
    whole = table.to_batches()[0]
    batches = [whole.slice(0, 3), whole.slice(3, 1), whole.slice(4, 0), whole.slice(4)]
    write_batches(tmp_path / "x.parquet", table.schema, batches)
    check(pq.read_table(tmp_path / "x.parquet"), table)


def nested_rows() -> pa.Table:
    table = expected(ROWS)
    count = table.num_rows
    fixed = pa.array([bytes([i]) * 4 for i in range(count)], pa.binary(4))
    pairs = [[(str(i), i)] if i % 2 else None for i in range(count)]
    others = {
        "bools": pa.array([i % 3 == 0 for i in range(count)]),
        "fixed": fixed,
        "map": pa.array(pairs, pa.map_(pa.string(), pa.int32())),
        "nulls": pa.nulls(count),
        "struct": pa.StructArray.from_arrays([fixed], ["inner"]),
    }
    for name, column in others.items():
        table = table.append_column(name, column)
    return table.combine_chunks()


@pytest.mark.parametrize("with_dictionary", [False, True])
def test_batches_are_not_kept(plugin, tmp_path, monkeypatch, with_dictionary):
    """Their memory is lent for the call, and small batches are gathered; but for dictionaries, of
    which Arrow makes no copy."""
    monkeypatch.setenv("COLUMNSTONE_PLUGIN_PATH", str(PLUGIN.parent))
    table = nested_rows()
    if with_dictionary:
        table = table.append_column("dict", pa.array(["a", "b", "a", None]).dictionary_encode())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    data = sink.getvalue().to_pybytes()
    memory = bytearray(len(data))

    def lent() -> Iterator[pa.RecordBatch]:
        for _ in range(3):
            memory[:] = data
            yield pa.ipc.open_stream(pa.py_buffer(memory)).read_next_batch()
            memory[:] = bytes(len(data))

    write_batches(tmp_path / "x.parquet", table.schema, lent())
    check(pq.read_table(tmp_path / "x.parquet"), pa.concat_tables([table] * 3))


def test_threads_write_the_same_bytes(plugin, records, tmp_path):
    source = records(ROWS * 800)
    files = [tmp_path / f"{threads}.parquet" for threads in (1, 2, 3)]
    for threads, file in enumerate(files, 1):
        run("convert", source, file, "--schema", source.with_suffix(".pbtxt"), "-j", str(threads))
    assert len({file.read_bytes() for file in files}) == 1


KEEPING = """#!/bin/sh
for file; do :; done
cat >"$file"
"""


def test_the_command_line_writes_large_batches(records, tmp_path, monkeypatch):
    """What a program of the format gets, which keeps the stream as it is. The command line is a
    copy, for which there is no plug-in beside it."""
    program = tmp_path / "columnstone-format-parquet"
    program.write_text(KEEPING)
    program.chmod(0o755)
    monkeypatch.setenv("COLUMNSTONE_PLUGIN_PATH", str(tmp_path))
    monkeypatch.setitem(globals(), "CLI", shutil.copy(CLI, tmp_path))
    source = records(ROWS * 5000)

    def sizes(output: str, *options: str) -> list[int]:
        schema = source.with_suffix(".pbtxt")
        run("convert", source, tmp_path / output, "--schema", schema, *options)
        file = next(tmp_path.glob(output.replace(".", "*.")))
        return [batch.num_rows for batch in pa.ipc.open_stream(file.read_bytes())]

    assert sizes("x.parquet") == [8192, 8192, 3616]
    assert sizes("y.out", "--to", "parquet") == [8192, 8192, 3616]
    assert sizes("z.parquet", "--batch-size", "15000") == [15000, 5000]
    assert sizes("s.parquet", "--shards", "2")[0] == 1024
