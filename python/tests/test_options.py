"""Options of open for text: the CSV dialect, Arrow types, and their pickling."""

from __future__ import annotations

import inspect
import io
import os
import pathlib
import pickle
import re
import sys
from typing import Any

import columnstone as cst
import columnstone._core
import polars as pl
import pyarrow as pa
import pytest
from columnstone._formats.options import FormatOptions
from columnstone._message.options import OPTIONS, MessageOptions

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
    source = cst.open(
        io.BytesIO(data),
        "csv",
        names=["n", "many"],
        delimiter=";",
        skip_lines=2,
        multivalent=["many"],
        comment="#",
    )
    assert pa.table(source).to_pydict() == {"n": [1, 2], "many": [["x", "y"], ["z"]]}
    out = io.BytesIO()
    cst.write(source, out, "csv", delimiter="\t", header=False, multivalent=["many"])
    assert out.getvalue() == b"1\tx|y\n2\tz\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"delimiter": ""}, "one ASCII character"),
        ({"delimiter": ",,"}, "one ASCII character"),
        ({"delimiter": "é"}, "one ASCII character"),
        ({"delimiter": "\n"}, "one ASCII character"),
        ({"comment": ""}, "one ASCII character"),
        ({"skip_lines": -1}, "a number of at least 0"),
        ({"secondary_delimiter": '"'}, "one ASCII character"),
        ({"sequence_column": "s"}, "it belongs to the format sequence_example"),
    ],
)
def test_wrong_options(csv: pathlib.Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(cst.errors.ArgumentError, match=said):
        cst.open(csv, **options)
    if "skip_lines" not in options:
        with pytest.raises(cst.errors.ArgumentError, match=said):
            cst.Writer(io.BytesIO(), "csv", **options)


def test_wrong_types_of_options(csv: pathlib.Path) -> None:
    wrong: list[dict[str, Any]]
    wrong = [{"names": "ab"}, {"names": [1]}, {"delimiter": 1}, {"multivalent": "a"}]
    for options in (*wrong, {"skip_lines": "1"}, {"sequence_column": b"s"}):
        with pytest.raises(TypeError):
            cst.open(csv, **options)
    with pytest.raises(ValueError, match="null character"):
        cst.open(csv, names=["a\0b"])
    with pytest.raises(TypeError, match=r"no option 'delimitr' \(did you mean 'delimiter'\?\)"):
        cst.open(csv, delimitr=",")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no option 'csv'"):
        cst.Writer(io.BytesIO(), "csv", csv={"delimiter": ","})  # type: ignore[call-arg]


def test_decoders_and_encoders_refuse_options_when_they_are_made() -> None:
    with pytest.raises(TypeError, match=r"encoder\(\) has no option 'delimeter' \(did you mean"):
        cst.encoder("csv", delimeter=";")
    with pytest.raises(TypeError, match=r"decoder\(\) has no option 'delimeter' \(did you mean"):
        cst.decoder("csv", delimeter=";")
    for make in (cst.decoder, cst.encoder):
        with pytest.raises(cst.errors.ArgumentError, match="json has no option 'delimiter'"):
            make("json", delimiter=";")
    assert cst.encoder("csv", delimiter=";", lossy=True).encode([{"a": 1, "b": 2}]) == b"a;b\n1;2\n"


def test_options_of_other_formats() -> None:
    said = r"json has no option 'delimiter' \(it belongs to the format csv: name that format if"
    with pytest.raises(cst.errors.ArgumentError, match=said):
        cst.open(io.BytesIO(b"{}"), "json", delimiter=";")
    with pytest.raises(cst.errors.ArgumentError, match="it belongs to the format csv"):
        cst.write([{"a": 1}], io.BytesIO(), "parquet", delimiter=";")
    with pytest.raises(TypeError, match="header must be True or False, not str"):
        cst.write([{"a": 1}], io.BytesIO(), "csv", header="false")  # type: ignore[call-overload]
    with pytest.raises(cst.errors.ArgumentError, match=said):
        cst.Writer("out.jsonl", delimiter=";")
    for format in ("arrow", "parquet"):
        with pytest.raises(cst.errors.ArgumentError, match=f"{format} has no option 'header'"):
            cst.Writer(f"out.{format}", header=False)
    with pytest.raises(cst.errors.ArgumentError, match="has no option 'names'"):
        cst.open(pa.table({"a": [1]}), names=["b"])


def test_options_of_either_side_of_a_conversion(tmp_path: pathlib.Path) -> None:
    """convert gives an option to the output if it has it, and else to the input, which has to."""
    rows = tmp_path / "t.jsonl"
    cst.convert(io.BytesIO(b"a;b\n1;2\n"), rows, format="csv", delimiter=";")
    assert rows.read_text() == '{"a": 1, "b": 2}\n'
    cst.convert(rows, tmp_path / "t.csv", delimiter=";", header=False)
    assert (tmp_path / "t.csv").read_text() == "1;2\n"
    cst.convert(tmp_path / "t.csv", tmp_path / "u.csv", delimiter=";", names=["x", "y"])
    assert (tmp_path / "u.csv").read_text() == "x;y\n1;2\n"
    cst.convert(cst.open(rows), tmp_path / "v.csv", delimiter="|")
    assert (tmp_path / "v.csv").read_text() == "a|b\n1|2\n"
    with pytest.raises(cst.errors.ArgumentError, match="json has no option 'skip_lines'"):
        cst.convert(rows, tmp_path / "w.csv", skip_lines=1)
    with pytest.raises(cst.errors.ArgumentError, match="json has no option 'delimiter'"):
        cst.convert(rows, tmp_path / "w.arrow", delimiter="#")


def test_options_of_the_other_use(tmp_path: pathlib.Path) -> None:
    with pytest.raises(cst.errors.ArgumentError, match="csv has no option 'header' of reading"):
        cst.open(io.BytesIO(b"1,2"), "csv", header=False)
    for option in ({"names": ["a"]}, {"skip_lines": 1}):
        with pytest.raises(cst.errors.ArgumentError, match=r"has no option .* of writing"):
            cst.Writer(io.BytesIO(), "csv", **option)  # type: ignore[call-overload]
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(cst.errors.ArgumentError, match="csv has no option 'header' of reading"):
        cst.convert(tmp_path / "t.csv", tmp_path / "t.jsonl", header=False)
    cst.convert(tmp_path / "t.csv", tmp_path / "u.csv", header=False)
    assert (tmp_path / "u.csv").read_text() == "1,2\n"


def test_a_null_alone_in_its_row(tmp_path: pathlib.Path) -> None:
    """The hint of the error, followed."""
    rows, there = tmp_path / "t.jsonl", tmp_path / "t.csv"
    rows.write_text('{"s": "x"}\n{"s": null}\n')
    with pytest.raises(cst.errors.UnsupportedError, match="set keep_blank_lines"):
        cst.convert(rows, there)
    cst.convert(rows, there, keep_blank_lines=True)
    back = tmp_path / "u.csv"
    cst.convert(there, back, keep_blank_lines=True)
    assert pa.table(cst.open(back, keep_blank_lines=True)).to_pydict() == {"s": ["x", None]}


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_files_without_bytes_are_of_the_format_of_their_ending(
    tmp_path: pathlib.Path, format: str
) -> None:
    path = tmp_path / f"t.{format}"
    path.write_bytes(b"")
    types = pa.schema([("a", pa.int64())])
    names: Any = {"names": ["a"]} if format == "csv" else {}
    assert pa.table(cst.open(path, types=types, **names)).schema == types
    if format == "csv":
        with pytest.raises(cst.Error, match="no header"):
            cst.open(path, delimiter=";").arrow_schema  # noqa: B018


def test_names_with_commas_and_quotes() -> None:
    names = ["a,b", 'c"', "", ' "d" ', '"e"', "f"]
    data = b"1,2,3,4,5,6\n"
    source = cst.open(io.BytesIO(data), "csv", names=names, multivalent=names[:2])
    assert source.column_names == names
    assert cst.open(io.BytesIO(b"a\n1\n"), "csv", multivalent=[]).column_names == ["a"]


def test_pickling(csv: pathlib.Path) -> None:
    dialect = {"names": ("x", "y"), "skip_lines": 1}
    types = pa.schema({"x": pa.int64(), "y": pa.float64()})
    source = cst.open(csv, **dialect, types=types)
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


def test_none_is_the_default_of_an_option(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x\n" + "1\n" * 2000)
    none: Any = None
    source = cst.open(path, batch_size=none, threads=none, max_inflation=none, nested=none)
    assert source.batch_size == 1024
    assert [len(batch) for batch in source] == [1024, 976]
    with pytest.raises(cst.errors.ArgumentError, match="on_error must be"):
        cst.open(path, on_error=none)


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
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(cst.open).parameters.items()
    }
    for name, (kind, usual, _, _, help, words, *_) in cst._core.SOURCE_OPTIONS.items():
        if kind in ("number", "switch", "word", "text"):
            told = {
                "number": usual if defaults[name] is None else str(defaults[name]),
                "switch": str(defaults[name]).lower(),
                "word": str(defaults[name]),
                "text": defaults[name] or None,
            }
            assert told[kind] == (
                usual or {"switch": "false", "word": "".join(words[:1])}.get(kind)
            ), name
            assert help, name
    told = " ".join(inspect.getdoc(cst.open).split())
    for name in parameters:
        assert re.search(rf"\b{name}\b[^.]*:", told) or name in ("driver", "database_options"), name
    with pytest.raises(KeyError):
        cst._core.Source((), None, None, {})


def test_a_writer_has_the_options_of_sinks_and_says_what_they_are() -> None:
    parameters = set(inspect.signature(cst.Writer).parameters)
    message = {"descriptors", "message_options"}
    assert set(cst._core.SINK_OPTIONS) == parameters - {"file"} - message
    told = " ".join(inspect.getdoc(cst.Writer).split())
    for name in parameters:
        assert re.search(rf"\b{name}\b[^.]*:", told), name


# What Python takes and hands on as a value of each kind.
KINDS = {
    "text": "str | None",
    "word": "str | None",
    "character": "str | None",
    "number": "int",
    "switch": "bool",
    "names": "Iterable[str] | None",
    "real": "float",
}


# those that take more than the text
MORE = {
    "avro_schema": "AvroSchema | None",
    "avro_writer_schema": "AvroSchema | None",
    "avro_schemas": "AvroSchemas | None",
}


def test_every_option_of_messages_has_its_type() -> None:
    types = MessageOptions.__annotations__
    assert list(types) == list(OPTIONS)
    for name, usual in OPTIONS.items():
        assert ("bool" in str(types[name])) == isinstance(usual, bool)


def test_every_option_of_a_format_is_a_keyword_with_its_type_and_is_described() -> None:
    """The table in C, the types that mypy checks, the docstrings and the pages agree."""
    types = FormatOptions.__annotations__
    table = {
        name: told
        for options in cst._core.FORMAT_OPTIONS.values()
        for name, told in options.items()
    }
    assert types.keys() == table.keys() - {"schema"}  # a keyword that all formats share
    assert not types.keys() & (
        inspect.signature(cst.open).parameters.keys()
        | inspect.signature(cst.convert).parameters.keys()
        | inspect.signature(cst.Writer).parameters.keys()
    )
    docs = pathlib.Path(__file__).parents[2] / "docs"
    for name, (kind, usual, reads, writes, help, *_) in table.items():
        assert types[name].__forward_arg__ == MORE.get(name, KINDS[kind]), name
        assert not reads or name in str(cst.open.__doc__), name
        assert not writes or name in str(cst.Writer.__doc__), name
        row = f"| `{name}` | {'bool' if kind == 'switch' else kind} |"
        assert row in (docs / "formats.md").read_text(), row
        assert help and (usual is None or isinstance(usual, str))


def test_values_of_wrong_types() -> None:
    for name in ("skip_lines", "avro_block_size"):
        with pytest.raises(TypeError, match=f"{name} must be an int, not str"):
            cst.open("a.csv", **{name: "10"})  # type: ignore[arg-type]
    with pytest.raises(cst.errors.ArgumentError, match="delimiter contains a NUL character"):
        cst.open("a.csv", delimiter="\0")


def test_options_of_a_plugin(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program tells which it has; they are keywords where the format is named."""
    program = tmp_path / "columnstone-format-repeat"
    program.write_text(
        "#!/usr/bin/env python3\n"
        "import sys, pyarrow as pa\n"
        "if sys.argv[1] == 'options':\n"
        "    print('times\\thow often', 'loud', sep='\\n')\n"
        "    sys.exit()\n"
        "given = dict(a[9:].split('=', 1) for a in sys.argv if a.startswith('--option='))\n"
        "if sys.argv[1] == 'write':\n"
        "    sys.stdin.buffer.read()\n"
        "    open(sys.argv[-1], 'w').write(repr(given))\n"
        "    sys.exit()\n"
        "text = open(sys.argv[-1]).read() * int(given.get('times', 1))\n"
        "text = text.upper() if given.get('loud') == 'true' else text\n"
        "batch = pa.record_batch({'text': [text]})\n"
        "with pa.ipc.new_stream(sys.stdout.buffer, batch.schema) as out:\n"
        "    out.write_batch(batch)\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("COLUMNSTONE_PLUGIN_PATH", str(tmp_path))
    monkeypatch.setenv("PATH", f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}")
    path = tmp_path / "x.repeat"
    path.write_text("ab")
    given: dict[str, Any] = {"times": 2, "loud": True}
    assert pa.table(cst.open(path, "repeat", **given)).to_pydict() == {"text": ["ABAB"]}
    assert pa.table(cst.open(path, "repeat", times=None)).to_pydict() == {"text": ["ab"]}  # type: ignore[call-arg]
    with pytest.raises(cst.errors.ArgumentError, match=r"no option 'time' \(did you mean 'times'"):
        cst.open(path, "repeat", time=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="open\\(\\) has no option 'times'"):
        cst.open(path, times=2)  # type: ignore[call-arg]
    output, table = tmp_path / "out.repeat", tmp_path / "table.csv"
    table.write_text("a\n1\n")
    for source in (table, path):
        cst.convert(source, output, times=3, overwrite=True)
        assert output.read_text() == "{'times': '3'}"
