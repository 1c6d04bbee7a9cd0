"""Formats that are written in Python: cst.format.register."""

from __future__ import annotations

import functools
import inspect
import math
import pathlib
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from columnstone._engines.reading import read_by
from columnstone._spark.options import options_of, parse_options, text_option
from conftest import MakeFile

Calls = list[dict[str, object]]


def table_of(path: str) -> pa.Table:
    with open(path) as file:
        assert file.readline() == "LINES1\n"
        lines = file.read().splitlines()
    return pa.table({"line": lines, "length": [len(line) for line in lines]})


@pytest.fixture
def lines(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Three files of the format `lines`, which is registered."""
    for i in range(3):
        (tmp_path / f"{i}.txt").write_text("LINES1\n" + "x\n" * (i + 1))
    cst.format.register("lines", table_of, lambda head: head.startswith(b"LINES1\n"))
    yield tmp_path
    cst.format.unregister("lines")


def test_by_name_and_by_bytes(lines: pathlib.Path) -> None:
    for format in ("lines", None):
        source = cst.open(lines / "2.txt", format)
        assert pa.table(source).to_pydict() == {"line": ["x"] * 3, "length": [1] * 3}
        assert source.files == [str(lines / "2.txt")]
    with pytest.raises(cst.Error):
        cst.format.unregister("nothing")


def test_globs_lists_columns_and_batches(lines: pathlib.Path) -> None:
    source = cst.open(lines / "*.txt", columns=["length"], batch_size=4, threads=2)
    assert [b.to_pydict() for b in source] == [{"length": [1] * 4}, {"length": [1] * 2}]
    assert [pathlib.Path(f).name for f in source.files] == ["0.txt", "1.txt", "2.txt"]
    pair = cst.open([lines / "2.txt", lines / "0.txt"], "lines")
    assert [pathlib.Path(f).name for f in pair.files] == ["2.txt", "0.txt"]
    assert len(list(pair)) == len(list(pair)) == 1
    assert pair.num_rows == 4


def test_missing_files(lines: pathlib.Path) -> None:
    for name in ("none.txt", "n*.txt"):
        with pytest.raises(cst.errors.NotFoundError) as error:
            cst.open(lines / name, "lines")
        assert error.value.filename == str(lines / name)
    with pytest.raises(cst.errors.NotFoundError, match="length"):
        cst.open(lines / "0.txt", columns=["lenght"])
    with pytest.raises(cst.errors.ArgumentError):
        cst.open("-", "lines")


def test_the_function_gets_what_its_signature_takes(lines: pathlib.Path) -> None:
    calls: Calls = []

    def bare(path: str) -> pa.Table:
        calls.append({})
        return table_of(path)

    def some(path: str, columns: list[str] | None = None) -> pa.Table:
        calls.append({"columns": columns})
        return table_of(path).select(columns) if columns else table_of(path)

    def every(path: str, **options: object) -> pa.Table:
        calls.append(options)
        return table_of(path)

    expected: list[dict[str, object]] = [
        {},
        {"columns": ["length"]},
        {"columns": ["length"], "batch_size": 5, "threads": 2},
    ]
    for function, options in zip((bare, some, every), expected, strict=True):
        calls.clear()
        cst.format.register("lines", function)
        source = cst.open(lines / "1.txt", "lines", columns=["length"], batch_size=5, threads=2)
        assert pa.table(source).to_pydict() == {"length": [1, 1]}
        assert all(call == options for call in calls)
    cst.format.register("lines", functools.partial(some))
    assert cst.open(lines / "1.txt", "lines").column_names == ["line", "length"]


def test_what_the_function_raises_comes_out(lines: pathlib.Path) -> None:
    def failing(path: str) -> object:
        if path.endswith("1.txt"):
            raise KeyError("mine")
        return table_of(path)

    cst.format.register("lines", failing)
    with pytest.raises(KeyError, match="mine"):
        cst.open(lines / "1.txt", "lines")
    with pytest.raises(KeyError, match="mine"):
        list(cst.open(lines / "*.txt", "lines"))
    cst.format.register("lines", lambda path: 1)
    with pytest.raises(TypeError, match="'lines' returned int"):
        cst.open(lines / "1.txt", "lines")


def test_a_sniffer_sees_the_first_4096_bytes(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"x\n" * 3000)
    seen: list[bytes] = []
    cst.format.register("other", table_of, lambda head: seen.append(head) or False)
    try:
        cst.open(path)
    finally:
        cst.format.unregister("other")
    assert seen == [path.read_bytes()[:4096]]


def test_what_a_sniffer_raises_comes_out(lines: pathlib.Path) -> None:
    def bad(head: bytes) -> bool:
        raise KeyError("sniff")

    cst.format.register("other", table_of, bad)
    try:
        cst.format.unregister("lines")
        with pytest.raises(KeyError, match="sniff"):
            cst.open(lines / "1.txt")
        cst.format.register("lines", table_of)
    finally:
        cst.format.unregister("other")


@pytest.mark.parametrize(
    "name", ["example", "csv", "parquet", "arrow", "", "UPPER", "a b", "x" * 65, "é"]
)
def test_names_that_cannot_be(name: str) -> None:
    with pytest.raises(cst.errors.ArgumentError):
        cst.format.register(name, table_of)


def test_wrong_types() -> None:
    with pytest.raises(TypeError):
        cst.format.register(1, table_of)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        cst.format.register("x", "open")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        cst.format.register("x", table_of, sniff=1)  # type: ignore[arg-type]


def test_pickling_by_name(lines: pathlib.Path) -> None:
    source = cst.open(lines / "*.txt", columns=["length"])
    data = pickle.dumps(source)
    assert pa.table(pickle.loads(data)).num_rows == 6
    code = "import pickle, sys, columnstone\npickle.loads(sys.stdin.buffer.read())"
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True)
    assert b"NotFoundError" in done.stderr
    assert b"import the module that calls columnstone.format.register" in done.stderr


def test_files_of_others_are_still_found(lines: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.tfrecord"
    with cst.codec.TFRecordWriter(path) as writer:
        writer.write(b"")
    assert cst.open(path).num_rows == 1


class Failing:
    """A stream that fails after a batch, and knows by what."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error
        self.last_error: BaseException | None = None

    def batches(self) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"a": [1, 2]})
        self.last_error = self.error
        raise ValueError("in words")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        schema = pa.schema([("a", pa.int64())])
        reader = pa.RecordBatchReader.from_batches(schema, self.batches())
        return reader.__arrow_c_stream__()


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), KeyboardInterrupt(), None])
@pytest.mark.parametrize("threads", [1, 3])
def test_what_a_stream_raises(file: pathlib.Path, error: BaseException, threads: int) -> None:
    cst.format.register("failing", lambda path: Failing(error))
    source = cst.open(file, "failing", batch_size=2, threads=threads)
    for _ in range(2):
        batches = iter(source)
        assert next(batches)["a"].to_pylist() == [1, 2]
        with pytest.raises(cst.errors.CorruptError if error is None else type(error)) as caught:
            next(batches)
        assert error is None or caught.value is error
        assert source.last_error is caught.value or error is None
    with pytest.raises(Exception, match="in words" if error is None else type(error).__name__):
        pa.table(source)
    cst.format.unregister("failing")


def test_a_source_behind_a_format(make_file: MakeFile) -> None:
    path = make_file("x.tfrecord", 20)
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)
    cst.format.register("again", lambda path: cst.open(path, "raw", batch_size=5))
    with pytest.raises(cst.errors.CorruptError) as caught:
        list(cst.open(path, "again"))
    assert caught.value.record == 19
    cst.format.unregister("again")


@pytest.mark.parametrize("header", ["PAR1,b", "ARROW1,b", "FEA1,b", "H,Größe", "x^,中国"])
def test_tables_that_begin_as_other_formats_do(tmp_path: pathlib.Path, header: str) -> None:
    """Whether the library looks at the bytes or a file system of Python does."""
    path = tmp_path / "t.csv"
    path.write_text(f"{header}\n1,2\n", encoding="utf-8")
    for place in (path, f"file://{path}"):
        assert list(pa.table(cst.open(place)).to_pydict()) == header.split(",")


Option = cst.format.Option


@pytest.fixture
def words(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A file of the format `words`, which has an option of each kind."""

    def open_words(
        path: str, *, between: str, times: int, case: str, loud: bool, **more: Any
    ) -> Any:
        assert isinstance(more["share"], float)
        made = pathlib.Path(path).read_text()[6:].split(between) * times
        made = made[: math.ceil(len(made) * more["share"])]
        made = [getattr(word, case)() + "!" * loud for word in made if word not in more["without"]]
        return pa.table({more["name"] or "word": made})

    table = [
        Option("between", "character", " ", "stands between words"),
        Option("times", "number", 1, "how often", least=1, most=9),
        Option("case", "word", "lower", "how they are written", ("lower", "upper")),
        Option("loud", "switch", False, "with marks"),
        Option("without", "names", [], "words that are left out"),
        Option("name", help="of the column"),
        Option("share", "real", 1.0, "how many of them", least=0, most=1),
    ]
    cst.format.register("words", open_words, lambda head: head.startswith(b"#words"), table)
    path = tmp_path / "a.txt"
    path.write_text("#wordsone two,six")
    yield path
    cst.format.unregister("words")


def test_options_of_a_registered_format(words: pathlib.Path) -> None:
    given: Any = {"between": ",", "times": 2, "case": "upper", "loud": True, "name": "w"}
    for format in ("words", None):
        assert pa.table(cst.open(words, format)).to_pydict() == {"word": ["one", "two,six"]}
        source = cst.open(words, format, **given, without=["six"])
        for one in (source, pickle.loads(pickle.dumps(source)), source.select(["w"])):
            assert pa.table(one).to_pydict() == {"w": ["ONE TWO!"] * 2}
        assert "ONE TWO!" in repr(source)
    assert pa.table(cst.open(words, "words", between=",", share=0.5)).num_rows == 1
    assert cst.infer_schema(words, "words", name="w").features[0].name == "w"
    out = words.with_name("a.csv")
    cst.convert(words, out, format="words", times=2, delimiter=";", overwrite=True)
    assert out.read_text() == "word\none\ntwo,six\none\ntwo,six\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"time": 2}, r"words has no option 'time' \(did you mean 'times'\?\)"),
        ({"delimiter": 2}, r"words has no option 'delimiter' \(it has between, times"),
        ({"times": 10}, "words option times is '10': expected a number from 1 to 9"),
        ({"times": 0}, "expected a number from 1 to 9"),
        ({"case": "title"}, "words option case is 'title': expected lower or upper"),
        ({"between": "--"}, "expected one ASCII character"),
        ({"share": 1.5}, "words option share is '1.5': expected a number from 0 to 1"),
        ({"share": float("nan")}, "words option share is 'nan': expected a number from 0 to 1"),
    ],
)
def test_wrong_options_of_a_registered_format(
    words: pathlib.Path, given: dict[str, Any], said: str
) -> None:
    for format in ("words", None):
        with pytest.raises(cst.errors.ArgumentError, match=said):
            cst.open(words, format, **given)


def test_wrong_types_of_a_registered_format(words: pathlib.Path) -> None:
    wrong: list[Any] = [{"times": "2"}, {"loud": 1}, {"without": "six"}, {"name": b"w"}]
    wrong += [{"share": "0.5"}, {"share": True}]
    for given in wrong:
        with pytest.raises(TypeError):
            cst.open(words, "words", **given)
    cst.format.register("words", table_of)
    with pytest.raises(cst.errors.ArgumentError, match=r"no option 'times' \(it has none\)"):
        cst.open(words, "words", times=2)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (Option("columns"), "cannot be the name of an option"),
        (Option("paths"), "cannot be the name of an option"),
        (Option("a b"), "cannot be the name of an option"),
        (Option("x", "float"), "has the unknown kind 'float' \\(one of word, text"),
        (Option("x", writes=True), "is for writing"),
        (Option("x", "number", -1), "expected a number from 0"),
        (Option("x"), "open of the format 'none' has no argument x"),
    ],
)
def test_options_that_cannot_be_registered(option: cst.format.Option, said: str) -> None:
    with pytest.raises(cst.errors.ArgumentError, match=said):
        cst.format.register("none", table_of, options=[option])
    with pytest.raises(TypeError, match=r"options must be cst.format.Option, not str"):
        cst.format.register("none", table_of, options=["x"])  # type: ignore[list-item]


def test_no_option_has_the_name_of_an_argument() -> None:
    arguments = {
        name
        for function in (cst.open, cst.convert, cst.infer_schema)
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    }
    for name in arguments:
        with pytest.raises(cst.errors.ArgumentError, match="cannot be the name"):
            cst.format.register("none", lambda path, **options: None, options=[Option(name)])


def test_options_are_listed(words: pathlib.Path) -> None:
    listed = {option.name: option for option in cst.format.options("words")}
    assert list(listed) == ["between", "times", "case", "loud", "without", "name", "share"]
    assert listed["times"] == ("times", "number", 1, "how often", (), 1, 9, True, False)
    of_csv = {option.name: option for option in cst.format.options("csv")}
    assert of_csv.keys() == cst._core.FORMAT_OPTIONS["csv"].keys()
    assert not of_csv["header"].reads and of_csv["header"].writes
    of_avro = {option.name: option for option in cst.format.options("avro")}
    assert of_avro["avro_codec"].words[:2] == ("deflate", "null")
    assert of_avro["avro_block_size"].most == 1 << 28
    assert cst.format.options("json") == ()
    with pytest.raises(cst.errors.NotFoundError, match="unknown format 'nothing', or one without"):
        cst.format.options("nothing")


def test_engines_take_the_options_of_a_registered_format(words: pathlib.Path) -> None:
    reading = read_by(str(words), {"format": "words", "times": 2, "name": "w"})
    assert reading.schema.names == ["w"]
    batches = list(reading.batches(cst.plan(words, format="words")))
    assert pa.Table.from_batches(batches).to_pydict() == {"w": ["one", "two,six"] * 2}
    with pytest.raises(
        cst.errors.ArgumentError, match=r"unknown option 'time' \(did you mean times"
    ):
        read_by(str(words), {"format": "words", "time": 2})
    given = {"FORMAT": "words", "TIMES": "2", "loud": "true", "without": "a, b"}
    parsed = parse_options(given, options_of(given, {"format": text_option}), "reading")
    assert parsed == {"format": "words", "times": 2, "loud": True, "without": ["a", "b"]}
    with pytest.raises(cst.errors.ArgumentError, match="reading has no option 'tims'"):
        parse_options({"tims": "2"}, options_of(given, {}), "reading")
