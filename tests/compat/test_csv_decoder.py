"""csv_decoder and csv_tfxio: ours as tfx_bsl's, and right where tfx_bsl is not."""

from __future__ import annotations

import itertools
import pathlib
import pickle
import sys
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
import tensorflow as tf
from apache_beam.testing.util import assert_that
from columnstone.compat.tfx_bsl.coders import csv_decoder
from columnstone.compat.tfx_bsl.tfxio import csv_tfxio, dataset_options
from conftest import _theirs, real
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

theirs = real("tfx_bsl.coders.csv_decoder")
their_tfxio = real("tfx_bsl.tfxio.csv_tfxio")

Type = csv_decoder.ColumnType
NUMBERS = ["0", "-7", "+3", "007", " 5", "1_0", "9223372036854775808", "-9223372036854775809"]
FLOATS = ["1.5", ".5", "5.", "1e400", "1e39", "1e-400", "nan", "-inf", "Infinity", "1_0.5", "\t2"]
OTHERS = ["", '""', "x", "é", '"a,b"', '"say ""no"""', 'mid"quote', "0x1", "1e", "\x0b1", "\x1c2"]
cells = st.one_of(
    st.sampled_from([*NUMBERS, *FLOATS, *OTHERS]),
    st.integers(-(2**65), 2**65).map(str),
    st.floats().map(str),
    st.text("ab |1\ufeff\x00\u2028", max_size=4),
)
few_lines = st.lists(st.lists(cells, min_size=3, max_size=3).map(",".join), max_size=6)
lines_with_blanks = st.lists(st.one_of(st.just(""), few_lines.map("".join)), max_size=3)


def schema(text: str) -> schema_pb2.Schema:
    return text_format.Parse(text, schema_pb2.Schema())


SCHEMA = schema(
    'feature { name: "f" type: FLOAT } feature { name: "i" type: INT }'
    'feature { name: "s" type: BYTES }'
)
NAMES = ["i", "f", "s"]


def outcome(call: Any, *arguments: Any, **options: Any) -> Any:
    """What a call gives, or the class of what it raises. Which value of several is refused is the
    one's choice: a wrong one or one that is too large."""
    try:
        return call(*arguments, **options)
    except (ValueError, OverflowError):
        return ValueError
    except Exception as error:
        return type(error)


def first(items: Any) -> Any:
    return next(iter(items))


def their_batch(lines: list[str], infos: Any, **options: Any) -> pa.RecordBatch:
    """By the DoFns, without a pipeline: the cells, and of them a batch."""
    parse = theirs.ParseCSVLine(options.pop("delimiter", ","))
    parse.setup()
    rows = [row for line in lines for row in parse.process(line)]
    infos = [theirs.ColumnInfo(info.name, theirs.ColumnType(info.type)) for info in infos]
    [batch] = theirs.BatchedCSVRowsToRecordBatch(**options).process(rows, infos)
    return batch


def our_batch(lines: list[str], infos: Any, **options: Any) -> pa.RecordBatch:
    dialect = csv_decoder._Dialect(
        options.get("delimiter", ","),
        options["skip_blank_lines"],
        options.get("multivalent_columns"),
        options.get("secondary_delimiter"),
    )
    decode = csv_decoder._LinesToRecordBatch(dialect, options.get("raw_record_column_name"))
    [batch] = pickle.loads(pickle.dumps(decode)).process(lines, infos)
    return batch


def infer(module: Any, lines: list[str], names: list[str], **options: Any) -> Any:
    parse = module.ParseCSVLine(",")
    parse.setup()
    inferrer = module.ColumnTypeInferrer(names, **options)
    found = inferrer.create_accumulator()
    for line in lines:
        for line_cells, _ in parse.process(line):
            found = inferrer.add_input(found, line_cells)
    return inferrer.extract_output(inferrer.merge_accumulators([found]))


def infer_whole(lines: list[str], names: list[str], **options: Any) -> Any:
    dialect = csv_decoder._Dialect(
        ",",
        options["skip_blank_lines"],
        options.get("multivalent_columns"),
        options.get("secondary_delimiter"),
    )
    inferrer = csv_decoder._InferOfLines(names, dialect)
    parts = [lines[:9], lines[9:]]
    found = [inferrer.add_input(inferrer.create_accumulator(), part) for part in parts if part]
    return inferrer.extract_output(inferrer.merge_accumulators(found))


def assert_same(ours: Any, other: Any) -> None:
    if isinstance(other, pa.RecordBatch) and isinstance(ours, pa.RecordBatch):
        ours.validate(full=True)
        assert ours.schema == other.schema
        assert repr(ours.to_pylist()) == repr(other.to_pylist())  # nan is nan
    else:
        assert ours == other


def run(transform: Any, lines: list[Any], **at: Any) -> list[pa.RecordBatch]:
    """The batches of a pipeline over these lines."""
    found: list[pa.RecordBatch] = []

    with pytest.MonkeyPatch.context() as patch, beam.Pipeline("FnApiRunner") as pipeline:
        for name, module in _theirs.items():  # what is pickled of them is found by name
            patch.setitem(sys.modules, name, module)
        start = pipeline | beam.Create(lines, reshuffle=False) if lines is not None else pipeline
        assert_that(start | "Decode" >> transform, _Keep(at["path"]))
    for file in sorted(at["path"].glob("*.arrow")):
        found += pa.ipc.open_stream(file.read_bytes())
        file.unlink()
    return found


class _Keep:
    """Writes the batches that it is called with to files of a folder: it may be a copy."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path

    def __call__(self, batches: list[pa.RecordBatch]) -> None:
        for i, batch in enumerate(batches):
            with pa.ipc.new_stream(str(self._path / f"{i:05}.arrow"), batch.schema) as writer:
                writer.write_batch(batch)


# ---- the decoder ----


def test_names_and_values() -> None:
    for name in ("PARSE_CSV_LINE_YIELDS_RAW_RECORDS", "CSVCell", "CSVLine", "ColumnName"):
        assert getattr(csv_decoder, name) == getattr(theirs, name)
    assert [(t.name, t.value) for t in Type] == [(t.name, t.value) for t in theirs.ColumnType]
    assert csv_decoder.ColumnInfo("a", Type.INT) == theirs.ColumnInfo("a", theirs.ColumnType.INT)
    assert csv_decoder.ColumnInfo._fields == theirs.ColumnInfo._fields


def test_parse_csv_line() -> None:
    for line in ["", " ", "a,b", '"x,""y",', 'a"b', '"a"b', "é,\x00", '"a\nb"', "a\n", "a\nb"]:
        for delimiter in [",", " ", "é"]:
            parsed = []
            for module in (theirs, csv_decoder):
                parse = module.ParseCSVLine(delimiter)
                parse.setup()
                parsed.append(outcome(first, parse.process(line)))
            assert parsed[0] == parsed[1]


def test_a_quote_that_is_not_closed_ends_with_the_line() -> None:
    """tfx_bsl reads the same line once more, up to the quote."""
    parse = csv_decoder.ParseCSVLine(",")
    assert list(parse.process('a,"b')) == [([b"a", b"b"], 'a,"b')]
    strings = [csv_decoder.ColumnInfo(name, Type.STRING) for name in "xy"]
    lines = ['1,"ab', '2,cd"', "3,e"]
    batch = our_batch(lines, strings, skip_blank_lines=True, raw_record_column_name="r")
    assert batch["y"].to_pylist() == [[b"ab"], [b'cd"'], [b"e"]]
    assert batch["r"].to_pylist() == [[line.encode()] for line in lines]


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("raw", [None, "raw"])
@settings(max_examples=120, deadline=None)
@given(lines=few_lines, types=st.lists(st.sampled_from(list(Type)), min_size=3, max_size=3))
def test_lines_become_the_same_batches(
    skip: bool, raw: str | None, lines: list[str], types: list[Any]
) -> None:
    infos = [csv_decoder.ColumnInfo(name, type) for name, type in zip("aba", types, strict=True)]
    options = {"skip_blank_lines": skip, "raw_record_column_name": raw}
    if any(line.count('"') % 2 for line in lines):
        return
    other = outcome(their_batch, lines, infos, **options)
    assert_same(outcome(our_batch, lines, infos, **options), other)


@pytest.mark.parametrize("skip", [True, False])
@settings(max_examples=150, deadline=None)
@given(lines=few_lines)
def test_types_are_inferred_the_same(skip: bool, lines: list[str]) -> None:
    if any(line.count('"') % 2 for line in lines):
        return
    other = outcome(infer, theirs, lines, ["a", "b", "c"], skip_blank_lines=skip)
    assert outcome(infer, csv_decoder, lines, ["a", "b", "c"], skip_blank_lines=skip) == other
    assert outcome(infer_whole, lines * 3, ["a", "b", "c"], skip_blank_lines=skip) == other
    if isinstance(other, list):
        batch = outcome(their_batch, lines, other, skip_blank_lines=skip)
        assert_same(outcome(our_batch, lines, other, skip_blank_lines=skip), batch)


parts = st.lists(st.sampled_from(["", "1", "2.5", "x", '""y""', "9223372036854775808"]), max_size=3)


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.tuples(parts.map("|".join), st.booleans()), min_size=1, max_size=5),
    type=st.sampled_from([Type.UNKNOWN, Type.INT, Type.FLOAT, Type.STRING]),
)
def test_cells_of_several_values(rows: list[tuple[str, bool]], type: Any) -> None:
    lines = [f'"{text}",{int(flag)}' for text, flag in rows]
    options: dict[str, Any] = {
        "skip_blank_lines": True,
        "multivalent_columns": ["m"],
        "secondary_delimiter": "|",
    }
    infos = [csv_decoder.ColumnInfo("m", type), csv_decoder.ColumnInfo("n", Type.INT)]
    other = outcome(their_batch, lines, infos, **options)
    assert_same(outcome(our_batch, lines, infos, **options), other)
    known = outcome(infer, theirs, lines, ["m", "n"], **options)
    assert outcome(infer, csv_decoder, lines, ["m", "n"], **options) == known
    assert outcome(infer_whole, lines, ["m", "n"], **options) == known


def test_rows_of_cells_become_the_same_batches() -> None:
    """The DoFn that takes cells, with every type, rows that are blank and values that are none."""
    options: dict[str, Any] = {
        "skip_blank_lines": False,
        "multivalent_columns": ["m"],
        "secondary_delimiter": "|",
    }
    kinds = {"i": Type.INT, "g": Type.IGNORE, "m": Type.FLOAT, "s": Type.STRING, "u": Type.UNKNOWN}
    infos = [csv_decoder.ColumnInfo(name, kind) for name, kind in kinds.items()]
    rows: Any = [([b"1", b"x", b"1|2.5", b"y", b""], "1,x,1|2.5,y,"), ([], "")]
    for batch in [rows, rows[:1], [([b"1"], "1")], [([b"z", b"", b"", b"", b""], "z,,,,")]]:
        results = []
        for module in (theirs, csv_decoder):
            decode = module.BatchedCSVRowsToRecordBatch(**options)
            results.append(outcome(first, decode.process(batch, infos)))
        assert_same(*results[::-1])


def test_a_second_batch_has_raw_records_too() -> None:
    """tfx_bsl adds the name of their column once more, and fails; and with blank rows, which have
    no raw record there."""
    decode = csv_decoder.BatchedCSVRowsToRecordBatch(False, raw_record_column_name="r")
    infos = [csv_decoder.ColumnInfo("a", Type.INT)]
    for _ in range(2):
        [batch] = decode.process([([b"1"], "1"), ([], "")], infos)
        assert batch.to_pydict() == {"a": [[1], None], "r": [[b"1"], [b""]]}
    options = {"skip_blank_lines": False, "raw_record_column_name": "r"}
    assert our_batch(["1", ""], infos, **options) == batch
    faulty = theirs.BatchedCSVRowsToRecordBatch(True, raw_record_column_name="r")
    list(faulty.process([([b"1"], "1")], infos))
    with pytest.raises(ValueError, match="names"):
        list(faulty.process([([b"1"], "1")], infos))


def test_usual_lines_go_to_our_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("cell by cell")

    lines = [f'{i},{i / 4},"x ""{i}"""' for i in range(2000)]
    infos = infer_whole(lines, NAMES, skip_blank_lines=True)
    assert [info.type for info in infos] == [Type.INT, Type.FLOAT, Type.STRING]
    monkeypatch.setattr(csv_decoder, "cells_of", refuse)
    batch = our_batch(lines, infos, skip_blank_lines=True, raw_record_column_name="raw")
    assert batch["raw"].flatten().to_pylist() == [line.encode() for line in lines]
    assert batch["f"].flatten().to_pylist() == [i / 4 for i in range(2000)]


def test_get_arrow_schema() -> None:
    ours, other = csv_decoder.GetArrowSchema, theirs.GetArrowSchema
    assert ours(NAMES, SCHEMA, "raw") == other(NAMES, SCHEMA, "raw")
    assert ours([*NAMES, "more"], SCHEMA) == other([*NAMES, "more"], SCHEMA)
    struct = schema('feature { name: "i" type: STRUCT }')
    for arguments in [(["i"], SCHEMA), (NAMES, SCHEMA, "i"), (["i"], struct)]:
        texts = []
        for function in (ours, other):
            with pytest.raises(ValueError) as error:
                function(*arguments)
            texts.append(str(error.value))
        assert texts[0] == texts[1]


@pytest.mark.parametrize("with_schema", [True, False])
def test_csv_to_record_batch(with_schema: bool, tmp_path: pathlib.Path) -> None:
    lines = ["1,2,x", "", "3,4.5,"] * 5
    options: dict[str, Any] = {"column_names": NAMES, "desired_batch_size": 100}
    options |= {"schema": SCHEMA if with_schema else None, "raw_record_column_name": "raw"}
    [other] = run(theirs.CSVToRecordBatch(**options), lines, path=tmp_path)
    [ours] = run(csv_decoder.CSVToRecordBatch(**options), lines, path=tmp_path)
    assert_same(ours, other)
    options["desired_batch_size"] = 4
    several = run(csv_decoder.CSVToRecordBatch(**options), lines, path=tmp_path)
    assert len(several) > 1
    assert pa.Table.from_batches(several)["raw"].to_pylist() == other["raw"].to_pylist()


def test_what_cannot_be_decoded_is_said() -> None:
    refused = [
        {"raw_record_column_name": "i"},
        {"schema": schema('feature { name: "z" type: STRUCT }')},
    ]
    for options in refused:
        for module in (theirs, csv_decoder):
            decode = module.CSVToRecordBatch(NAMES, 10, **options)
            with pytest.raises(ValueError, match=r"already an existing|invalid type: STRUCT"):
                beam.Pipeline("FnApiRunner") | beam.Create(["1,2,3"]) | decode
    for module in (theirs, csv_decoder):
        for several in (module.ColumnTypeInferrer, module.BatchedCSVRowsToRecordBatch):
            more = {"column_names": NAMES} if several is module.ColumnTypeInferrer else {}
            with pytest.raises(AssertionError, match="secondary_delimiter"):
                several(skip_blank_lines=True, multivalent_columns=["i"], **more)
        with pytest.raises(ValueError, match="Columns do not match specified csv headers"):
            infer(module, ["1,2"], NAMES, skip_blank_lines=True)


# ---- TFXIO ----


@pytest.fixture
def files(tmp_path: pathlib.Path) -> str:
    for i in range(2):
        lines = "".join(f'{10 * i + k},{k / 4},"x{k}"\n' for k in range(4))
        (tmp_path / f"{i}.csv").write_text("HEADER\n" + lines + ",,\n\n")
    (tmp_path / "out").mkdir()
    return str(tmp_path / "*.csv")


@pytest.mark.parametrize("with_schema", [True, False])
def test_csv_tfxio_reads_the_same(files: str, with_schema: bool) -> None:
    given = {"schema": SCHEMA} if with_schema else {}
    out = pathlib.Path(files).parent / "out"
    found = []
    for module in (csv_tfxio, their_tfxio):
        tfxio = module.CsvTFXIO(
            files,
            NAMES,
            ["a", "test"],
            raw_record_column_name="raw",
            skip_header_lines=1,
            **given,
        )
        batches = run(tfxio.BeamSource(100), None, path=out)  # type: ignore[arg-type]
        found.append(batches)
    ours, other = (
        sorted((row for batch in batches for row in batch.to_pylist()), key=repr)
        for batches in found
    )
    assert ours == other
    assert len(ours) == 10
    assert found[0][0].schema == found[1][0].schema


def test_beam_record_csv_tfxio(tmp_path: pathlib.Path) -> None:
    lines = [b"1,2,x", b"3,4.5,"]
    batches = []
    for module in (csv_tfxio, their_tfxio):
        tfxio = module.BeamRecordCsvTFXIO(
            physical_format="inmem",
            column_names=NAMES,
            schema=SCHEMA,
            raw_record_column_name="raw",
            telemetry_descriptors=["t"],
        )
        assert tfxio.SupportAttachingRawRecords()
        assert tfxio.raw_record_column_name == "raw"
        [batch] = run(tfxio.BeamSource(2), lines, path=tmp_path)
        assert batch.schema == tfxio.ArrowSchema()
        batches.append(batch)
        for method in (tfxio.RecordBatches, tfxio.TensorFlowDataset):
            with pytest.raises(NotImplementedError):
                method(None)
    assert_same(*batches)


def test_schemas_and_representations() -> None:
    grouped = schema_pb2.Schema()
    grouped.CopyFrom(SCHEMA)
    text = 'dense_tensor { column_name: "s" shape { dim { size: 1 } } }'
    group = grouped.tensor_representation_group[""].tensor_representation
    group["mine"].CopyFrom(text_format.Parse(text, schema_pb2.TensorRepresentation()))
    for one in (SCHEMA, grouped):
        ours, other = (m.CsvTFXIO("none", NAMES, schema=one) for m in (csv_tfxio, their_tfxio))
        assert ours.ArrowSchema() == other.ArrowSchema()
        assert ours.TensorRepresentations() == other.TensorRepresentations()
        assert ours.TensorAdapter().TypeSpecs() == other.TensorAdapter().TypeSpecs()
        name = "mine" if one is grouped else "i"
        projected, theirs_projected = ours.Project([name]), other.Project([name])
        assert projected.ArrowSchema() == theirs_projected.ArrowSchema() == ours.ArrowSchema()
        assert projected.TensorRepresentations() == theirs_projected.TensorRepresentations()
        specs = projected.TensorAdapter().OriginalTypeSpecs()
        assert specs == theirs_projected.TensorAdapter().OriginalTypeSpecs()
    for module in (csv_tfxio, their_tfxio):
        with pytest.raises(ValueError, match="not a subset of column names"):
            module.CsvTFXIO("none", ["i"], schema=SCHEMA)
        with pytest.raises(ValueError, match="TFMD schema not provided"):
            module.CsvTFXIO("none", NAMES).ArrowSchema()
    with pytest.raises(ValueError, match="TFMD schema not provided"):
        csv_tfxio.CsvTFXIO("none", NAMES).TensorRepresentations()
    # What is inferred can be projected beside a group, and a name that there is not is said:
    both = csv_tfxio.CsvTFXIO("none", NAMES, schema=grouped).Project(["mine", "i"])
    assert both.TensorRepresentations().keys() == {"mine", "i"}
    assert both.Project([]).TensorRepresentations() == {}
    with pytest.raises(ValueError, match="no tensors"):
        both.Project(["f"])


def test_without_beam(files: str) -> None:
    """What tfx_bsl has not."""
    tfxio = csv_tfxio.CsvTFXIO(
        files, NAMES, schema=SCHEMA, raw_record_column_name="raw", skip_header_lines=1
    )
    options = dataset_options.RecordBatchesOptions(4, num_epochs=1, shuffle=False)
    batches = list(tfxio.RecordBatches(options))
    assert [batch.num_rows for batch in batches] == [4, 4, 2]
    assert all(batch.schema == tfxio.ArrowSchema() for batch in batches)
    assert batches[0].to_pylist()[1] == {
        "i": [1],
        "f": [0.25],
        "s": [b"x1"],
        "raw": [b'1,0.25,"x1"'],
    }
    endless = tfxio.RecordBatches(options._replace(num_epochs=None, shuffle=True))
    assert [batch.num_rows for batch in itertools.islice(endless, 5)] == [4] * 5
    of_tensors = dataset_options.TensorFlowDatasetOptions(
        5, num_epochs=1, shuffle=False, label_key="i"
    )
    narrow = csv_tfxio.CsvTFXIO(files, NAMES, schema=SCHEMA, skip_header_lines=1)
    features, label = next(iter(narrow.TensorFlowDataset(of_tensors)))
    assert features.keys() == {"f", "s"}
    assert tf.sparse.to_dense(label)[:, 0].numpy().tolist() == [0, 1, 2, 3, 0]
    assert pickle.loads(pickle.dumps(narrow)).ArrowSchema() == narrow.ArrowSchema()
