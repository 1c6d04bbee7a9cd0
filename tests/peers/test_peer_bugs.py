"""What the peers get wrong, each with the peer's answer and ours.

Every test first shows the fault in the installed peer: when a new version mends it, the test fails,
and the peer can be trusted there as well.
"""

from __future__ import annotations

import gzip
import pathlib
import struct
import subprocess
import sys

import columnstone as cst
import pyarrow as pa
import pytest
import tensorflow as tf
import wire
from support import (
    by_protobuf,
    framed,
    masked_crc,
    our_tensors,
    ours,
    read_by_tfrecord_package,
    schema_proto,
    tf_tensors,
    tfx_bsl,
)
from tensor_cases import Case, peer_feature_spec
from test_tensors import adapter_tensors
from tfx_bsl.coders.example_coder import (
    ExamplesToRecordBatchDecoder,
    RecordBatchToExamplesEncoder,
)

INT_X = 'feature { name: "x" type: INT }'
VARLEN_X = {"x": tf.io.VarLenFeature(tf.int64)}


def int_record(*values: int, name: str = "x") -> bytes:
    return wire.example([wire.Feature(name, "INT", values)])


# tf.io.parse_example


def parsed_by_tf(record: bytes, kind: tf.DType = tf.int64) -> list[object]:
    return tf_tensors([record], {"x": tf.io.VarLenFeature(kind)})["x"][3]


def one_feature(feature: bytes) -> bytes:
    """An Example whose only feature, x, is this message."""
    return wire.delimited(
        1, wire.delimited(1, wire.delimited(1, b"x") + wire.delimited(2, feature))
    )


def test_tf_loses_values_when_packed_and_unpacked_are_mixed() -> None:
    record = wire.example([wire.Feature("x", "INT", (1, 2, 3, 4), wire.Form(runs=(True, False)))])
    assert parsed_by_tf(record) == [1, 2]
    assert ours([record]).to_pydict() == {"x": [[1, 2, 3, 4]]} == tfx_bsl([record]).to_pydict()


def test_tf_loses_the_second_of_two_lists() -> None:
    form = wire.Form(runs=(True, True), split_lists=True)
    record = wire.example([wire.Feature("x", "INT", (1, 2), form)])
    assert parsed_by_tf(record) == [1]
    assert ours([record]).to_pydict() == {"x": [[1, 2]]} == tfx_bsl([record]).to_pydict()


def test_tf_accepts_a_packed_float_of_five_bytes() -> None:
    floats = wire.delimited(1, struct.pack("<f", 1.5) + b"\x00")
    record = one_feature(wire.delimited(2, floats))
    assert len(parsed_by_tf(record, tf.float32)) == 1
    assert by_protobuf(record) is None
    with pytest.raises(cst.errors.CorruptError):
        ours([record])


def test_tf_refuses_unknown_fields_and_puts_the_record_into_the_error() -> None:
    record = wire.example([wire.Feature("x", "INT", (1, 2), wire.Form(unknown=1))])
    with pytest.raises((tf.errors.InvalidArgumentError, UnicodeDecodeError)):
        parsed_by_tf(record)
    assert ours([record]).to_pydict() == {"x": [[1, 2]]} == tfx_bsl([record]).to_pydict()


def test_tf_error_is_a_unicode_error_and_ours_names_the_record() -> None:
    bad = b"\x0a\xff\xff\xff\x7f\xff\xfe secret"
    with pytest.raises(UnicodeDecodeError):
        tf_tensors([bad], VARLEN_X)
    with pytest.raises(cst.errors.CorruptError) as error:
        ours([int_record(1), bad], INT_X)
    assert error.value.record == 1
    assert "secret" not in str(error.value)


# protobuf's Python parser


def test_upb_drops_a_feature_with_an_unknown_field_beside_it() -> None:
    inner = wire.delimited(1, b"x") + wire.delimited(2, b"") + wire.tag(9, 0) + wire.varint(1)
    record = wire.delimited(1, wire.delimited(1, inner))
    assert by_protobuf(record) == {}
    assert ours([record], INT_X).to_pydict() == {"x": [None]}
    assert ours([record]).schema.names == ["x"] == tfx_bsl([record]).schema.names


# tfx_bsl


def test_tfx_bsl_decoder_is_not_usable_after_an_error() -> None:
    schema = schema_proto(INT_X).SerializeToString()
    theirs = ExamplesToRecordBatchDecoder(schema)
    mine = cst.decoder("example", schema=schema)
    bad = [int_record(1), wire.example([wire.Feature("x", "FLOAT", (1.0,))])]
    with pytest.raises(RuntimeError):
        theirs.DecodeBatch(bad)
    try:
        stale = theirs.DecodeBatch([int_record(2)]).to_pydict()
    except Exception:
        stale = None
    assert stale != {"x": [[2]]}
    with pytest.raises(cst.errors.SchemaError):
        mine.decode(bad)
    assert mine.decode([int_record(2)]).to_pydict() == {"x": [[2]]}


def test_tfx_bsl_cuts_a_name_at_nul() -> None:
    record = int_record(1, name="a\0b")
    assert tfx_bsl([record]).schema.names == ["a"]
    with pytest.raises(cst.Error):
        ours([record])


def test_tfx_bsl_takes_the_first_of_two_features_of_one_name() -> None:
    schema = 'feature { name: "x" type: INT } feature { name: "x" type: BYTES }'
    assert tfx_bsl([int_record(1)], schema).to_pydict() == {"x": [[1]]}
    with pytest.raises(cst.errors.SchemaError):
        cst.Schema.from_text(schema)


def test_tfx_bsl_does_not_say_which_record_is_bad() -> None:
    records = [int_record(1), int_record(2), b"\xff"]
    with pytest.raises(RuntimeError, match=r"^DATA_LOSS: Unable to parse example\.$"):
        tfx_bsl(records)
    with pytest.raises(cst.errors.CorruptError) as error:
        ours(records)
    assert error.value.record == 2


def test_tfx_bsl_writes_a_null_element_as_zero() -> None:
    batch = pa.record_batch({"x": pa.array([[1, None]], pa.large_list(pa.int64()))})
    (record,) = RecordBatchToExamplesEncoder(None).encode(batch)
    assert by_protobuf(record) == {"x": [1, 0]}
    with pytest.raises(cst.Error) as error:
        cst.encoder("example").encode(batch)
    assert (error.value.record, error.value.path) == (0, "x")


UNUSUAL_COLUMNS = [
    (pa.array([["a"]], pa.list_(pa.string())), b"a"),
    (pa.array([[7]], pa.list_(pa.int32())), 7),
    (pa.array([[0.5]], pa.list_(pa.float64())), 0.5),
    (pa.array([7], pa.int64()), 7),
    (pa.array(["a"], pa.string_view()), b"a"),
    (pa.array([[b"a"]], pa.list_(pa.binary_view())), b"a"),
]


@pytest.mark.parametrize(
    ("column", "value"), UNUSUAL_COLUMNS, ids=lambda c: str(getattr(c, "type", ""))
)
def test_tfx_bsl_encodes_few_types(column: pa.Array, value: wire.Value) -> None:
    batch = pa.record_batch({"x": column})
    with pytest.raises(Exception, match=r"INVALID_ARGUMENT|UNIMPLEMENTED|format string"):
        RecordBatchToExamplesEncoder(None).encode(batch)
    encoded = cst.encoder("example").encode(batch)
    assert by_protobuf(encoded[0]) == {"x": [value]}


def test_tensor_adapter_checks_only_the_total() -> None:
    schema = """feature { name: "x" type: INT shape { dim { size: 2 } }
                presence { min_fraction: 1 } }"""
    records = [int_record(1), int_record(2, 3, 4)]
    kind, _, shape, values = adapter_tensors(Case(schema, records))["x"]
    assert (kind, shape, values) == ("dense", [2, 2], [[1, 2], [3, 4]])
    with pytest.raises(cst.errors.SchemaError) as error:
        our_tensors(records, schema)
    assert (error.value.path, error.value.record) == ("x", 0)


SPARSE = """
  feature { name: "i" type: INT int_domain { min: 0 max: 9 } }
  feature { name: "v" type: INT }
  sparse_feature { name: "s" index_feature { name: "i" } value_feature { name: "v" } }
"""


def sparse_record(indices: list[int], values: list[int]) -> bytes:
    return wire.example(
        [wire.Feature("i", "INT", tuple(indices)), wire.Feature("v", "INT", tuple(values))]
    )


def test_tf_and_the_adapter_do_not_match_indices_and_values_row_by_row() -> None:
    records = [sparse_record([1, 2], [10]), sparse_record([3], [20, 30])]
    assert adapter_tensors(Case(SPARSE, records))["s"][2:4] == (
        [[0, 1], [1, 2], [1, 3]],
        [10, 20, 30],
    )
    by_tf = tf_tensors(records, peer_feature_spec(SPARSE))["s"]
    assert by_tf[2:4] == ([[0, 1], [0, 2], [1, 3]], [10, 20, 30])
    with pytest.raises(cst.errors.SchemaError) as error:
        our_tensors(records, SPARSE)
    assert error.value.record == 0


def test_tensor_adapter_does_not_check_the_range_of_indices() -> None:
    records = [sparse_record([12], [10])]
    assert adapter_tensors(Case(SPARSE, records))["s"][2:] == ([[0, 12]], [10], [1, 10])
    with pytest.raises(cst.errors.SchemaError):
        our_tensors(records, SPARSE)


def test_tensor_adapter_checks_row_lengths_only_in_total() -> None:
    schema = """
      feature { name: "v" type: INT }
      feature { name: "n" type: INT }
      tensor_representation_group { key: "" value { tensor_representation { key: "r" value {
        ragged_tensor { feature_path { step: "v" } partition { row_length: "n" } } } } } }
    """
    records = [
        wire.example([wire.Feature("v", "INT", (1,)), wire.Feature("n", "INT", (2,))]),
        wire.example([wire.Feature("v", "INT", (2, 3)), wire.Feature("n", "INT", (1,))]),
    ]
    assert adapter_tensors(Case(schema, records))["r"][3] == [[[1, 2]], [[3]]]
    with pytest.raises(cst.errors.SchemaError) as error:
        our_tensors(records, schema)
    assert error.value.record == 0


# Files


def test_tensorflow_takes_a_file_cut_in_a_header_for_whole(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "cut"
    path.write_bytes(framed([b"one", b"two", b"three"])[: -(16 + len(b"three")) + 7])
    assert [r.numpy() for r in tf.data.TFRecordDataset(str(path))] == [b"one", b"two"]
    with pytest.raises(cst.errors.CorruptError) as error:
        list(cst.open(path, format="raw"))
    assert (error.value.record, error.value.offset) == (2, 2 * (16 + 3))


def test_tensorflow_stops_at_an_empty_gzip_member(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "members"
    path.write_bytes(gzip.compress(b"") + gzip.compress(framed([b"one", b"two", b"three"])))
    assert list(tf.data.TFRecordDataset(str(path), compression_type="GZIP")) == []
    table = pa.table(cst.open(path, format="raw"))
    assert table["record"].to_pylist() == [b"one", b"two", b"three"]


READ_WITH_TENSORFLOW = (
    "import sys, tensorflow as tf; print(len(list(tf.data.TFRecordDataset(sys.argv[1]))))"
)


def test_tensorflow_dies_of_an_absurd_length(tmp_path: pathlib.Path) -> None:
    length = struct.pack("<Q", 1 << 62)
    path = tmp_path / "absurd"
    path.write_bytes(framed([b"x" * 40]) + length + struct.pack("<I", masked_crc(length)) + b"abc")
    done = subprocess.run(
        [sys.executable, "-c", READ_WITH_TENSORFLOW, str(path)], capture_output=True, check=False
    )
    assert done.returncode != 0
    with pytest.raises(cst.Error) as error:
        list(cst.open(path, format="raw"))
    assert (error.value.record, error.value.offset) == (1, 56)


def test_the_tfrecord_package_never_checks_a_checksum(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "flipped"
    blob = bytearray(framed([b"one", b"two", b"three"]))
    blob[12] ^= 1
    path.write_bytes(blob)
    assert read_by_tfrecord_package(path) == [b"nne", b"two", b"three"]
    with pytest.raises(cst.errors.CorruptError) as error:
        list(cst.open(path, format="raw"))
    assert (error.value.record, error.value.offset) == (0, 0)


def test_the_tfrecord_package_makes_records_of_trailing_zeros(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "zeros"
    path.write_bytes(framed([b"one", b"two", b"three"]) + bytes(64))
    assert read_by_tfrecord_package(path) == [b"one", b"two", b"three", b"", b"", b"", b""]
    with pytest.raises(cst.errors.CorruptError) as error:
        list(cst.open(path, format="raw"))
    assert error.value.record == 3


def test_the_tfrecord_package_and_tensorflow_exclude_each_other() -> None:
    """Ours registers no protobuf descriptors: see test_coexist."""
    done = subprocess.run(
        [sys.executable, "-c", "import tensorflow, tfrecord"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "duplicate symbol 'tensorflow.BytesList'" in done.stderr
