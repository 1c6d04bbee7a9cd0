"""HTML for notebooks: every object has some, all of it is escaped, bounded, and takes nothing."""

from __future__ import annotations

import io
import os
import pickle
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone import lineage, sketch, tensor, tfxio

EVIL = "<script>alert('x')</script>&\x1b"
TAGS = {"div", "table", "thead", "tbody", "tr", "th", "td", "pre"}


class Reader(HTMLParser):
    """Reads HTML that is only tags without attributes, each closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[Any]) -> None:
        assert tag in TAGS
        assert attrs == []
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(shown: Any) -> str:
    """The text of an object's HTML, a line for each cell."""
    html = shown._repr_html_()
    assert html is not None
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return "\n".join(reader.text)


@pytest.fixture
def trips(tmp_path: Path) -> str:
    path = str(tmp_path / "trips.tfrecord")
    rows = [{"zone": f"z{i % 3}", "fare": float(i), "ids": list(range(i % 4))} for i in range(30)]
    cst.write(rows, path)
    return path


def test_batches_and_arrays() -> None:
    batch = cst.record_batch({"id": list(range(12)), EVIL: [EVIL] * 12})
    text = read(batch)
    assert "RecordBatch, 12 rows, 2 columns" in text
    assert "int64?" in text
    assert "2 more rows" in text
    assert text.count("alert") == 11  # of the name and of ten rows
    assert "\\x1b" in text
    assert "Array of 12 values, 0 nulls" in read(batch["id"])
    assert "large_string" in read(batch.schema) or "string" in read(batch.schema)
    assert "nullable" in read(batch.schema)
    groups = read(batch.group_by("id"))
    assert "12 groups" in groups
    assert "2 more rows" in groups


def test_what_is_large_is_cut() -> None:
    wide = cst.record_batch({f"c{i}": ["x" * 10_000] for i in range(1000)})
    assert len(wide._repr_html_()) < 20_000
    assert "980 more fields" in read(wide)
    assert len(cst.array(["y" * 10**6] * 1000)._repr_html_()) < 5_000
    features = "\n".join(f'feature {{ name: "f{i}" type: INT }}' for i in range(500))
    schema = read(cst.Schema.from_text(features))
    assert "450 more rows" in schema
    assert "f49\n" in schema
    assert "f50\n" not in schema


def test_a_column_of_a_million_characters_is_cut() -> None:
    million = 10**6
    long = "y" * million
    columns: dict[str, Any] = {
        "text": pa.array([long, long]),
        "bytes": pa.array([b"\xff" * million] * 2),
        "list": pa.array([[long], [long]]),
        "struct": pa.array([{"a": long}, {long: 1}]),
        "n" * million: pa.array([1, 2]),
    }
    batch = cst.record_batch(pa.RecordBatch.from_pydict(columns))
    shown = [
        batch,
        batch.schema,
        *(batch[name] for name in columns),
        cst.struct.constant([{"a": long, long: [long]}]),
        tensor_of_bytes([b"y" * million]),
        cst.Schema.from_text(f'feature {{ name: "{long}" type: BYTES }}'),
    ]
    for one in shown:
        html = one._repr_html_()
        read(one)
        assert len(html) < 10_000, type(one)
    assert "yyy…" in read(shown[-2])


def tensor_of_bytes(values: list[bytes]) -> Any:
    """A ragged tensor of one row."""
    batch = cst.record_batch({"x": [values]})
    how = cst.schema.TensorRepresentation("x", "ragged", "bytes")
    return tensor.TensorAdapter(batch.schema, [how]).convert(batch)["x"]


def test_tensors(trips: str) -> None:
    with cst.open(trips) as source:
        tensors = next(iter(source.tensors()))
        batch = next(iter(source.dataset(batch_size=4)))
    for name, one in tensors.items():
        assert one.dtype in read(one), name
    shown = read(batch)
    assert "Batch, Position(epoch=0, batch=0)" in shown
    assert all(name in shown for name in ("zone", "fare", "ids"))
    sparse = tensor.SparseTensor(*(cst_tensor(part) for part in ([[0, 1], [2, 0]], [5, 7], [3, 2])))
    assert "(2, 0)" in read(sparse)
    ragged = tensor.RaggedTensor(cst_tensor([1, 2, 3]), [cst_tensor([0, 1, 3])])
    assert "[2, 3]" in read(ragged)
    grid = read(cst_tensor([[1, 2], [3, 4]]))
    assert "shape (2, 2)" in grid


def cst_tensor(values: Any) -> Any:
    """A Tensor of int64."""
    column = pa.FixedShapeTensorArray.from_numpy_ndarray(np.array(values, np.int64)[:, None])
    batch = cst.record_batch({"x": column.storage})
    shape = np.shape(values)[1:]
    adapter = tensor.TensorAdapter(
        batch.schema,
        [cst.schema.TensorRepresentation("x", "dense", "int64", shape=shape or (1,))],
    )
    made = adapter.convert(batch)["x"]
    return made if shape else made._reshape((len(values),))


def test_a_schema_says_what_it_asks_for() -> None:
    schema = cst.Schema.from_text(
        'feature { name: "a" type: INT presence { min_fraction: 1 } int_domain { max: 9 } }\n'
        'feature { name: "<b>" type: STRUCT struct_domain {'
        ' feature { name: "c" type: FLOAT shape { dim { size: 2 } } } } }'
    )
    text = read(schema)
    assert "Schema, 2 features" in text
    assert "min_fraction: 1" in text
    assert "max: 9" in text
    assert "<b>.c" in text
    assert "[2]" in text


def test_a_source_shows_its_rows_and_loses_none(trips: str) -> None:
    with cst.open(trips) as source:
        text = read(source)
        assert "example" in text
        assert "tfrecord" in text
        assert "b'z0'" in text
        assert "more rows follow" in text
        assert len(source) == 30
    assert source._repr_html_() is None  # closed: repr says so
    assert "closed" in repr(source)
    once = cst.open(pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), iter(())))
    read(once)
    assert sum(len(batch) for batch in once) == 0
    with open(trips, "rb") as file:
        data = io.BytesIO(file.read())
    of_bytes = cst.open(data)
    place = data.tell()
    read(of_bytes)
    assert data.tell() == place
    assert sum(len(batch) for batch in of_bytes) == 30


def test_a_pipe_is_not_read() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as end:
        end.write(b"a,b\n1,2\n")
    with os.fdopen(reading, "rb") as begin, cst.open(begin, format="csv") as source:
        read(source)
        assert [batch.to_pydict() for batch in source] == [{"a": [1], "b": [2]}]


def test_datasets_queries_and_views(trips: str) -> None:
    with cst.open(trips) as source:
        text = read(source.dataset(batch_size=7, shuffle=True, seed=3))
        assert "global" in text
        assert "7" in text
    query = cst.Query.from_text(
        "from table [{fare: float32, evil: string}]\nparam least: float32 = 1.0\n"
        "let dear = fare > least\noutput dear = dense(dear, default=false)"
    )
    assert "param least" in read(query)
    text = read(query.view())
    assert "dense" in text
    assert "fare" in text
    assert "least" in text


def test_reports(trips: str) -> None:
    with cst.open(trips) as source:
        check = source.validate(
            cst.Schema.from_text('feature { name: "<script>" type: INT presence { min_count: 1 } }')
        )
        assert "unexpected-feature" in read(check)
        assert "<script>" in read(check)
        assert "no anomalies" in read(source.validate(cst.infer_schema(trips)))
        assert "trips.tfrecord\n30" in read(source.verify())
        found = source.statistics(by=["zone"])
    assert "fare" in read(found.slice(zone="z0"))
    assert "30 of 30 rows" in read(found["fare"])
    assert "srcdoc" in found._repr_html_()
    moments = sketch.Moments()
    moments.add([1.0, None])
    assert "nulls\n1" in read(moments)
    assert "example" in read(cst.decoder("example"))


def test_lineage(trips: str, tmp_path: Path) -> None:
    with lineage.open(tmp_path / "lineage.db", create=True) as store:
        artifact = store.examples(trips, name="trips", properties={"note": EVIL})
        assert "trips.tfrecord" in read(artifact)
        assert "alert" in read(artifact)
        with store.execution("Train", inputs=[artifact]) as run:
            pass
        assert "trips@1" in read(store.executions()[0])
        assert run.id == store.executions()[0].id
        assert "Context nightly" in read(store.context("Pipeline", "nightly"))
        assert "artifacts\n1" in read(store)
        assert "0 of 1 artifacts" in read(store.gc(dry_run=True))
    assert store._repr_html_() is None


def test_plans_and_traces_are_lists(trips: str, tmp_path: Path) -> None:
    plan = cst.plan(trips, target_bytes=500)
    text = read(plan)
    assert f"{len(plan)} splits of 1 file" in text
    assert "trips.tfrecord\n0\n" in text
    assert plan == list(plan) == pickle.loads(pickle.dumps(plan))
    assert repr(plan) == repr(list(plan))
    assert isinstance(plan, list)
    assert sum(len(batch) for batch in cst.open(plan)) == 30
    many = type(plan)(
        [cst.source.Split("https://me:secret@h/a?sig=1", i, 2**63 - 1) for i in range(70)]
    )
    assert "20 more rows" in read(many)
    assert "end of file" in read(many)
    assert "secret" not in read(many)
    assert "sig" not in read(many)
    with lineage.open(tmp_path / "lineage.db", create=True) as store:
        artifact = store.examples(trips, name=f"trips {EVIL[:8]}")
        with store.execution("Train", inputs=[artifact]):
            pass
        trace = store.trace(artifact)
    assert trace == list(trace)
    text = read(trace)
    assert "2 nodes" in text
    assert "trips <script>@1" in text
    assert "input: artifact 1" in text
    assert "no rows" not in text
    assert "0 splits of 0 files" in read(type(plan)())


def test_encoders_adapters_and_indexes(trips: str) -> None:
    schema = cst.Schema.from_text('feature { name: "<b>" type: INT }')
    text = read(cst.encoder("example", schema, lossy=True))
    assert "Encoder" in text
    assert "example" in text
    assert "<b>" in text
    assert "lossy\nTrue" in text
    assert "csv" in read(cst.encoder("csv", delimiter=";"))

    batch = cst.record_batch({f"x{i}": [[1, 2], [3]] for i in range(60)})
    how = [cst.schema.TensorRepresentation(f"x{i}", "ragged", "int64") for i in range(60)]
    for adapter in (
        tensor.TensorAdapter(batch.schema, how),
        tfxio.TensorAdapter(pa.schema(batch.schema), {one.name: one for one in how}),
    ):
        text = read(adapter)
        assert "TensorAdapter, 60 tensors" in text
        assert "x0\nragged\nint64" in text
        assert "10 more rows" in text
    index = cst.source.Index.build(trips)
    text = read(index)
    assert "Index of" in text
    assert "30 records" in text
    assert f"1\n{index[1].offset}\n{index[1].size}" in text
    one = cst.struct.constant([{"a": 1, "b": [EVIL]}])
    assert read(cst.struct.StructuredTensorValue(one)) == read(one)
