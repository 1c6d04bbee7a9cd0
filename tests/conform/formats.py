"""The table of the conformance suite: what each format can hold, how files of it are made, opened
and damaged. The tests are in test_every_format.py; a format that is added here has to pass them.
"""

from __future__ import annotations

import atexit
import dataclasses
import gzip
import math
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import columnstone as cst
import pyarrow as pa
import pyarrow.parquet as pq

Plain = Any
TOP = pathlib.Path(__file__).resolve().parent.parent.parent

# ---- values: null, empty and extreme ones of every type ----

I64, F32, F64 = pa.int64(), pa.float32(), pa.float64()
TEXT, BYTES = pa.large_string(), pa.large_binary()
INTS = [0, 2**63 - 1, -(2**63), -1]
FLOATS = [0.5, -0.0, math.inf, -math.inf, math.nan, 2.0**-149, 3.4028234663852886e38]
DOUBLES = [0.1, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7976931348623157e308]
TEXTS = ["", "ü€😀", 'say "no",\r\n|;\t', " ", "null", "0", "x" * 5000]
BLOBS = [b"", b"\x00\xff\xfe", b"plain", b'"\n,', bytes(range(256)) * 9]


def large(kind: pa.DataType) -> pa.DataType:
    return pa.large_list(kind)


def lists(values: list[Plain]) -> list[Plain]:
    """Lists of them of several lengths, the empty one and an absent one."""
    return [values[:1], None, [], values, values[1:3], [values[-1]] * 70]


STEPS = pa.struct([("x", large(large(I64))), ("y", large(large(BYTES))), ("z", large(large(F32)))])
PAIR = pa.struct([("p", I64), ("q", large(TEXT))])


@dataclasses.dataclass(frozen=True)
class Column:
    """Row i has values[i % len(values)]."""

    type: pa.DataType
    values: list[Plain]

    def array(self, begin: int, end: int) -> pa.Array:
        return pa.array([self.values[i % len(self.values)] for i in range(begin, end)], self.type)


COLUMNS: dict[str, Column] = {
    # single values
    "bool": Column(pa.bool_(), [True, None, False]),
    "int": Column(I64, [*INTS, None]),
    "uint": Column(pa.uint64(), [0, 2**64 - 1, None]),
    "double": Column(F64, [*DOUBLES, None]),
    "text": Column(TEXT, [*TEXTS, None]),
    "blob": Column(BYTES, [*BLOBS, None]),
    # lists, as tf.Example has them
    "ints": Column(large(I64), lists(INTS)),
    "floats": Column(large(F32), lists(FLOATS)),
    "blobs": Column(large(BYTES), lists(BLOBS)),
    # nested
    "nulls_inside": Column(large(TEXT), [*lists(TEXTS), [None], [None, "a", None]]),
    "deep": Column(large(large(I64)), [[[1], [], [2, 3]], None, [], [[]], [[], [], INTS]]),
    "pair": Column(PAIR, [{"p": 1, "q": ["a", None]}, None, {"p": None, "q": None}]),
    "pairs": Column(
        large(PAIR), [[{"p": 1, "q": []}, None], None, [], [{"p": -1, "q": ["z", None]}]]
    ),
    "##SEQUENCE##": Column(
        STEPS,
        [
            {"x": [INTS, [], [1]], "y": [BLOBS, [b""]], "z": [FLOATS]},
            {"x": None, "y": [], "z": [[]]},
            {"x": [[], None], "y": [None], "z": None},
        ],
    ),
    # further types of Arrow, which CSV and JSON lines are told
    "int8": Column(pa.int8(), [-128, 127, None]),
    "uint16": Column(pa.uint16(), [0, 65535, None]),
    "half": Column(pa.float16(), [0.5, None, -65504.0, math.inf]),
    "small_text": Column(pa.string(), [*TEXTS, None]),
    "small_list": Column(pa.list_(pa.int32()), [[1, None], None, []]),
    "fixed_list": Column(pa.list_(F32, 2), [[1.0, None], None, [2.0, 3.0]]),
    "fixed_blob": Column(pa.binary(3), [b"abc", None, b"\x00\x00\xff"]),
    "map": Column(pa.map_(pa.string(), I64), [[("k", 1), ("l", None)], None, []]),
    "date": Column(pa.date32(), [0, None, -719162]),
    "time": Column(pa.time64("us"), [0, None, 86399999999]),
    "zoned": Column(pa.timestamp("ms", "Europe/Rome"), [0, None, -1]),
    "decimal": Column(pa.decimal128(38, 2), [None, 1, -1]),
    "nothing": Column(pa.null(), [None]),
    # single columns of formats that have but one
    "record": Column(BYTES, [value for value in BLOBS if value is not None]),
    "line": Column(TEXT, [text for text in TEXTS if "\n" not in text]),
}

SINGLE = ("bool", "int", "uint", "double", "text", "blob")
EXAMPLE = ("ints", "floats", "blobs")
NESTED = ("nulls_inside", "deep", "pair", "pairs", "##SEQUENCE##")
TEXTED = ("half", "fixed_blob", "date", "time", "zoned", "decimal")
LISTED = ("small_list", "fixed_list", "map")
ALL = tuple(name for name in COLUMNS if name not in ("record", "line"))

ARROW_TO_TFMD = {I64: "INT", F32: "FLOAT", BYTES: "BYTES"}


def tfmd(names: list[str]) -> str:
    """The schema of these columns, for formats that take one."""

    def feature(name: str, kind: pa.DataType) -> str:
        return f'feature {{ name: "{name}" type: {ARROW_TO_TFMD[kind]} }}\n'

    text = ""
    for name in names:
        if name == "##SEQUENCE##":
            inner = "".join(feature(f.name, f.type.value_type.value_type) for f in STEPS)
            text += f'feature {{ name: "{name}" type: STRUCT struct_domain {{ {inner} }} }}\n'
        else:
            text += feature(name, I64 if name == "row" else COLUMNS[name].type.value_type)
    return text


GRANULE = 10  # rows of a batch or row group in files that will be damaged

# ---- damage: each changes the plain bytes of a file of rows of `row` ----


def frames(data: bytes) -> list[tuple[int, int]]:
    """Where each record of a TFRecord file begins, and the bytes of its data."""
    found, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        found.append((at, size))
        at += 16 + size
    return found


def spoil_record(data: bytes, row: int) -> tuple[bytes, int]:
    at, size = frames(data)[row]
    flipped = bytearray(data)
    flipped[at + 12 + size // 2] ^= 0x20
    return bytes(flipped), at


def spoil_delimited(data: bytes, row: int) -> tuple[bytes, int]:
    """The payload, which has no checksum: its length says more than there is."""
    at = 0
    for _ in range(row):
        size, begin = varint(data, at)
        at = begin + size
    size, begin = varint(data, at)
    spoiled = bytearray(data)
    spoiled[begin : begin + size] = b"\xff" * size
    return bytes(spoiled), at


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A length, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def spoil_line(data: bytes, row: int, header: int, bad: bytes) -> tuple[bytes, int]:
    lines = data.splitlines(keepends=True)
    lines[row + header] = bad
    return b"".join(lines), sum(map(len, lines[: row + header]))


def spoil_message(data: bytes, row: int) -> tuple[bytes, int]:
    """The metadata of the Arrow message that holds the row."""
    file = pa.BufferReader(data)
    file.seek(8 if data.startswith(b"ARROW1") else 0)
    pa.ipc.read_message(file)  # the schema
    for _ in range(row // GRANULE):
        pa.ipc.read_message(file)
    at = file.tell()
    flipped = bytearray(data)
    flipped[at + 8 : at + 24] = b"\xff" * 16
    return bytes(flipped), at


def spoil_page(data: bytes, row: int) -> tuple[bytes, int]:
    """The end of the only page of the row group that holds the row."""
    chunk = pq.ParquetFile(pa.BufferReader(data)).metadata.row_group(row // GRANULE).column(0)
    at = chunk.dictionary_page_offset or chunk.data_page_offset
    flipped = bytearray(data)
    flipped[at + chunk.total_compressed_size - 1] ^= 1
    return bytes(flipped), at


def spoil_csv(data: bytes, row: int) -> tuple[bytes, int]:
    return spoil_line(data, row, 1, b"no number\n")


def spoil_json(data: bytes, row: int) -> tuple[bytes, int]:
    return spoil_line(data, row, 0, b'{"row": \n')


# ---- the formats ----


@dataclasses.dataclass(frozen=True)
class Format:
    """One row of the table.

    keeps: the columns of COLUMNS that it holds, beside `row`, the number of the row.
    becomes: types that are others when they are read, with the schema or the types given.
    given: whether reading is told the types: as a TFMD "schema", Arrow "types", or not at all.
    found: types that are others when reading is told nothing.
    outer: compressions of whole files that writing knows; reading knows all of them.
    spoil: damages a row, and with it the `granule` of rows that it is in; what reading says then is
        `error`, with the first such record and its offset if they are in `place`; it goes on behind
        it with on_error="skip" if it `skips`.
    columnless: rows without columns can be written.
    container: of records that are not in TFRecords.
    """

    name: str
    ending: str
    keeps: tuple[str, ...]
    becomes: dict[str, pa.DataType] = dataclasses.field(default_factory=dict)
    given: str | None = None
    found: dict[str, pa.DataType] = dataclasses.field(default_factory=dict)
    outer: tuple[str, ...] = ()
    spoil: Callable[[bytes, int], tuple[bytes, int]] | None = None
    error: type[Exception] = cst.errors.CorruptError
    place: tuple[str, ...] = ("record", "offset")
    granule: int = 1
    skips: bool = False
    columnless: bool = True
    writes: bool = True  # the library writes the format
    pickles: bool = True
    opens: Callable[[list[pathlib.Path]], Any] = list  # what cst.open gets
    row_type: pa.DataType | None = I64  # of `row`; None: there is no such column
    save: Callable[[pa.Table, pathlib.Path, int], object] | None = None  # None: cst.write
    compression: str | None = None  # of the files of this variant
    container: str | None = None

    @property
    def id(self) -> str:
        inside = f"-{self.container}" if self.container else ""
        return self.name + inside + (f".{self.compression}" if self.compression else "")

    @property
    def format(self) -> str | None:
        """What cst.open is told."""
        return self.name if self.opens is list else None

    @property
    def options(self) -> dict[str, Any]:
        """What reading and writing are told besides."""
        return {"container": self.container} if self.container else {}

    # Data

    @property
    def names(self) -> list[str]:
        return ["row"] * (self.row_type is not None) + list(self.keeps)

    def table(self, begin: int, end: int, names: list[str] | None = None) -> pa.Table:
        """Rows as they are handed to the writer."""
        made = {}
        for name in self.names if names is None else names:
            if name == "row":
                nested = self.row_type == large(I64)
                values = [[i] if nested else i for i in range(begin, end)]
                made[name] = pa.array(values, self.row_type)
            else:
                made[name] = COLUMNS[name].array(begin, end)
        return pa.table(made)

    def simple(self, begin: int, end: int) -> pa.Table:
        """Rows of one column, of which every one is a row of text in textual formats."""
        return self.table(begin, end, self.names[:1])

    def read_types(self, names: list[str]) -> pa.Schema:
        of = {"row": self.row_type, **{name: COLUMNS[name].type for name in self.keeps}}
        return pa.schema([(name, self.becomes.get(name, of[name])) for name in names])

    # Files

    def write(self, table: pa.Table, path: pathlib.Path, rows: int = 10**6) -> None:
        """A file of batches of at most so many rows, by the library where it writes the format."""
        if self.save is not None:
            self.save(table, path, rows)
        else:
            self.write_batches(table.to_batches(max_chunksize=rows), table.schema, path)
        if self.compression is not None:
            compress(path, self.compression)

    def write_batches(
        self, batches: list[pa.RecordBatch], schema: pa.Schema, path: pathlib.Path, **options: Any
    ) -> None:
        options = {**self.options, **options}
        with cst.Writer(path, self.name, compression="none", **options) as writer:
            writer.begin(schema)
            for batch in batches:
                writer.write(batch)

    def spoiled(self, path: pathlib.Path, row: int) -> int:
        """Damages a row of a file; where it begins."""
        data = path.read_bytes()
        plain = data if self.compression is None else decompressed(data, self.compression)
        assert self.spoil is not None
        plain, at = self.spoil(plain, row)
        path.write_bytes(plain if self.compression is None else compressed(plain, self.compression))
        return at

    def type_options(self, names: list[str]) -> dict[str, Any]:
        """The arguments that say what the types of the columns are."""
        if self.given == "schema":
            return {"schema": cst.Schema.from_text(tfmd(names))}
        return {"types": self.read_types(names)} if self.given == "types" else {}

    def open(
        self, paths: list[pathlib.Path], names: list[str] | None = None, **options: Any
    ) -> cst.Source:
        """All columns; names: of the file's columns, where the types are told."""
        typed = {**self.options, **self.type_options(self.names if names is None else names)}
        return cst.open(self.opens(paths), self.format, **{**typed, **options})


def compressed(data: bytes, codec: str) -> bytes:
    if codec == "gz":
        return gzip.compress(data, 1)
    made: bytes = pa.compress(data, "zstd", asbytes=True)
    return made


def decompressed(data: bytes, codec: str) -> bytes:
    if codec == "gz":
        return gzip.decompress(data)
    made: bytes = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
    return made


def compress(path: pathlib.Path, codec: str) -> None:
    path.write_bytes(compressed(path.read_bytes(), codec))


# A format that is registered from Python, and an object with streams: both read Arrow files.


def save_arrow(table: pa.Table, path: pathlib.Path, rows: int) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, rows)


class CheckedError(Exception):
    """What the formats that are written in Python raise where a file is damaged."""


def spoil_beside(data: bytes, row: int) -> tuple[bytes, int]:
    return data + struct.pack("<4sq", b"BAD!", row), 0


def open_stream(path: str) -> pa.RecordBatchReader:
    """A file that ends in BAD! and a number fails at that row."""
    data = pathlib.Path(path).read_bytes()
    bad = struct.unpack("<q", data[-8:])[0] if data[-12:-8] == b"BAD!" else None
    whole = data if bad is None else data[:-12]
    table = pa.ipc.open_file(pa.BufferReader(whole)).read_all()

    def batches() -> Iterator[pa.RecordBatch]:
        at = 0
        for batch in table.to_batches(max_chunksize=GRANULE):
            if bad is not None and at + batch.num_rows > bad:
                raise CheckedError(f"{path}: row {bad}")
            at += batch.num_rows
            yield batch

    return pa.RecordBatchReader.from_batches(table.schema, batches())


class Checked:
    """What a careful format returns: it keeps its exceptions, which Arrow streams cannot."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.last_error: BaseException | None = None

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        reader = open_stream(self.path)

        def batches() -> Iterator[pa.RecordBatch]:
            try:
                yield from reader
            except CheckedError as error:
                self.last_error = error
                raise

        kept = pa.RecordBatchReader.from_batches(reader.schema, batches())
        return kept.__arrow_c_stream__(requested_schema)


cst.format.register("checked", Checked)


class Streamed:
    """An object with __arrow_c_stream__ that gives a new stream each time."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return open_stream(str(self.path)).__arrow_c_stream__(requested_schema)


def as_streams(paths: list[pathlib.Path]) -> list[Streamed]:
    return [Streamed(path) for path in paths]


def as_tables(paths: list[pathlib.Path]) -> list[pa.Table]:
    return [pa.ipc.open_file(pa.BufferReader(path.read_bytes())).read_all() for path in paths]


# Parquet of several row groups, which the library's writer makes of 64 MiB only.


def save_parquet(table: pa.Table, path: pathlib.Path, rows: int) -> None:
    if rows > table.num_rows:
        cst.write(table, path, "parquet", overwrite=True)
    else:
        pq.write_table(table, path, row_group_size=rows, write_page_checksum=True)


# The example of a plug-in


def remove_folder(folder: str, process: int) -> None:
    """Not in a forked child, whose parent needs it."""
    if os.getpid() == process:
        shutil.rmtree(folder)


def make_plugin() -> bool:
    """Builds the example, which reads and writes, against the installed headers; False without a
    compiler. Other processes of the tests take what the first one has built."""
    built = pathlib.Path(os.environ.get("COLUMNSTONE_PLUGIN_PATH", "/nowhere"))
    if (built / "columnstone-lines.so").exists():
        return True
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        return False
    folder = tempfile.mkdtemp(prefix="columnstone-plugins-")
    atexit.register(remove_folder, folder, os.getpid())
    headers = pathlib.Path(cst.__file__).parent / "include"
    output = f"{folder}/columnstone-lines.so"
    command = [compiler, "-std=c11", "-shared", "-fPIC", f"-I{headers}", "-o", output]
    source = max((TOP / "examples").glob("plugin_lines*.c"))  # plugin_lines_write.c
    subprocess.run([*command, source], check=True)
    os.environ["COLUMNSTONE_PLUGIN_PATH"] = folder
    return True


# ---- the table ----

RECORDS: dict[str, Any] = {
    "ending": "tfrecord",
    "outer": ("gz", "zst"),
    "spoil": spoil_record,
    "skips": True,
}
DELIMITED: dict[str, Any] = {
    **RECORDS,
    "ending": "bin",
    "container": "delimited",
    "spoil": spoil_delimited,
}
WHOLE: dict[str, Any] = {"granule": GRANULE}
PYTHON: dict[str, Any] = {
    "save": save_arrow,
    "writes": False,
    "spoil": spoil_beside,
    "place": (),
    **WHOLE,
}

PLAIN = [
    Format("example", keeps=EXAMPLE, given="schema", row_type=large(I64), **RECORDS),
    Format(
        "sequence_example",
        keeps=(*EXAMPLE, "##SEQUENCE##"),
        given="schema",
        row_type=large(I64),
        **RECORDS,
    ),
    Format("raw", keeps=("record",), row_type=None, columnless=False, **RECORDS),
    Format("example", keeps=EXAMPLE, given="schema", row_type=large(I64), **DELIMITED),
    Format(
        "raw", keeps=("record",), row_type=None, columnless=False, **{**DELIMITED, "spoil": None}
    ),
    Format(
        "csv",
        ending="csv",
        keeps=(*SINGLE, "int8", "uint16", "small_text", "nothing", *TEXTED),
        given="types",
        found={
            "bool": TEXT,
            "uint": TEXT,
            "int8": I64,
            "uint16": I64,
            "small_text": TEXT,
            "half": F64,
            "fixed_blob": BYTES,
            "date": TEXT,
            "time": TEXT,
            "zoned": TEXT,
            "decimal": F64,
        },
        outer=("gz", "zst"),
        spoil=spoil_csv,
        error=cst.errors.SchemaError,
        skips=True,
        columnless=False,
    ),
    Format(
        "json",
        ending="jsonl",
        keeps=(
            *SINGLE,
            *EXAMPLE,
            *NESTED,
            "int8",
            "uint16",
            "small_text",
            "nothing",
            *TEXTED,
            *LISTED,
        ),
        given="types",
        found={
            "floats": large(F64),
            "##SEQUENCE##": pa.struct([STEPS[0], STEPS[1], ("z", large(large(F64)))]),
            "int8": I64,
            "uint16": I64,
            "small_text": TEXT,
            "half": F64,
            "fixed_blob": BYTES,
            "date": TEXT,
            "time": TEXT,
            "zoned": TEXT,
            "decimal": TEXT,
            "small_list": large(I64),
            "fixed_list": large(F64),
            "map": large(pa.struct([("key", TEXT), ("value", I64)])),
        },
        outer=("gz", "zst"),
        spoil=spoil_json,
        skips=True,
    ),
    Format("arrow", ending="arrow", keeps=ALL, spoil=spoil_message, **WHOLE),
    Format("arrows", ending="arrows", keeps=ALL, spoil=spoil_message, **WHOLE),
    Format(
        "avro",
        ending="avro",
        keeps=(
            *(
                name
                for name in (*SINGLE, *EXAMPLE, *NESTED)
                if name not in ("uint", "##SEQUENCE##")
            ),
            *("int8", "uint16", "small_text", "nothing", *LISTED),
            *(name for name in TEXTED if name != "half"),
        ),
        becomes={
            "int8": pa.int32(),
            "uint16": pa.int32(),
            "small_text": TEXT,
            "zoned": pa.timestamp("ms", "UTC"),
            "small_list": large(pa.int32()),
            "fixed_list": large(F32),
            "map": pa.map_(TEXT, I64),
        },
        skips=True,
    ),
    Format(
        "parquet",
        ending="parquet",
        keeps=ALL,
        save=save_parquet,
        spoil=spoil_page,
        place=("record",),
        **WHOLE,
        columnless=False,
    ),
    Format("lines", ending="lines", keeps=("line",), row_type=None, columnless=False),
    Format("checked", ending="checked", keeps=ALL, error=CheckedError, **PYTHON),
    Format("streams", ending="s", keeps=ALL, pickles=False, opens=as_streams, **PYTHON),
    Format(
        "tables",
        ending="t",
        keeps=ALL,
        pickles=False,
        opens=as_tables,
        **{**PYTHON, "spoil": None},
    ),
]


def variants() -> list[Format]:
    """Every format, and its compressed files."""
    found = []
    for format in PLAIN:
        found.append(format)
        if format.name in ("example", "sequence_example", "raw", "csv", "json", "arrow", "arrows"):
            for codec in ("gz", "zst"):
                ending = f"{format.ending}.{codec}"
                found.append(dataclasses.replace(format, compression=codec, ending=ending))
    return found
