"""The outputs that the suite of lives is run over, test_sink_lives.py: every sink, container and
compression, shards, plug-ins, and files that the caller has opened.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
from typing import Any

import columnstone as cst
import formats
import pyarrow as pa
from google.protobuf.wrappers_pb2 import Int64Value

HAS_PLUGIN = formats.make_plugin()
PROGRAM = """#!/bin/sh
for last; do :; done
case $1 in info) echo name=pipe ;; read) cat "$last" ;; write) cat >"$last" ;; esac
"""


def write_program() -> None:
    """A format whose files are what a program is handed: Arrow streams."""
    folder = pathlib.Path(os.environ["COLUMNSTONE_PLUGIN_PATH"])
    program = folder / f"columnstone-format-pipe.{os.getpid()}"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    program.rename(folder / "columnstone-format-pipe")


@dataclasses.dataclass(frozen=True)
class Output:
    """Where numbers are written: the only column."""

    id: str
    ending: str
    column: str = "a"
    type: pa.DataType = dataclasses.field(default_factory=pa.int64)
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    reads: dict[str, Any] = dataclasses.field(default_factory=dict)  # options of cst.open
    shards: int = 0

    @property
    def schema(self) -> pa.Schema:
        return pa.schema({self.column: self.type})

    def rows(self, first: int, count: int = 10) -> pa.RecordBatch:
        numbers = range(first, first + count)
        if pa.types.is_large_list(self.type):
            values: list[Any] = [[i] for i in numbers]
        elif pa.types.is_large_binary(self.type):
            values = [b"%d" % i for i in numbers]
        else:
            values = [str(i) for i in numbers] if self.type == pa.large_string() else list(numbers)
        return pa.record_batch({self.column: pa.array(values, self.type)})

    @property
    def has_urls(self) -> bool:
        """Whether it can be written to a URL."""
        return not self.shards and self.id not in ("plugin", "program")

    def writer(self, path: pathlib.Path, **options: Any) -> cst.Writer:
        return cst.Writer(path, **self.options, **options)

    def files(self, path: pathlib.Path) -> list[pathlib.Path]:
        """Those that a writer to this path makes."""
        stem, _, rest = path.name.partition(".")
        names = [f"{stem}-{i:05}-of-{self.shards:05}.{rest}" for i in range(self.shards)]
        return [path.with_name(name) for name in names or [path.name]]

    def read(self, paths: Any) -> list[int]:
        cells = pa.table(cst.open(paths, **self.reads))[self.column].to_pylist()
        return [int(cell[0] if isinstance(cell, list) else cell) for cell in cells]

    def numbers(self, path: pathlib.Path) -> list[int]:
        """What the files hold; the batches of shards are put in order."""
        found = self.read(self.files(path))
        return sorted(found) if self.shards > 1 else found


LISTS = pa.large_list(pa.int64())
BINARY = pa.large_binary()
MESSAGE = {"message": Int64Value}
LINES = {"container": "lines", "format": "raw"}

OUTPUTS = [
    Output("example", "tfrecord", type=LISTS),
    Output("example-gzip", "tfrecord.gz", type=LISTS),
    Output(
        "example-delimited",
        "bin",
        type=LISTS,
        options={"format": "example", "container": "delimited"},
    ),
    Output("sequence", "tfrecord", type=LISTS, options={"format": "sequence_example"}),
    Output("raw", "tfrecord", "record", BINARY, {"format": "raw"}, {"format": "raw"}),
    Output("raw-lines", "txt", "record", BINARY, LINES, LINES),
    Output("message", "tfrecord", "value", options=MESSAGE, reads=MESSAGE),
    Output("csv", "csv"),
    Output("csv-zstd", "csv.zst"),
    Output("json", "jsonl"),
    Output("json-gzip", "jsonl.gz"),
    Output("arrow", "arrow"),
    Output("arrows", "arrows"),
    Output("avro", "avro"),
    Output("avro-gzip", "avro.gz"),
    Output("parquet", "parquet"),
    *(
        Output(f"shards-{ending}", ending, type=kind, options={"num_shards": 3}, shards=3)
        for ending, kind in (("tfrecord", LISTS), ("csv", pa.int64()), ("parquet", pa.int64()))
    ),
    *(
        Output(f"sized-{ending}", ending, type=kind, options={"shard_bytes": 1 << 30}, shards=1)
        for ending, kind in (("tfrecord", LISTS), ("parquet", pa.int64()))
    ),
]
if HAS_PLUGIN:
    write_program()
    OUTPUTS.append(Output("plugin", "lines", "line", pa.large_string()))
    OUTPUTS.append(Output("program", "pipe", options={"format": "pipe"}, reads={"format": "pipe"}))
BY_ID = {output.id: output for output in OUTPUTS}
