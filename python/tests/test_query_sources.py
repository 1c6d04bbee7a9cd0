"""cst.open(view=): files, tables and streams through a view, as batches, tensors and data sets."""

from __future__ import annotations

import io
import pathlib
import pickle
from typing import Any

import columnstone as cst
import messages
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from columnstone import tfxio

RECORDS = messages.sessions(60)
ROWS = messages.rows(RECORDS)
LABELS = [sum(e["clicked"] for e in row["event"]) for row in ROWS]
TOKENS = [[e["query"] for e in row["event"]] for row in ROWS]
TEXT = """
let clicks = event where clicked
output label = dense(size(clicks), default=0)
output tokens = ragged(event.query)
"""


def ranking() -> cst.Query:
    return cst.Query(messages.shop("Session")).add(TEXT)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The sessions in two files and in one, and as Parquet; the view and its query."""
    folder = tmp_path_factory.mktemp("sessions")
    for i, part in enumerate((RECORDS[:40], RECORDS[40:])):
        with cst.codec.TFRecordWriter(folder / f"sessions-{i}.tfrecord.gz") as writer:
            for record in part:
                writer.write(record)
    with cst.codec.TFRecordWriter(folder / "sessions.tfrecord") as writer:
        for record in RECORDS:
            writer.write(record)
    ranking().save(folder / "ranking.cstv")
    (folder / "ranking.cstq").write_text("from message shop.Session\n" + TEXT)
    pq.write_table(table(), folder / "sessions.parquet", row_group_size=25)
    return folder


def table() -> pa.Table:
    return pa.table(
        cst.decoder("message", message=messages.shop("Session"), enums="text").decode(RECORDS)
    )


def columns_of(source: Any) -> dict[str, list[Any]]:
    return pa.table(source).to_pydict()


# Files of messages


@pytest.mark.parametrize("kind", ["path", "str", "bytes", "view", "query", "text"])
def test_views_of_all_kinds(files: pathlib.Path, kind: str) -> None:
    path = files / "ranking.cstv"
    view: Any = {
        "path": path,
        "str": str(path),
        "bytes": path.read_bytes(),
        "view": cst.View(path),
        "query": ranking(),
        "text": files / "ranking.cstq",
    }[kind]
    named = {"descriptors": messages.SHOP} if kind == "text" else {}
    src = cst.open(files / "sessions-*.tfrecord.gz", view=view, batch_size=16, threads=2, **named)
    assert columns_of(src) == {"label": LABELS, "tokens": TOKENS}
    assert columns_of(pickle.loads(pickle.dumps(src))) == {"label": LABELS, "tokens": TOKENS}
    batches = list(src.tensors())
    assert [n for b in batches for n in b["label"].tolist()] == LABELS
    assert src.tensor_representations() == ranking().view().specs
    assert src.feature_spec() == ranking().feature_spec()


def test_columns_are_outputs(files: pathlib.Path) -> None:
    path = files / "sessions.tfrecord"
    src = cst.open(path, view=files / "ranking.cstv", columns=["tokens"])
    assert columns_of(src) == {"tokens": TOKENS}
    src = cst.open(path, view=files / "ranking.cstv")
    assert columns_of(src.select(["label"])) == {"label": LABELS}
    assert src[3].to_pydict() == {"label": LABELS[3:4], "tokens": TOKENS[3:4]}
    assert src.take([5, 2]).to_pydict()["label"] == [LABELS[5], LABELS[2]]
    with pytest.raises(cst.errors.NotFoundError, match="did you mean 'label'"):
        cst.open(path, view=files / "ranking.cstv", columns=["lable"])


def test_parameters(files: pathlib.Path) -> None:
    query = ranking().param("most", "int64", 1).let("few", "event[:most]").output("n", "size(few)")
    path = files / "sessions.tfrecord"
    for view in (query, query.view(), query.view().to_bytes()):
        src = cst.open(path, view=view, params={"most": 2}, columns=["n"])
        assert columns_of(src) == {"n": [min(2, len(t)) for t in TOKENS]}
    with pytest.raises(cst.errors.ArgumentError, match="without view"):
        cst.open(path, params={"most": 1})


def test_stages_come_after_the_view(files: pathlib.Path) -> None:
    src = cst.open(files / "sessions.tfrecord", view=ranking())
    some = src.filter(lambda b: np.asarray(b["label"]) > 1).map(lambda b: b.select(["label"]))
    assert columns_of(some) == {"label": [n for n in LABELS if n > 1]}


def test_raw_records_and_rows(files: pathlib.Path) -> None:
    query = cst.Query(messages.shop("Session")).rows("event").output("q", "query")
    src = cst.open(files / "sessions.tfrecord", view=query, raw_column="raw")
    expected = [(q, [r]) for r, row in zip(RECORDS, TOKENS, strict=True) for q in row]
    found = columns_of(src)
    assert list(zip(found["q"], found["raw"], strict=True)) == expected


def test_records_that_are_damaged(files: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with cst.codec.TFRecordWriter(tmp_path / "bad.tfrecord") as writer:
        for record in (RECORDS[1], b"\xff", RECORDS[2]):
            writer.write(record)
    path = tmp_path / "bad.tfrecord"
    with pytest.raises(cst.errors.CorruptError) as caught:
        list(cst.open(path, view=ranking()))
    assert caught.value.record == 1
    assert columns_of(cst.open(path, view=ranking(), on_error="skip"))["label"] == LABELS[1:3]
    src = cst.open(path, view=ranking(), on_error="null")
    assert columns_of(src)["label"] == [LABELS[1], None, LABELS[2]]
    assert len(src.dropped) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.csv", "id,x\n1,2\n1,2,3\n4,5\n"), ("a.jsonl", '{"id": 1}\nno\n{"id": 4}\n')],
)
def test_the_types_of_a_query_are_those_of_the_records_that_are_read(
    tmp_path: pathlib.Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    query = cst.Query.from_text("output i = id")
    with pytest.raises(cst.errors.CorruptError):
        cst.open(tmp_path / name, view=query)
    told: list[cst.source.Dropped] = []
    for on_error in ("skip", "null", told.append):
        src = cst.open(tmp_path / name, view=query, on_error=on_error)
        assert columns_of(src) == {"i": [1, 4]}
        assert [drop.record for drop in src.dropped] == [1]
    assert [drop.record for drop in told] == [1]


def test_formats_without_records_to_drop_are_queried_with_on_error(tmp_path: pathlib.Path) -> None:
    cst.write([{"id": 1}, {"id": 0}, {"id": 4}], tmp_path / "a.arrow")
    query = cst.Query.from_text("output i = 4 // id")
    src = cst.open(tmp_path / "a.arrow", view=query, on_error="skip")
    assert columns_of(src) == {"i": [4, 1]}


def _own(values: Any) -> Any:
    raise KeyError("own")


@pytest.mark.parametrize("threads", [1, 2])
def test_what_functions_raise_comes_out(files: pathlib.Path, threads: int) -> None:
    query = cst.Query(messages.shop("Session")).map("x", _own, "id", type="int64").output("x", "x")
    src = cst.open(files / "sessions.tfrecord", view=query, threads=threads)
    for read in (lambda: list(src), lambda: list(src.tensors())):
        with pytest.raises(KeyError, match="own"):
            read()
    with pytest.raises(KeyError, match="own"):
        list(pickle.loads(pickle.dumps(src)))


def test_arguments_that_do_not_go_together(files: pathlib.Path) -> None:
    path = files / "sessions.tfrecord"
    with pytest.raises(cst.errors.ArgumentError, match="its own message"):
        cst.open(path, view=ranking(), message=messages.shop("Session"))
    with pytest.raises(cst.errors.ArgumentError, match="its own message_options"):
        cst.open(path, view=ranking(), message_options={"enums": "text"})
    with pytest.raises(TypeError, match="not int"):
        cst.open(path, view=1)  # type: ignore[arg-type]
    with pytest.raises(cst.errors.NotFoundError):
        cst.open(path, view=files / "none.cstv")


# Tables


def test_only_the_wanted_leaves_of_parquet_are_read(
    files: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Any] = []
    iter_batches = pq.ParquetFile.iter_batches
    monkeypatch.setattr(
        pq.ParquetFile,
        "iter_batches",
        lambda self, **given: read.append(given["columns"]) or iter_batches(self, **given),
    )
    query = cst.Query(table().schema).add(TEXT).output("sku", "event.result.sku")
    path = files / "sessions.parquet"
    found = columns_of(cst.open(path, view=query))
    skus = [[[r["sku"] for r in e["result"]] for e in row["event"]] for row in ROWS]
    assert found == {"label": LABELS, "tokens": TOKENS, "sku": skus}
    leaf = "event.list.element."
    assert sorted(read[-1]) == [f"{leaf}clicked", f"{leaf}query", f"{leaf}result.list.element.sku"]
    assert columns_of(cst.open(path, view=query, columns=["label"])) == {"label": LABELS}
    assert read[-1] == [f"{leaf}clicked"]
    assert columns_of(cst.open(path, view=query, threads=2).select(["sku"])) == {"sku": skus}
    with path.open("rb") as file:
        src = cst.open(file, format="parquet", view=query, columns=["label"])
        assert columns_of(src) == {"label": LABELS}
    assert columns_of(pickle.loads(pickle.dumps(cst.open(path, view=query))))["label"] == LABELS


def test_a_query_goes_by_the_types_of_its_input(files: pathlib.Path) -> None:
    query = cst.Query().add(TEXT)
    expected = {"label": LABELS, "tokens": TOKENS}
    assert columns_of(cst.open(files / "sessions.parquet", view=query)) == expected
    assert columns_of(cst.open(table(), view=query)) == expected
    assert columns_of(cst.open(table().to_reader(), view=cst.Query(table()).add(TEXT))) == expected
    with pytest.raises(cst.errors.ArgumentError, match=r"Query\(stream.schema\)"):
        cst.open(table().to_reader(), view=query)
    with pytest.raises(cst.errors.FieldNotFoundError, match="did you mean 'event'"):
        cst.open(table(), view=cst.Query().output("n", "size(evnt)"))


def test_text_and_data_in_memory(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,x\n2,\n")
    query = cst.Query().let("c", "a + 1").keep("b", "c")
    assert columns_of(cst.open(tmp_path / "a.csv", view=query)) == {"b": ["x", None], "c": [2, 3]}
    lines = b'{"event": [{"q": "x"}, {"q": "y"}]}\n{"event": []}\n'
    (tmp_path / "a.jsonl").write_bytes(lines)
    query = cst.Query().output("n", "size(event)").output("q", "event.q")
    expected = {"n": [2, 0], "q": [["x", "y"], []]}
    assert columns_of(cst.open(tmp_path / "a.jsonl", view=query)) == expected
    rows = [{"event": [{"q": "x"}, {"q": "y"}]}, {"event": []}]
    assert columns_of(cst.open(rows, view=query)) == expected


def test_messages_in_a_column(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"key": range(60), "value": RECORDS}), path)
    named = {"message_column": "value", "message": messages.shop("Session")}
    query = cst.Query().output("n", "size(value.event)").output("key", "key")
    found = columns_of(cst.open(path, view=query, **named))  # type: ignore[arg-type]
    assert found == {"n": [len(t) for t in TOKENS], "key": list(range(60))}


def test_examples(tmp_path: pathlib.Path) -> None:
    rows = pa.table({"a": [[1], [2]], "b": [[b"x"], [b"y", b"z"]]})
    cst.write(rows, tmp_path / "a.tfrecord")
    for query in (cst.Query("example"), cst.Query.from_text("from example")):
        query = query.output("a", "a + 1").output("b", cst.query.ragged("b"))
        found = columns_of(cst.open(tmp_path / "a.tfrecord", view=query))
        assert found["a"] == [2, 3]
        assert [len(b) for b in found["b"]] == [1, 2]


# Data sets


def test_data_sets_are_shuffled_and_resumed(files: pathlib.Path) -> None:
    src = cst.open(files / "sessions.tfrecord", view=ranking())
    assert len(src) == 60
    data = src.dataset(16, shuffle=True, seed=3)
    order = [n for batch in data for n in batch["label"].tolist()]
    assert sorted(order) == sorted(LABELS)
    assert order != LABELS
    running = iter(data)
    first = [next(running)["label"].tolist() for _ in range(2)]
    rest = src.dataset(16, shuffle=True, seed=3, consumed=2)
    assert [n for b in first for n in b] + [n for b in rest for n in b["label"].tolist()] == order


def test_torch(files: pathlib.Path) -> None:
    torch = pytest.importorskip("torch")
    src = cst.open(files / "sessions-*.tfrecord.gz", view=ranking())
    (labels,) = [batch["label"] for batch in src.dataset(60).torch()]
    assert torch.equal(labels, torch.tensor(LABELS))


# TFXIO


ALL_KINDS = """
let events = only(event, query, clicked)
output dense = dense(id)
output pair = dense(event[:2].clicked, shape=[2], default=false)
output bool = size(event) > 1
output text = fill_null(user, "")
output sparse1 = sparse(user)
output sparse2 = sparse(event.price)
output sparse3 = sparse(event.result.score)
output ragged = ragged(event.query)
output ragged2 = ragged(event.result.price, row_splits=int32)
output struct = struct(events)
"""


def test_tfxio_of_a_view(files: pathlib.Path) -> None:
    view = cst.Query(messages.shop("Session")).add(ALL_KINDS).view()
    io_ = tfxio.GraphToTensorTFXIO(
        view, str(files / "sessions.tfrecord"), raw_record_column_name="raw"
    )
    (batch,) = io_.RecordBatches(tfxio.RecordBatchesOptions(batch_size=100))
    assert batch.schema == io_.ArrowSchema()
    assert batch.column("raw").to_pylist() == [[r] for r in RECORDS]
    assert list(io_.TensorRepresentations()) == list(view.specs)
    tensors = io_.TensorAdapter().ToBatchTensors(batch)
    for name, tensor in view.tensors(RECORDS).items():
        assert _plain(tensors[name]) == _plain(tensor)
    some = io_.Project(["bool", "sparse2"])
    assert some.ArrowSchema().names == ["bool", "sparse2$values", "sparse2$index0", "raw"]
    assert "event.query" not in some._outputs.source_paths()
    assert columns_of(some._open(100))["raw"] == [[r] for r in RECORDS]
    with pytest.raises(cst.errors.NotFoundError, match="'boo'"):
        io_.Project(["boo"])
    bare = tfxio.GraphToTensorTFXIO(view)
    assert bare.ArrowSchema().names == batch.schema.names[:-1]
    with pytest.raises(cst.errors.ArgumentError, match="there are no files"):
        bare.RecordBatches(tfxio.RecordBatchesOptions(batch_size=1))


def test_tensors_to_columns_and_back_are_the_same() -> None:
    view = cst.Query(messages.shop("Session")).add(ALL_KINDS).view()
    tensors = view.tensors(RECORDS)
    batch = cst.tensor.TensorEncoder(view.specs).encode(tensors)
    again = cst.tensor.TensorAdapter(batch.schema, view.specs).convert(batch)
    for name, tensor in tensors.items():
        assert _plain(again[name]) == _plain(tensor), name


def _plain(tensor: Any) -> Any:
    if isinstance(tensor, dict):
        return {name: _plain(value) for name, value in tensor.items()}
    if isinstance(tensor, cst.tensor.SparseTensor):
        parts = (tensor.indices, tensor.values, tensor.dense_shape)
        return [tensor.dtype, *(part.tolist() for part in parts)]
    if isinstance(tensor, cst.tensor.RaggedTensor):
        splits = [[level.dtype, level.tolist()] for level in tensor.row_splits]
        return [tensor.dtype, tensor.values.tolist(), splits]
    return [tensor.dtype, tensor.shape, tensor.tolist()]


def _decoded(records: list[bytes]) -> dict[str, Any]:
    lengths = np.array([len(r) for r in records], "int64")
    return {
        "length": lengths,
        "odd": lengths % 2 == 1,
        "pair": np.stack([lengths, -lengths], axis=1),
        "bytes": list(records),
        "version": 7,
    }


def test_tfxio_of_a_function(files: pathlib.Path) -> None:
    path = str(files / "sessions-*.tfrecord.gz")
    io_ = tfxio.GraphToTensorTFXIO(_decoded, path, raw_record_column_name="raw")
    (batch,) = io_.RecordBatches(tfxio.RecordBatchesOptions(batch_size=100))
    assert batch.schema == io_.ArrowSchema()
    assert [r for (r,) in batch.column("raw").to_pylist()] == RECORDS
    tensors = io_.TensorAdapter().ToBatchTensors(batch)
    assert tensors["odd"].tolist() == [len(r) % 2 == 1 for r in RECORDS]
    assert tensors["pair"].shape == (60, 2)
    assert tensors["bytes"].tolist() == RECORDS
    assert tensors["version"].tolist() == [7] * 60
    some = io_.Project(["odd"])
    assert some.ArrowSchema().names == ["odd", "raw"]
    assert pickle.loads(pickle.dumps(some)).ArrowSchema() == some.ArrowSchema()
    with pytest.raises(cst.errors.NotFoundError):
        io_.Project(["even"])


def _doubled(records: list[bytes]) -> dict[str, Any]:
    """Two rows for each record."""

    rows = np.repeat(np.arange(len(records), dtype="int64"), 2)
    return {"x": rows * 10, "from": rows}


def test_a_function_may_make_other_rows(files: pathlib.Path) -> None:
    path = str(files / "sessions.tfrecord")
    with pytest.raises(cst.errors.ArgumentError, match="record_index"):
        list(tfxio.GraphToTensorTFXIO(_doubled, path)._open(50))
    io_ = tfxio.GraphToTensorTFXIO(
        _doubled, path, record_index_tensor_name="from", raw_record_column_name="raw"
    )
    found = columns_of(io_._open(60))
    assert [r for (r,) in found["raw"]] == [r for r in RECORDS for _ in range(2)]
    with pytest.raises(cst.errors.ArgumentError, match="not return the tensor 'none'"):
        tfxio.GraphToTensorTFXIO(_doubled, path, record_index_tensor_name="none").ArrowSchema()


def test_beam_is_asked_for_by_name(files: pathlib.Path) -> None:
    try:
        import apache_beam  # noqa: F401
    except ModuleNotFoundError:
        with pytest.raises(cst.errors.UnsupportedError, match="needs apache_beam"):
            tfxio.GraphToTensorTFXIO(ranking()).BeamSource()


def _forms_of_rows() -> list[tuple[str, bytes]]:
    rows = pa.table({"a": [1, 2, 3]})
    forms = []
    for format in ("json", "csv", "arrow", "parquet"):
        file = io.BytesIO()
        if format == "parquet":
            pq.write_table(rows, file)
        else:
            cst.write(rows, file, format)
        forms.append((format, file.getvalue()))
    return forms


@pytest.mark.parametrize(("format", "data"), _forms_of_rows())
def test_a_query_over_a_file_object_leaves_it_where_it_stands(format: str, data: bytes) -> None:
    query = cst.Query.from_text("output s = dense(a)")
    before = b"x" if format != "parquet" else b""  # Parquet is read from its end
    file = io.BytesIO(before + data)
    file.seek(len(before))
    with cst.open(file, format=format, view=query) as source:
        assert pa.table(source).to_pydict() == {"s": [1, 2, 3]}
        assert pa.table(source).to_pydict() == {"s": [1, 2, 3]}


def test_a_query_over_tf_examples_in_a_file_object() -> None:
    file = io.BytesIO()
    cst.write(pa.table({"a": [[1], [2, 3]]}), file, "example")
    schema = 'feature { name: "a" type: INT }'
    query = cst.Query.from_text("output s = ragged(a)")
    for given in (None, schema):
        file.seek(0)
        with cst.open(file, view=query, schema=given) as source:
            assert pa.table(source).to_pydict() == {"s": [[1], [2, 3]]}


def test_a_query_over_a_pipe_needs_the_type(tmp_path: pathlib.Path) -> None:
    class Pipe(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise AssertionError

    with pytest.raises(cst.errors.ArgumentError, match="type of the stream is unknown"):
        cst.open(Pipe(), format="json", view=cst.Query.from_text("output s = dense(a)"))
