"""JSON text as structured tensors, inferred and typed."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from columnstone.struct import from_json

ROWS = cst.struct.StructuredTensorSpec(
    [None], {"a": cst.struct.LeafSpec([None], "int8", nullable=False)}
)
TWO = cst.struct.StructuredTensorSpec([2], {"a": cst.struct.LeafSpec([2], "int8")})
SCALAR = cst.struct.StructuredTensorSpec([], {"a": cst.struct.LeafSpec([], "float32")})


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ('{"a": 1}', ()),
        ('  {\n"a": [\n1,\n2]}\n', ()),
        ('{"a": 1}\n{"a": 2}\n', (2,)),
        ('\n{"a": 1}\n\n{"a": 2}', (2,)),
        ('[{"a": 1}, {"a": 2}]', (2,)),
        ('[\n {"a": 1},\n null]', (2,)),
        ('[null, {"a": 1}]', (2,)),
        ('[[{"a": 1}], []]', (2, None)),
        ("[[1], [2, 3]]", (2, None)),
        ("[[1, 2], [3, 4]]", (2, 2)),
        ("[]", (0,)),
        ("3", ()),
        ('"té\\n"', ()),
        ("null", ()),
        ('{"a": {"b": [{"c": "x"}]}, "": 1}', ()),
    ],
)
def test_text(text: str, shape: tuple[int | None, ...]) -> None:
    made = from_json(text)
    lines = text.strip().split("\n")
    is_lines = shape == (2,) and lines[0].startswith("{")
    expected = [json.loads(line) for line in lines if line] if is_lines else json.loads(text)
    assert (made.shape, made.to_py()) == (shape, expected)
    assert from_json(text.encode()).to_py() == expected
    assert from_json(b"\xef\xbb\xbf" + text.encode()).to_py() == expected


def test_keys_that_an_object_lacks_are_null() -> None:
    made = from_json('[{"a": 1}, {"b": [0.5]}]')
    assert made.to_py() == [{"a": 1, "b": None}, {"a": None, "b": [0.5]}]
    assert from_json('{"a": [1, 2.5]}')["a"].to_py() == [1.0, 2.5]


def test_files_are_vectors(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text('{"a": 1}\n')
    assert from_json(path).to_py() == [{"a": 1}]
    assert from_json(path, ROWS).spec == ROWS
    with path.open("rb") as file:
        assert from_json(file).to_py() == [{"a": 1}]
    with pytest.raises(cst.errors.NotFoundError):
        from_json(tmp_path / "none.jsonl")
    with pytest.raises(cst.errors.ArgumentError, match="expected rank 0"):
        from_json(path, SCALAR)


@pytest.mark.parametrize(
    ("text", "error", "line", "column", "path", "record", "words"),
    [
        ('{"a": 1,\n"b": x}', cst.errors.CorruptError, 2, 6, None, None, "unexpected character"),
        (
            '{"a": 1',
            cst.errors.CorruptError,
            1,
            8,
            None,
            None,
            "expected a comma or a closing brace",
        ),
        (
            '{\n"a": 1',
            cst.errors.CorruptError,
            2,
            7,
            None,
            None,
            "expected a comma or a closing brace",
        ),
        ('{"a": 1} {"a": 2}', cst.errors.CorruptError, 1, 10, None, None, "comma is missing"),
        ("", cst.errors.CorruptError, 1, 1, None, None, "expected a valid JSON value"),
        ("[1, 2", cst.errors.CorruptError, 1, 6, None, None, "expected"),
        ("[1] 2", cst.errors.CorruptError, 1, 5, None, None, "expected"),
        ('[1], "": [2]', cst.errors.CorruptError, None, None, None, None, "more than one value"),
        ('[1]}, {"": [2]', cst.errors.CorruptError, None, None, None, None, "more than one value"),
        (
            '{"a": 1}, {"a": 2}',
            cst.errors.CorruptError,
            None,
            None,
            None,
            None,
            "more than one value",
        ),
        (
            '{"a": [1,\n"x"]}',
            cst.errors.SchemaError,
            2,
            1,
            "a[1]",
            None,
            "a string here, but a number",
        ),
        (
            '{"a": 1}\n{"a": "x"}',
            cst.errors.SchemaError,
            2,
            7,
            "a",
            1,
            "a string here, but a number",
        ),
        (
            '[{"a": 1},\n {"a": []}]',
            cst.errors.SchemaError,
            2,
            8,
            "a",
            1,
            "a list here, but a number",
        ),
        (
            "[[1],\n2]",
            cst.errors.SchemaError,
            2,
            1,
            "[1]",
            1,
            "a number here, but a list before it",
        ),
        ('[{"a": 1}, 3]', cst.errors.SchemaError, 1, 12, "[1]", 1, "a number here, but an object"),
    ],
)
def test_errors_have_their_place(
    text: str, error: type[cst.Error], line: int, column: int, path: str, record: int, words: str
) -> None:
    with pytest.raises(error) as caught:
        from_json(text)
    found = caught.value
    assert (found.line, found.column, found.path, found.record) == (line, column, path, record)
    assert words in str(found)
    assert line is None or f"line {line}, column {column}" in str(found)
    assert "schema or types" not in str(found)


def test_files_have_the_same_errors(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'{"a": 1}\n{"a": ')
    for source in (path, io.BytesIO(path.read_bytes())):
        with pytest.raises(cst.errors.CorruptError, match="line 2") as caught:
            from_json(source)
        assert (caught.value.record, caught.value.line) == (1, 2)
    with pytest.raises(cst.errors.SchemaError, match="expected 2"):
        from_json(io.BytesIO(b'{"a": 1}'), TWO)
    source = cst.open(path)
    for read in (cst.record_batch, cst.StructuredTensor.from_arrow):
        with pytest.raises(cst.errors.CorruptError, match="line 2"):
            read(source)


def test_what_is_no_text() -> None:
    with pytest.raises(TypeError, match="not dict"):
        from_json({})
    with pytest.raises(TypeError, match="spec must be"):
        from_json("{}", pa.int64())  # type: ignore[arg-type]
    with pytest.raises(cst.errors.ArgumentError, match="surrogates"):
        from_json('"\udc80"')
    with pytest.raises((cst.errors.LimitError, cst.errors.CorruptError)):
        from_json("[" * 100_000)


# ---- by a spec ----


def test_a_spec_types_text() -> None:
    for text in ('[{"a": 1}]', '{"a": 1}', '{"a": 1}\n', '[{"a": 1, "b": "passed over"}]'):
        made = from_json(text, ROWS)
        assert (made.to_py(), made.spec) == ([{"a": 1}], ROWS)
    assert from_json('[null, {"a": 1}]', ROWS).to_py() == [None, {"a": 1}]
    assert from_json("[]", ROWS).spec == ROWS
    one = from_json('{"a": 0.1}', SCALAR)
    assert (one.spec, one.rank) == (SCALAR, 0)
    matrix = cst.struct.LeafSpec([None, 2], "uint16")
    assert from_json("[[1, 2], [3, null]]", matrix).shape == (2, 2)


@pytest.mark.parametrize(
    ("text", "spec", "path", "words"),
    [
        ('[{"a": 300}]', ROWS, "a", "an integer out of range, expected int8"),
        ('{"a": 1}\n{"a": 1.5}', ROWS, "a", "with a point or an exponent, expected int8"),
        ('[{"b": 1}]', ROWS, "a", "the field is missing and not nullable"),
        ('[null, {"a": "x"}]', ROWS, "[1].a", "a string, expected int8"),
        ('{\n"a": 1}', ROWS, None, "found one object, expected lists of rank 1"),
        ('{"a": 1}', cst.struct.LeafSpec([], "int64"), None, "found an object, expected int64"),
        ('[{"a": 1}]', SCALAR, None, "expected"),
        ('{"a": "x"}', SCALAR, "a", "a string, expected float32"),
        ('{"a": 1e300}', SCALAR, "a", "a number out of range, expected float32"),
        ("[[1]]", cst.struct.LeafSpec([None, 2], "int8"), "[0]", "a list of 1 values, expected 2"),
        ('[{"a": 1}]', TWO, None, "a list of 1 values, expected 2"),
        ('{"a": 1}\n{"a": 1}\n{"a": 1}', TWO, None, "a list of 3 values, expected 2"),
    ],
)
def test_what_a_spec_refuses(text: str, spec: Any, path: str | None, words: str) -> None:
    with pytest.raises(cst.errors.SchemaError) as caught:
        from_json(text, spec)
    assert caught.value.path == path
    assert words in str(caught.value)


def test_numbers_are_no_dates() -> None:
    for text, spec in (
        (
            '[{"t": 1}]',
            cst.struct.StructuredTensorSpec([None], {"t": cst.struct.LeafSpec([None], "date32")}),
        ),
        ("[1]", cst.struct.LeafSpec([None], "date32")),
    ):
        with pytest.raises(cst.errors.SchemaError, match="a number, expected a date"):
            from_json(text, spec)


def test_one_line_of_a_megabyte() -> None:
    values = list(range(200_000))
    assert from_json(io.BytesIO(json.dumps({"a": values}).encode()))["a"].to_py() == [values]
    assert from_json(json.dumps({"a": values}))["a"].to_py() == values


def test_the_name_of_a_file_is_no_json(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}")
    with pytest.raises(cst.errors.ArgumentError, match=r"pathlib\.Path"):
        cst.struct.from_json(str(path))
