"""The exceptions: classes, fields, text, pickling."""

from __future__ import annotations

import errno
import pathlib
import pickle

import columnstone as cst
import pytest
from conftest import MakeFile, records

FIELDS = ["file", "record", "offset", "path", "hint", "code", "line", "column"]


def test_hierarchy() -> None:
    assert issubclass(cst.errors.ArgumentError, ValueError)
    assert issubclass(cst.errors.NotFoundError, FileNotFoundError)
    assert issubclass(cst.errors.FileError, OSError)
    for name in ["Argument", "NotFound", "File", "Corrupt", "Schema", "Format", "Limit"]:
        assert issubclass(getattr(cst.errors, f"{name}Error"), cst.Error)
    assert issubclass(cst.errors.UnsupportedError, cst.Error)
    assert issubclass(cst.errors.StateError, cst.Error)
    assert issubclass(cst.errors.DeadlineError, TimeoutError)


def fields(error: cst.Error) -> dict[str, object]:
    return {name: getattr(error, name) for name in FIELDS}


def damaged(path: pathlib.Path, at: int) -> pathlib.Path:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    return path


def test_corrupt_record_names_the_place(file: pathlib.Path) -> None:
    first = 16 + len(records(1)[0])
    damaged(file, first + 12 + 3)
    with pytest.raises(cst.errors.CorruptError) as caught:
        list(cst.open(file))
    error = caught.value
    assert error.file == str(file)
    assert error.record == 1
    assert error.offset == first
    assert error.code == "CORRUPT"
    assert error.help == pickle.loads(pickle.dumps(error)).help == "docs/errors.md#corrupt"
    assert str(file) in str(error)
    assert "record 1" in str(error)
    assert len(str(error).replace(str(file), "").encode()) <= 256


def test_unknown_is_none() -> None:
    with pytest.raises(cst.errors.ArgumentError) as caught:
        cst.open([])
    error = caught.value
    assert error.file is error.record is error.offset is error.path is error.line is None
    assert error.code == "INVALID_ARGUMENT"


def test_an_error_without_a_code_has_no_help() -> None:
    assert cst.Error("of one's own").help is None


def test_schema_error_has_line_and_column() -> None:
    with pytest.raises(cst.errors.SchemaError) as caught:
        cst.Schema.from_text('feature {\n  name: "a"\n  oops oops\n}')
    assert caught.value.line == 3
    assert caught.value.column is not None


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_keeps_class_text_and_fields(file: pathlib.Path, protocol: int) -> None:
    found: list[cst.Error] = []
    attempts = [
        lambda: cst.open("/no/such/file"),
        lambda: list(cst.open(damaged(file, 14))),
        lambda: cst.Schema.from_text("x"),
        lambda: cst.open([]),
        lambda: cst.decoder("example").decode([b"\xff"]),
    ]
    for attempt in attempts:
        with pytest.raises(cst.Error) as caught:
            attempt()
        found.append(caught.value)
    for error in found:
        again = pickle.loads(pickle.dumps(error, protocol))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert fields(again) == fields(error)


def test_no_record_content_in_the_text(make_file: MakeFile) -> None:
    path = make_file("data.tfrecord", [b"\x0a\xff-secret-secret"])
    with pytest.raises(cst.errors.CorruptError) as caught:
        list(cst.open(path))
    assert "secret" not in str(caught.value)


def test_name_that_is_no_utf8(tmp_path: pathlib.Path) -> None:
    name = str(tmp_path).encode() + b"/caf\xe9"
    with pytest.raises(cst.errors.NotFoundError) as caught:
        cst.open(name)
    str(caught.value).encode("utf-8")


def test_missing_file_is_a_file_not_found_error() -> None:
    with pytest.raises(FileNotFoundError) as caught:
        cst.open("/no/such/file.tfrecord")
    assert isinstance(caught.value, cst.errors.NotFoundError)
    assert caught.value.file == "/no/such/file.tfrecord"
    assert caught.value.filename == caught.value.file
    assert caught.value.hint


def test_a_folder(tmp_path: pathlib.Path) -> None:
    with pytest.raises(cst.Error):
        list(cst.open(tmp_path))


def test_usable_after_an_error(schema: cst.Schema) -> None:
    decoder = cst.decoder("example", schema)
    good = records(5)
    for _ in range(3):
        with pytest.raises(cst.errors.CorruptError) as caught:
            decoder.decode([*good, b"\x0a\x7f"])
        assert caught.value.record == 5
        assert decoder.decode(good).num_rows == 5


def test_a_missing_file_has_errno_and_a_name_that_opens(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "new\nline")
    openers = [
        lambda: cst.open(path),
        lambda: cst.Schema.from_file(path),
        lambda: cst.Schema(pathlib.Path(path)),
    ]
    for opener in openers:
        with pytest.raises(FileNotFoundError) as caught:
            opener()
        assert caught.value.errno == errno.ENOENT
        assert caught.value.filename == path


def test_no_path_is_cut_at_a_nul(file: pathlib.Path) -> None:
    bad = f"{file}\0b"
    for use in (
        lambda: cst.open(bad),
        lambda: cst.open(bad.encode()),
        lambda: cst.open([file, bad]),
        lambda: cst.codec.TFRecordWriter(bad),
        lambda: cst.Schema.from_file(bad),
        lambda: cst.Schema(bad),
        lambda: cst.infer_schema(bad),
    ):
        with pytest.raises(ValueError, match="NUL"):
            use()


def test_an_empty_path() -> None:
    for use in (cst.open, cst.codec.TFRecordWriter, cst.Schema.from_file, cst.infer_schema):
        with pytest.raises(cst.errors.NotFoundError, match="the path is empty"):
            use("")


@pytest.mark.parametrize(
    "bad", ["\x1b[31m", "\x9b31m", "\u202eabc", "\u2066a", "\u2028", "\x7f", "\r"]
)
def test_text_of_others_is_escaped(bad: str, tmp_path: pathlib.Path) -> None:
    """Names of files, and what servers and databases say, cannot reach a terminal raw."""
    name = str(tmp_path / f"a{bad}b.tfrecord")
    for run in (
        lambda: cst.open(name),
        lambda: cst.open(tmp_path / "x.csv", format=f"f{bad}"),
        lambda: cst.Schema(f'feature {{ name: "a{bad}" }} {bad}'),
    ):
        with pytest.raises(cst.Error) as caught:
            run()
        error = caught.value
        for text in (str(error), str(error.file), str(error.hint)):
            assert text.isprintable(), text
    error = cst.errors.FileError(
        f"the server answers 500 {bad}\nand more", file=f"a{bad}", hint=bad
    )
    assert bad not in str(error) and "\n" in str(error)
    assert bad not in str(error.file) and bad not in str(error.hint)
    assert error.filename == f"a{bad}"
