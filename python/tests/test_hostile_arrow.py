"""Arrow structs that lie, through every entry that takes Arrow data: an exception, never a crash,
and nothing is read before it was validated."""

import contextlib
import dataclasses
import struct

import columnstone as cst
import pyarrow as pa
import pytest
from hostile import Exporter, Node, StreamExporter

FEATURE = b"\x0a\x09\x0a\x07\x0a\x01a\x12\x02\x1a\x00"  # a tf.Example of one empty int64 list


def offsets(*values: int, code: str = "i") -> bytes:
    return struct.pack(f"<{len(values)}{code}", *values)


def binary(format: bytes = b"z") -> Node:
    code = "q" if format in b"ZU" else "i"
    return Node(format, [None, offsets(0, 11, 22, code=code), FEATURE * 2], name=b"record")


def batch(*columns: Node) -> Node:
    return Node(b"+s", [None], children=list(columns))


def ints() -> Node:
    return Node(b"l", [None, offsets(1, 2, code="q")], name=b"a")


def lists() -> Node:
    return Node(b"+l", [None, offsets(0, 1, 2)], children=[ints()], name=b"l")


def words() -> Node:
    values = Node(b"u", [None, offsets(0, 1, 2), b"xy"])
    return Node(b"i", [None, offsets(0, 1)], dictionary=values, name=b"d")


def views() -> Node:
    view = struct.pack("<i12si4sii", 3, b"abc", 20, b"long", 0, 0)
    data = b"long enough, no less"
    return Node(b"vz", [None, view, data, struct.pack("<q", len(data))], name=b"v")


def fixed() -> Node:
    return Node(b"+w:2", [None], children=[dataclasses.replace(ints(), length=4,
        buffers=[None, offsets(1, 2, 3, 4, code="q")])], name=b"f")  # fmt: skip


SHAPES = {
    "binary": binary,
    "records": lambda: batch(binary()),
    "numbers": lambda: batch(ints()),
    "columns": lambda: batch(ints(), binary(b"Z")),
    "lists": lambda: batch(lists()),
    "deep": lambda: batch(batch(lists(), ints())),
    "dictionary": lambda: batch(words()),
    "views": lambda: batch(views()),
    "fixed": lambda: batch(fixed()),
}

# What is changed in one struct of the tree: fields of the schema, fields of the array.
LIES = {
    "no children": ({}, {"n_children": 0}),
    "NULL children": ({}, {"children": None}),
    "children of the schema alone": ({"n_children": 0}, {}),
    "NULL children of the schema": ({"children": None}, {}),
    "negative children": ({"n_children": -1}, {"n_children": -1}),
    "very many children": ({"n_children": 2**62}, {"n_children": 2**62}),
    "released": ({}, {"release": None}),
    "released schema": ({"release": None}, {}),
    "no format": ({"format": None}, {}),
    "unknown format": ({"format": b"?"}, {}),
    "another format": ({"format": b"+s"}, {}),
    "text": ({"format": b"u"}, {}),
    "a union": ({"format": b"+us:0"}, {}),
    "run ends": ({"format": b"+r"}, {}),
    "no name": ({"name": None}, {}),
    "a name that is not UTF-8": ({"name": b"\xff\xfe"}, {}),
    "NULL buffers": ({}, {"buffers": None}),
    "no buffers": ({}, {"n_buffers": 0}),
    "negative buffers": ({}, {"n_buffers": -1}),
    "very many buffers": ({}, {"n_buffers": 2**61}),
    "longer": ({}, {"length": 2**40}),
    "endless": ({}, {"length": 2**63 - 1}),
    "negative length": ({}, {"length": -1}),
    "huge offset": ({}, {"offset": 2**62}),
    "negative offset": ({}, {"offset": -1}),
    "nulls without a bitmap": ({}, {"null_count": 1}),
    "negative nulls": ({}, {"null_count": -7}),
    "more nulls than slots": ({}, {"null_count": 3}),
}


def nodes(node: Node) -> list[Node]:
    children = node.children + ([node.dictionary] if node.dictionary is not None else [])
    return [node] + [inner for child in children for inner in nodes(child)]


def lying() -> list[tuple[str, Node]]:
    """Every lie at every struct of every shape, and lost buffers and dictionaries."""
    made = []
    for shape, make in SHAPES.items():
        for i, _ in enumerate(nodes(make())):
            for lie, (schema, array) in LIES.items():
                tree = make()
                if lie == "longer" and len(nodes(tree)[i].buffers) > 1:
                    continue  # how long a buffer is, the interface does not tell
                nodes(tree)[i].schema = schema
                nodes(tree)[i].array = array
                made.append((f"{shape}-{i}-{lie}", tree))
            for k in range(1, len(nodes(make())[i].buffers)):
                tree = make()
                nodes(tree)[i].buffers[k] = None
                made.append((f"{shape}-{i}-buffer {k} missing", tree))
    for side in ("schema", "array"):
        tree = batch(words())
        setattr(tree.children[0], side, {"dictionary": None})
        made.append((f"dictionary-{side} without it", tree))
    for name, values in {
        "falling": (0, 11, 5),
        "negative": (-5, 0, 11),
        "far": (0, 1, 2**31 - 1),
    }.items():
        tree = batch(lists())
        tree.children[0].buffers[1] = offsets(*values)
        made.append((f"offsets-{name}", tree))
    return made


SCHEMA = 'feature { name: "a" type: INT }'
GOOD = Exporter(batch(ints())), Exporter(ints())  # which have to live as long as what borrows them
ADAPTER = cst.tensor.TensorAdapter(GOOD[0], SCHEMA)
NUMBERS = cst.array(GOOD[1])


def consume(made: cst.arrow.Array | cst.RecordBatch) -> None:
    """All that an accepted object says of its values."""
    with contextlib.suppress(cst.Error):
        made.to_pylist() if isinstance(made, cst.arrow.Array) else made.to_pydict()


def read(obj: object) -> None:
    for made in cst.open(obj):
        consume(made)


def write_any(obj: object, ending: str, folder) -> None:
    cst.write(obj, folder / f"x.{ending}")


ENTRIES = {
    "decoder of examples": lambda obj, folder: cst.decoder("example").decode(obj),
    "decoder of sequences": lambda obj, folder: cst.decoder("sequence_example").decode(obj),
    "binary views": lambda obj, folder: cst.decoder("example", binary_views=True).decode(obj),
    "encoder of examples": lambda obj, folder: cst.encoder("example").encode(obj),
    "encoder of sequences": lambda obj, folder: cst.encoder("sequence_example").encode(obj),
    "encoder of CSV": lambda obj, folder: cst.encoder("csv").encode(obj),
    "open": lambda obj, folder: read(obj),
    "columns": lambda obj, folder: list(cst.open(obj, columns=["a"])),
    "schema": lambda obj, folder: cst.open(obj).schema,
    "tensors": lambda obj, folder: list(cst.open(obj).tensors()),
    "dataset": lambda obj, folder: list(cst.open(obj).dataset(2)),
    "infer_schema": lambda obj, folder: cst.infer_schema(obj),
    "validate": lambda obj, folder: cst.open(obj).validate(SCHEMA),
    "SchemaInference": lambda obj, folder: cst.accumulate.SchemaInference().add(obj),
    "Validation": lambda obj, folder: cst.accumulate.Validation(SCHEMA).add(obj),
    "Counts": lambda obj, folder: cst.accumulate.Counts().add(obj),
    "types": lambda obj, folder: cst.open(folder / "rows.csv", types=obj),
    "arrow": lambda obj, folder: write_any(obj, "arrow", folder),
    "arrows": lambda obj, folder: write_any(obj, "arrows", folder),
    "csv": lambda obj, folder: write_any(obj, "csv", folder),
    "json": lambda obj, folder: write_any(obj, "jsonl", folder),
    "tfrecord": lambda obj, folder: write_any(obj, "tfrecord", folder),
    "raw": lambda obj, folder: cst.write(obj, folder / "x", "raw"),
    "sequence": lambda obj, folder: cst.write(obj, folder / "x", "sequence_example"),
    "shards": lambda obj, folder: cst.write(obj, folder / "x.arrow", num_shards=2),
    "begin": lambda obj, folder: cst.Writer(folder / "x.arrow").begin(obj),
    "TFRecordWriter": lambda obj, folder: cst.codec.TFRecordWriter(folder / "x").write_batch(obj),
    "array": lambda obj, folder: consume(cst.array(obj)),
    "record_batch": lambda obj, folder: consume(cst.record_batch(obj)),
    "concat": lambda obj, folder: cst.concat([obj, obj]),
    "column": lambda obj, folder: cst.record_batch({"a": obj}),
    "take": lambda obj, folder: NUMBERS.take(obj),
    "filter": lambda obj, folder: NUMBERS.filter(obj),
    "fill_null": lambda obj, folder: NUMBERS.fill_null(obj),
    "adapter": lambda obj, folder: ADAPTER.convert(obj),
    "adapter's schema": lambda obj, folder: cst.tensor.TensorAdapter(obj, SCHEMA),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_lies_end_in_an_exception(entry, tmp_path):
    """Whatever is wrong is said by an exception of the usual kinds; what is taken can be read."""
    (tmp_path / "rows.csv").write_bytes(b"a\n1\n")
    for name, tree in lying():
        try:
            ENTRIES[entry](Exporter(tree), tmp_path)
        except (cst.Error, TypeError, ValueError, NotImplementedError, MemoryError):
            pass
        except Exception as error:  # which of them
            raise AssertionError(f"{entry}, {name}: {error!r}") from error


STREAMS = {
    "no schema": lambda good: StreamExporter(5, []),
    "no schema, no reason": lambda good: StreamExporter(22, [], error=None),
    "no schema, garbage": lambda good: StreamExporter(
        12, [], error=b"\xff\xfe\x00\x80" + b"x" * 999
    ),
    "released schema": lambda good: StreamExporter(
        dataclasses.replace(good, schema={"release": None}), []
    ),
    "schema without format": lambda good: StreamExporter(
        dataclasses.replace(good, schema={"format": None}), [good]
    ),
    "schema without children": lambda good: StreamExporter(
        dataclasses.replace(good, schema={"children": None}), [good]
    ),
    "no batch": lambda good: StreamExporter(good, [5]),
    "no batch, no reason": lambda good: StreamExporter(good, [good, 5], error=None),
    "another batch": lambda good: StreamExporter(good, [good, batch(lists(), lists())]),
    "an array without children": lambda good: StreamExporter(
        good, [dataclasses.replace(good, array={"n_children": 0})]
    ),
    "longer than its child": lambda good: StreamExporter(
        good, [dataclasses.replace(good, array={"length": 2**40} if good.children else {})]
    ),
    "no function for the schema": lambda good: StreamExporter(good, [good], get_schema=None),
    "no function for batches": lambda good: StreamExporter(good, [good], get_next=None),
    "no function for errors": lambda good: StreamExporter(good, [5], get_last_error=None),
    "released": lambda good: StreamExporter(good, [good], release=None),
}


@pytest.mark.parametrize("entry", [name for name in ENTRIES if name not in ("types", "begin")])
def test_streams_that_lie_end_in_an_exception(entry, tmp_path):
    for name, make in STREAMS.items():
        for good in (batch(binary()), batch(ints()), binary()):
            try:
                ENTRIES[entry](make(good), tmp_path)
            except (cst.Error, TypeError, ValueError, MemoryError):
                pass
            except Exception as error:
                raise AssertionError(f"{entry}, {name}: {error!r}") from error


@pytest.mark.parametrize("kind", ["example", "sequence_example"])
def test_records_are_looked_for_in_a_struct_that_was_validated(kind):
    lost = batch(binary())
    lost.array = {"n_children": 0, "children": None}
    with pytest.raises(cst.errors.ArgumentError, match="0 children, its schema 1"):
        cst.decoder(kind).decode(Exporter(lost))
    longer = batch(binary())
    longer.array = {"length": 3}
    with pytest.raises(
        cst.errors.CorruptError, match="a child of length 2 in a struct of length 3"
    ):
        cst.decoder(kind).decode(Exporter(longer))
    with pytest.raises(cst.errors.ArgumentError, match="a batch of 2 columns"):
        cst.decoder(kind).decode(Exporter(batch(binary(), binary())))


def test_a_stream_of_several_chunks_is_decoded_whole():
    chunk = dataclasses.replace(batch(binary()), length=1)
    decoded = cst.decoder("example").decode(StreamExporter(chunk, [batch(binary()), chunk]))
    assert decoded.num_rows == 3
    text = cst.decoder("example").decode(StreamExporter(binary(b"u"), [binary(b"u"), binary(b"u")]))
    assert text.num_rows == 4


def test_a_sliced_batch_of_records_is_written(tmp_path):
    tree = batch(binary())
    tree.length, tree.array = 1, {"offset": 1}
    with cst.codec.TFRecordWriter(tmp_path / "x") as writer:
        writer.write_batch(Exporter(tree))
    assert cst.write(Exporter(tree), tmp_path / "y", "raw") == 1
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()
    assert cst.open(tmp_path / "y").num_rows == 1


def union(kind: str) -> Node:
    ids = Node(b"", [], children=[ints(), dataclasses.replace(ints(), name=b"b")], name=b"u")
    if kind == "dense":  # an offset far outside
        ids.format, ids.buffers = b"+ud:0,1", [b"\0\1", offsets(0, 2**30)]
    elif kind == "sparse":  # an id that there is not
        ids.format, ids.buffers = b"+us:0,1", [b"\0\x7f"]
    else:
        runs = Node(b"i", [None, offsets(1, 2**30)], name=b"run_ends")
        ids.format, ids.children = b"+r", [runs, dataclasses.replace(ints(), name=b"values")]
    return ids


@pytest.mark.parametrize("kind", ["dense", "sparse", "run_end"])
@pytest.mark.parametrize("ending", ["arrow", "arrows", "csv", "jsonl", "tfrecord"])
def test_unions_and_runs_are_refused_everywhere(kind, ending, tmp_path):
    """Sound or not: nobody looks into them."""
    exporter = Exporter(batch(ints(), batch(union(kind))))
    for call in (
        lambda: cst.write(exporter, tmp_path / f"x.{ending}"),
        lambda: list(cst.open(exporter)),
        lambda: cst.record_batch(exporter),
        lambda: cst.array(exporter),
        lambda: cst.open(exporter).schema,
        lambda: cst.accumulate.Counts().add(exporter),
    ):
        with pytest.raises(
            cst.errors.UnsupportedError, match=f"type {kind}.* is not supported"
        ) as caught:
            call()
        assert caught.value.path == ".u"
    assert not list(tmp_path.iterdir())
    assert [b.to_pydict() for b in cst.open(exporter, columns=["a"])] == [{"a": [1, 2]}]


def test_values_of_list_views_that_share_their_items_again_and_again() -> None:
    """3,000 views of all 3,000 below, six times: 3,000 ** 6 values in a few kilobytes."""
    views: pa.Array = pa.array(range(3000))
    for _ in range(6):
        views = pa.ListViewArray.from_arrays([0] * 3000, [3000] * 3000, views)
    with pytest.raises(cst.errors.LimitError, match="share their items"):
        cst.array(views).to_pylist()
    with pytest.raises(cst.errors.LimitError, match="share their items"):
        cst.StructuredTensor.from_arrow(pa.table({"a": views}))["a"].to_py()
