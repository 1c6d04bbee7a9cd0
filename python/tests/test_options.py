"""Options of open for text: the CSV dialect, Arrow types, and their pickling."""

from __future__ import annotations

import inspect
import io
import pathlib
import pickle
import re

import columnstone as cst
import columnstone._core
import polars as pl
import pyarrow as pa
import pytest

TYPES = pa.schema({"a": pa.int64(), "b": pa.float64()})


@pytest.fixture
def csv(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,\n")
    return path


def test_types_instead_of_inference(csv: pathlib.Path) -> None:
    inferred = cst.open(csv)
    assert pa.schema(inferred.arrow_schema).types == [pa.int64(), pa.int64()]
    given = cst.open(csv, types=TYPES)
    assert pa.schema(given.arrow_schema).types == TYPES.types
    assert pa.table(given).to_pydict() == {"a": [1, 3], "b": [2.0, None]}
    again = cst.open(csv, types=given.arrow_schema)
    assert again.arrow_schema == given.arrow_schema
    frame = pl.DataFrame({"a": [1], "b": [1.0]})
    assert pa.table(cst.open(csv, types=cst.open(frame))).to_pydict()["b"] == [2.0, None]


def test_types_are_no_schema(csv: pathlib.Path) -> None:
    with pytest.raises(TypeError, match="types="):
        cst.open(csv, schema=TYPES)
    for wrong in (1, "int64", {"a": "int64"}):
        with pytest.raises(TypeError, match="__arrow_c_schema__"):
            cst.open(csv, types=wrong)  # type: ignore[arg-type]
    with pytest.raises(cst.Error):
        cst.open(csv, types=TYPES, schema='feature { name: "a" type: INT }')


def test_dialects() -> None:
    data = b"# text\nskipped\n1;x|y\n\n2;z\n"
    dialect = cst.format.CsvOptions(
        names=["n", "many"], delimiter=";", skip_lines=2, multivalent=["many"], comment="#"
    )
    source = cst.open(io.BytesIO(data), "csv", csv=dialect)
    assert pa.table(source).to_pydict() == {"n": [1, 2], "many": [["x", "y"], ["z"]]}
    out = io.BytesIO()
    cst.write(
        source,
        out,
        "csv",
        csv=cst.format.CsvOptions(delimiter="\t", header=False, multivalent=["many"]),
    )
    assert out.getvalue() == b"1\tx|y\n2\tz\n"


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": ""},
        {"delimiter": ",,"},
        {"delimiter": "é"},
        {"delimiter": "\n"},
        {"comment": ""},
        {"skip_lines": -1},
        {"secondary_delimiter": '"'},
    ],
)
def test_wrong_dialects(options: dict[str, object]) -> None:
    with pytest.raises(cst.errors.ArgumentError):
        cst.format.CsvOptions(**options)  # type: ignore[arg-type]


def test_wrong_types_of_dialects(csv: pathlib.Path) -> None:
    for options in ({"names": "ab"}, {"names": [1]}, {"delimiter": 1}, {"multivalent": "a"}):
        with pytest.raises(TypeError):
            cst.format.CsvOptions(**options)
    with pytest.raises(TypeError, match="CsvOptions"):
        cst.open(csv, csv={"delimiter": ","})  # type: ignore[arg-type]


def test_pickling(csv: pathlib.Path) -> None:
    dialect = cst.format.CsvOptions(names=("x", "y"), skip_lines=1)
    assert pickle.loads(pickle.dumps(dialect)) == dialect
    types = pa.schema({"x": pa.int64(), "y": pa.float64()})
    source = cst.open(csv, csv=dialect, types=types)
    copy = pickle.loads(pickle.dumps(source))
    assert pa.table(copy).to_pydict() == {"x": [1, 3], "y": [2.0, None]}


@pytest.mark.parametrize(
    "schema",
    [
        pa.schema([]),
        pa.schema({"a": pa.list_(pa.struct({"b": pa.int8(), "c": pa.large_list(pa.binary())}))}),
        pa.schema([pa.field("a", pa.int64(), nullable=False, metadata={"k": "v", "": ""})]),
        pa.schema({"d": pa.dictionary(pa.int8(), pa.string(), ordered=True)}, metadata={"x": "y"}),
        pa.schema({"m": pa.map_(pa.string(), pa.int64()), "t": pa.timestamp("us", "Europe/Rome")}),
        pa.schema({"": pa.null(), "é": pa.decimal128(10, 2), "f": pa.list_(pa.float16(), 3)}),
    ],
)
def test_arrow_schemas_pickle(schema: pa.Schema) -> None:
    ours = cst.open(pa.table({"a": [1]})).arrow_schema
    assert pickle.loads(pickle.dumps(ours)) == ours
    taken = cst._core.arrow_schema(schema)
    copy = pickle.loads(pickle.dumps(taken))
    assert copy == taken
    assert pa.schema(copy).equals(schema, check_metadata=True)


def test_bad_pickles_of_arrow_schemas() -> None:
    leaf = (b"l", b"a", 2, None, (), None)
    for wrong in ((), (1,), (*leaf[:4], [leaf], None), (*leaf[:4], (1,), None), (*leaf[:5], 1)):
        with pytest.raises((TypeError, ValueError, SystemError)):
            cst._core.ArrowSchema._of_tree(wrong)
    deep = leaf
    for _ in range(100_000):
        deep = (b"+s", b"a", 2, None, (deep,), None)
    with pytest.raises(RecursionError):
        cst._core.ArrowSchema._of_tree(deep)


def test_open_has_the_options_of_sources_and_says_what_they_are() -> None:
    places = {
        "paths",
        "filesystem",
        "query",
        "driver",
        "database_options",
        "schemes",
        "hosts",
        "cache",
    }
    parameters = set(inspect.signature(cst.open).parameters)
    message = {"descriptors", "message_options"}  # parts of the option `message`
    view = {"params"}  # of the option `view`
    assert set(cst._core.SOURCE_OPTIONS) == parameters - places - message - view
    told = " ".join(inspect.getdoc(cst.open).split())
    for name in parameters:
        assert re.search(rf"\b{name}\b[^.]*:", told) or name in ("driver", "database_options"), name
    with pytest.raises(KeyError):
        cst._core.Source((), None, None, {})
