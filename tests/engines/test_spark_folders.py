"""Files in folders named key=value, and the filters that exclude some; without Spark."""

from __future__ import annotations

import datetime
import pathlib
import re
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from columnstone._spark.folders import Found, PartitionColumn, find_files, partition_columns
from columnstone._spark.partitions import folder_of
from columnstone._spark.pruning import may_hold
from pyspark.sql import datasource as ds


def lay(root: pathlib.Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def names_of(root: pathlib.Path, found: list[Found]) -> list[str]:
    return [str(pathlib.Path(entry.file).relative_to(root)) for entry in found]


def test_files_of_folders_and_globs(tmp_path: pathlib.Path) -> None:
    lay(tmp_path, "b/2", "b/1", "b/_SUCCESS", "b/.crc", "b/_temporary/3", "a=1/x", "_c=2/x", "é")
    root = str(tmp_path)
    expected = ["_c=2/x", "a=1/x", "b/1", "b/2", "é"]
    assert names_of(tmp_path, find_files([root])) == expected
    assert names_of(tmp_path, find_files([root + "/"])) == expected
    assert names_of(tmp_path, find_files([f"file:{root}/b"])) == ["b/1", "b/2"]
    assert names_of(tmp_path, find_files([f"file://{root}/b"])) == ["b/1", "b/2"]
    assert names_of(tmp_path, find_files([f"{root}/*"])) == expected
    assert names_of(tmp_path, find_files([f"{root}/b/*"])) == ["b/1", "b/2"]
    assert names_of(tmp_path, find_files([f"{root}/b/_SUCCESS"])) == ["b/_SUCCESS"]
    assert names_of(tmp_path, find_files([f"{root}/é", f"{root}/b/2"])) == ["é", "b/2"]
    [one] = find_files([f"{root}/é"])
    assert (one.size, one.changed) == (2, (tmp_path / "é").stat().st_mtime_ns)
    for missing in (f"{root}/c", f"{root}/c*", f"{root}/b/_temp*"):
        with pytest.raises(cst.errors.NotFoundError, match=r"no file matches \(check the path\)"):
            find_files([missing])
    with pytest.raises(cst.errors.ArgumentError, match="no path is given"):
        find_files([])


def test_folders_of_a_remote_file_system(tmp_path: pathlib.Path) -> None:
    memory = pytest.importorskip("fsspec").filesystem("memory")
    for name in ("day=1/b", "day=1/a", "day=2/c", "_SUCCESS", "day=2/.crc", "_temporary-x/day=3/d"):
        memory.pipe_file(f"/spark/out/{name}", b"x")

    def check(url: str, *expected: str, base: str | None = None, **columns: str) -> None:
        found = find_files([url], base)
        assert [entry.file.partition("spark/out/")[2] for entry in found] == list(expected)
        assert [entry.file.startswith("memory://") for entry in found] == [True] * len(found)
        assert found[0].folders == tuple(columns.items())

    check("memory://spark/out", "day=1/a", "day=1/b", "day=2/c", day="1")
    check("memory://spark/out/", "day=1/a", "day=1/b", "day=2/c", day="1")
    check("memory://spark/out/day=2", "day=2/c")
    check("memory://spark/out/day=2", "day=2/c", base="memory://spark", day="2")
    check("memory://spark/out/day=*/[bc]", "day=1/b", "day=2/c", day="1")
    check("memory://spark/out/day=*", "day=1/a", "day=1/b", "day=2/c", day="1")
    check("memory://spark/out/day=1/a", "day=1/a")
    for url in ("memory://spark/none", "memory://spark/none*"):
        with pytest.raises(cst.errors.NotFoundError, match="spark/none"):
            find_files([url])
    assert find_files(["http://127.0.0.1:1/k=v/a?b"]) == [Found("http://127.0.0.1:1/k=v/a?b")]
    memory.rm("/spark", recursive=True)


def test_names_that_are_no_globs(tmp_path: pathlib.Path) -> None:
    lay(tmp_path, "a[1].tfrecord", "d[0]/k=v/x")
    assert len(find_files([str(tmp_path / "a[1].tfrecord")])) == 1
    [found] = find_files([str(tmp_path / "d[0]")])
    assert found.folders == (("k", "v"),)


@pytest.mark.parametrize(
    ("path", "base", "expected"),
    [
        ("", None, (("v", "2"), ("day", "x"))),
        ("/v=2", None, (("day", "x"),)),
        ("/v=2/day=x", None, ()),
        ("/v=2/day=x/f", None, ()),
        ("/v=2/day=*", None, (("day", "x"),)),
        ("/v=2/day=*/f*", None, (("day", "x"),)),
        ("/*/day=x/f", None, (("v", "2"), ("day", "x"))),
        ("/v=2/day=x/f", "", (("v", "2"), ("day", "x"))),
        ("/v=2/day=*/f", "/v=2/day=x", ()),
    ],
)
def test_folders_below_the_base_are_columns(
    tmp_path: pathlib.Path, path: str, base: str | None, expected: Any
) -> None:
    lay(tmp_path, "v=2/day=x/f")
    [found] = find_files([f"{tmp_path}{path}"], None if base is None else f"{tmp_path}{base}")
    assert found.folders == expected


def columns_of(*texts: str | None) -> PartitionColumn:
    [column] = partition_columns([Found(f"f{i}", (("k", text),)) for i, text in enumerate(texts)])
    return column


@pytest.mark.parametrize(
    ("texts", "type", "values"),
    [
        (["1", "-02", None], pa.int32(), [1, -2, None]),
        (["2147483647", "-2147483648"], pa.int32(), [2**31 - 1, -(2**31)]),
        (["1", "2147483648"], pa.int64(), [1, 2**31]),
        (["1", "9223372036854775808"], pa.float64(), [1.0, 2.0**63]),
        (["1", "2.5e3"], pa.float64(), [1.0, 2500.0]),
        (["2024-02-29"], pa.date32(), [datetime.date(2024, 2, 29)]),
        (["2024-02-29", "1"], pa.string(), ["2024-02-29", "1"]),
        (["2023-02-29"], pa.string(), ["2023-02-29"]),
        (["1", "x", "nan"], pa.string(), ["1", "x", "nan"]),
        (["20240229T01"], pa.string(), ["20240229T01"]),
        ([None], pa.string(), [None]),
    ],
)
def test_types_of_folders(texts: list[str | None], type: pa.DataType, values: list[Any]) -> None:
    column = columns_of(*texts)
    assert column.type == type
    assert [column.value(text).as_py() for text in texts] == values


def test_values_of_given_types() -> None:
    assert PartitionColumn("k", pa.string()).value("01").as_py() == "01"
    assert PartitionColumn("k", pa.int64()).value("01").as_py() == 1
    assert PartitionColumn("k", pa.bool_()).value("true").as_py() is True
    with pytest.raises(
        cst.errors.SchemaError, match="column k: the name of a folder is not a valid int32"
    ):
        PartitionColumn("k", pa.int32()).value("x")


@pytest.mark.parametrize("value", ["a b", "a/b=c%", "ü\n*", "..", "+", None])
def test_names_are_what_our_writer_makes(tmp_path: pathlib.Path, value: str | None) -> None:
    lay(tmp_path, f"{folder_of('a key', value)}/f")
    [found] = find_files([str(tmp_path)])
    assert found.folders == (("a key", value),)


def test_folders_that_do_not_agree() -> None:
    def check(*folders: tuple[tuple[str, str], ...]) -> None:
        partition_columns([Found(f"f{i}", named) for i, named in enumerate(folders)])

    with pytest.raises(
        cst.errors.FormatError, match=r"f1: its folders have b=, but those of f0 have a="
    ):
        check((("a", "1"),), (("b", "1"),))
    with pytest.raises(cst.errors.FormatError, match="f1: its folders have no columns"):
        check((("a", "1"),), ())
    with pytest.raises(
        cst.errors.FormatError, match="f0: two of its folders name the same column: a=/a="
    ):
        check((("a", "1"), ("a", "2")))


VALUES = {"n": 5, "s": "abc", "d": datetime.date(2024, 1, 2), "f": 1.5, "none": None}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (ds.EqualTo(("n",), 5), True),
        (ds.EqualTo(("n",), 6), False),
        (ds.EqualTo(("none",), 6), False),
        (ds.EqualNullSafe(("none",), None), True),
        (ds.EqualNullSafe(("n",), None), False),
        (ds.EqualNullSafe(("n",), 5), True),
        (ds.GreaterThan(("n",), 5), False),
        (ds.GreaterThanOrEqual(("n",), 5), True),
        (ds.LessThan(("n",), 5), False),
        (ds.LessThanOrEqual(("n",), 5), True),
        (ds.In(("n",), (1, 5)), True),
        (ds.In(("n",), (1, None)), False),
        (ds.In(("n",), (1, "5")), True),  # not known
        (ds.IsNull(("none",)), True),
        (ds.IsNull(("n",)), False),
        (ds.IsNotNull(("none",)), False),
        (ds.IsNotNull(("n",)), True),
        (ds.StringStartsWith(("s",), "ab"), True),
        (ds.StringStartsWith(("s",), "b"), False),
        (ds.StringEndsWith(("s",), "bc"), True),
        (ds.StringEndsWith(("s",), "b"), False),
        (ds.StringContains(("s",), "b"), True),
        (ds.StringContains(("s",), "x"), False),
        (ds.EqualTo(("d",), datetime.date(2024, 1, 2)), True),
        (ds.LessThan(("d",), datetime.date(2024, 1, 2)), False),
        (ds.Not(ds.EqualTo(("n",), 5)), False),
        (ds.Not(ds.EqualTo(("n",), 6)), True),
        (ds.Not(ds.EqualTo(("none",), 6)), False),
        (ds.Not(ds.In(("none",), (6,))), False),
        (ds.Not(ds.IsNull(("none",))), False),
        (ds.Not(ds.EqualNullSafe(("none",), 1)), True),
        (ds.Not(ds.Not(ds.EqualTo(("n",), 6))), False),
        # What is left to Spark: other columns, nested ones, floats, values of other types.
        (ds.EqualTo(("x",), 5), True),
        (ds.EqualTo(("n", "m"), 6), True),
        (ds.Not(ds.EqualTo(("x",), 5)), True),
        (ds.EqualTo(("f",), 2.5), True),
        (ds.EqualTo(("n",), 6.0), True),
        (ds.EqualTo(("d",), datetime.datetime(2024, 1, 3)), True),
    ],
    ids=str,
)
def test_filters(condition: ds.Filter, expected: bool) -> None:
    assert may_hold(condition, VALUES) is expected


def test_hints_name_options(tmp_path: pathlib.Path) -> None:
    with pytest.raises(cst.errors.FormatError, match=re.escape("option basePath")):
        partition_columns([Found("f0"), Found("f1", (("a", "1"),))])
