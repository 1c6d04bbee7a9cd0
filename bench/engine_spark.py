"""Spark: ours, and the best that Python offers beside it: files read by `binaryFile`, whose records
`mapInArrow` parses by the compiled parser of protobuf. On either side the data frame's columns are
what a query finds: it counts rows and values. See engine_data.py."""

from __future__ import annotations

import gzip
import os
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any

import columnstone as cst
import engine_data
import pyarrow as pa
from engine_data import Found

EXAMPLE = """
name: "example.proto" package: "bench" syntax: "proto3"
message_type {
  name: "Floats"
  field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_FLOAT }
}
message_type {
  name: "Ints"
  field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_INT64 }
}
message_type {
  name: "Bytes"
  field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_BYTES }
}
message_type {
  name: "Feature"
  field { name: "bytes_list" number: 1 label: LABEL_OPTIONAL type: TYPE_MESSAGE
          type_name: ".bench.Bytes" oneof_index: 0 }
  field { name: "float_list" number: 2 label: LABEL_OPTIONAL type: TYPE_MESSAGE
          type_name: ".bench.Floats" oneof_index: 0 }
  field { name: "int64_list" number: 3 label: LABEL_OPTIONAL type: TYPE_MESSAGE
          type_name: ".bench.Ints" oneof_index: 0 }
  oneof_decl { name: "kind" }
}
message_type {
  name: "Features"
  field { name: "feature" number: 1 label: LABEL_REPEATED type: TYPE_MESSAGE
          type_name: ".bench.Features.FeatureEntry" }
  nested_type {
    name: "FeatureEntry"
    field { name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
    field { name: "value" number: 2 label: LABEL_OPTIONAL type: TYPE_MESSAGE
            type_name: ".bench.Feature" }
    options { map_entry: true }
  }
}
message_type {
  name: "Example"
  field { name: "features" number: 1 label: LABEL_OPTIONAL type: TYPE_MESSAGE
          type_name: ".bench.Features" }
}
"""  # tf.Example, whose generated class is TensorFlow's
KINDS = {"int64": "int64_list", "float": "float_list", "binary": "bytes_list"}
ROWS = 4096  # of a batch
TASKS = 4  # of a worker, which end at about the same time


def parser(
    columns: list[tuple[str, str]], rows: int, text: str
) -> Callable[[Iterator[Any]], Iterator[pa.RecordBatch]]:
    """For mapInArrow: the columns, by name and kind, of all records of files. It goes to workers by
    value, and so does what it needs."""
    types = {"int64_list": pa.int64(), "float_list": pa.float32(), "bytes_list": pa.binary()}

    def example_class() -> Any:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

        file = text_format.Parse(text, descriptor_pb2.FileDescriptorProto())
        pool = descriptor_pool.DescriptorPool()
        pool.Add(file)
        return message_factory.GetMessageClass(pool.FindMessageTypeByName("bench.Example"))

    def records(content: bytes) -> Iterator[bytes]:
        length_of = struct.Struct("<Q").unpack_from
        at = 0
        while at < len(content):
            begin = at + 12
            at = begin + length_of(content, at)[0]
            yield content[begin:at]
            at += 4

    def batch_of(maps: list[Any]) -> pa.RecordBatch:
        arrays = []
        for name, kind in columns:
            values: list[Any] = []
            offsets: list[int | None] = []
            for features in maps:
                if name in features:
                    offsets.append(len(values))
                    values.extend(getattr(features[name], kind).value)
                else:
                    offsets.append(None)
            offsets.append(len(values))
            starts = pa.array(offsets, pa.int32())
            arrays.append(pa.ListArray.from_arrays(starts, pa.array(values, types[kind])))
        return pa.RecordBatch.from_arrays(arrays, [name for name, _ in columns])

    def parse(batches: Iterator[Any]) -> Iterator[pa.RecordBatch]:
        parse_one = example_class().FromString
        for batch in batches:
            for content in batch.column(0):
                data = content.as_buffer().to_pybytes()
                if data[:2] == b"\x1f\x8b":
                    data = gzip.decompress(data)
                maps = []
                for record in records(data):
                    maps.append(parse_one(record).features.feature)
                    if len(maps) == rows:
                        yield batch_of(maps)
                        maps = []
                if maps:
                    yield batch_of(maps)

    return parse


def by_python(spark: Any, work: engine_data.Work) -> Any:
    with cst.open(work.files[0], schema=str(work.schema)) as source:
        fields = list(pa.schema(source.arrow_schema))
    kinds = {f.name: str(f.type.value_type).removeprefix("large_") for f in fields}
    columns = [(name, KINDS[kind]) for name, kind in kinds.items()]
    types = {"int64": "bigint", "float": "float", "binary": "binary"}
    schema = ", ".join(f"`{name}` array<{types[kind]}>" for name, kind in kinds.items())
    files = spark.read.format("binaryFile").load(work.files).select("content")
    return files.mapInArrow(parser(columns, ROWS, EXAMPLE), schema)


def by_columnstone(spark: Any, work: engine_data.Work) -> Any:
    size = sum(os.path.getsize(file) for file in work.files)
    read = spark.read.format("columnstone").option("schema", str(work.schema))
    return read.option("target_bytes", max(size // (TASKS * work.workers), 1)).load(work.files)


def run(spark: Any, work: engine_data.Work) -> Found:
    frame = (by_columnstone if work.side == "ours" else by_python)(spark, work)
    sizes = " + ".join(f"coalesce(size(`{name}`), 0)" for name in frame.columns)
    (found,) = frame.selectExpr("count(1)", f"sum(cast({sizes} as bigint))").collect()
    return Found(*found)


def session(workers: int) -> Any:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    made = (
        SparkSession.builder.master(f"local[{workers}]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("ERROR")
    return made


if __name__ == "__main__":
    given = engine_data.work()
    opened = session(given.workers)
    try:
        engine_data.measure(lambda: run(opened, given), given.rounds)
    finally:
        opened.stop()
