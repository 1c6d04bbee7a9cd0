"""Beam: ours and tfx_bsl's TFXIO, each with a batch size of 1,000; see engine_data.py."""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any

import apache_beam as beam
import engine_data
import pyarrow as pa
from apache_beam.options.pipeline_options import PipelineOptions
from columnstone import tfxio
from engine_data import Found


def values(batch: Any) -> Found:
    """Of lists of values, which all columns are."""
    total = 0
    for column in batch.columns:
        if not pa.types.is_null(column.type):
            total += len(column.flatten())
    return Found(batch.num_rows, total)


def source(work: engine_data.Work) -> Any:
    text = work.schema.read_text()
    if work.side == "ours":
        return tfxio.TFExampleRecord(work.files, schema=text).BeamSource(batch_size=1000)
    from google.protobuf import text_format
    from tensorflow_metadata.proto.v0 import schema_pb2
    from tfx_bsl.public import tfxio as peer

    schema = text_format.Parse(text, schema_pb2.Schema())
    return peer.TFExampleRecord(work.files, ["bench"], schema=schema).BeamSource(batch_size=1000)


def add(found: Any) -> tuple[int, int]:
    pairs = list(found)
    return sum(rows for rows, _ in pairs), sum(number for _, number in pairs)


def run(work: engine_data.Work) -> Found:
    options = PipelineOptions(
        runner="FnApiRunner",
        direct_running_mode="multi_threading" if work.workers > 1 else "in_memory",
        direct_num_workers=work.workers,
    )
    with tempfile.TemporaryDirectory() as folder:
        prefix = str(pathlib.Path(folder, "found"))
        with beam.Pipeline(options=options) as pipeline:
            total = pipeline | source(work) | beam.Map(values) | beam.CombineGlobally(add)
            _ = total | beam.Map(lambda t: f"{t[0]} {t[1]}") | beam.io.WriteToText(prefix)
        (line,) = "".join(p.read_text() for p in pathlib.Path(folder).iterdir()).splitlines()
    return Found(*map(int, line.split()))


if __name__ == "__main__":
    given = engine_data.work()
    engine_data.measure(lambda: run(given), given.rounds)
