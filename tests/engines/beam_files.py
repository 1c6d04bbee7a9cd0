"""Files that the tests of Beam read, and their rows."""

from __future__ import annotations

import hashlib
import io
import pathlib
import random
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
import columnstone as cst
import pyarrow as pa
from apache_beam.options.pipeline_options import PipelineOptions
from columnstone._beam.read import wanted
from columnstone._beam.source import FileSource, FilesSource

SCHEMA = """
feature { name: "id" type: INT shape { } presence { min_fraction: 1 } }
feature { name: "name" type: BYTES }
feature { name: "values" type: FLOAT }
"""


def record(i: int) -> dict[str, Any]:
    digest = hashlib.blake2b(str(i).encode()).digest()
    return {"id": [i], "name": [digest[: i % 40]] * (i % 3), "values": [i * 0.5] * (i % 4)}


def checksum(batch: pa.RecordBatch) -> list[tuple[int, str]]:
    """Of every row: its number, and a hash of all that it holds."""
    rows = batch.to_pylist()
    return [(row["id"][0], _hash(repr(sorted(row.items())).encode())) for row in rows]


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def examples(numbers: Iterable[int]) -> list[bytes]:
    rows = [record(i) for i in numbers]
    batch = pa.record_batch(
        {
            "id": pa.array([row["id"] for row in rows], pa.large_list(pa.int64())),
            "name": pa.array([row["name"] for row in rows], pa.large_list(pa.large_binary())),
            "values": pa.array([row["values"] for row in rows], pa.large_list(pa.float32())),
        }
    )
    made: list[bytes] = pa.array(cst.encoder("example", SCHEMA).encode(batch)).to_pylist()
    return made


def framed(records: Iterable[bytes]) -> bytes:
    file = io.BytesIO()
    with cst.codec.TFRecordWriter(file) as writer:
        for one in records:
            writer.write(one)
    return file.getvalue()


def write(path: pathlib.Path, numbers: Iterable[int], compression: str | None = None) -> str:
    with cst.codec.TFRecordWriter(str(path), compression=compression) as writer:
        for one in examples(numbers):
            writer.write(one)
    return str(path)


def expected(numbers: Iterable[int]) -> list[tuple[int, str]]:
    found = cst.decoder("example", SCHEMA).decode(examples(numbers))
    return sorted(checksum(pa.record_batch(found)))


def source_of(path: str, batch_size: int | None = 1, **options: Any) -> FilesSource:
    dead_letters = options.pop("dead_letters", False)
    return FilesSource(path, wanted(options, batch_size, dead_letters=dead_letters))


def file_source(path: str, batch_size: int | None = 1, **options: Any) -> FileSource:
    """The source of a whole file that can be divided."""
    (bundle,) = source_of(path, batch_size, **options).split(2**62)
    assert isinstance(bundle.source, FileSource)
    return bundle.source


def rows_of(elements: Iterable[Any]) -> Iterator[bytes]:
    """The first column of batches of raw records."""
    for batch in elements:
        yield from batch.column(0).to_pylist()


def noise(rng: random.Random, most: int) -> bytes:
    return rng.randbytes(rng.randrange(most))


_kept: list[Any] = []


def _keep(element: Any) -> None:
    _kept.append(element)


class Run:
    """A transform of one process: what it gives, and its metrics."""

    def __init__(self, transform: Any, elements: list[Any] | None = None) -> None:
        _kept.clear()
        p = beam.Pipeline(options=PipelineOptions([], runner="FnApiRunner"))
        begin = p if elements is None else p | beam.Create([elements]) | beam.FlatMap(list)
        _ = begin | "Run" >> transform | "Keep" >> beam.Map(_keep)
        result = p.run()
        result.wait_until_finish()
        self.elements = list(_kept)
        found = result.metrics().query()
        self.counters = {_name(m): m.committed for m in found["counters"] if m.committed}
        self.distributions = {
            _name(m): (m.committed.sum, m.committed.count, m.committed.min, m.committed.max)
            for m in found["distributions"]
            if m.committed.count
        }

    @property
    def table(self) -> pa.Table:
        return pa.Table.from_batches(self.elements)


def _name(metric: Any) -> str:
    name = metric.key.metric
    return f"{name.namespace}/{name.name}"
