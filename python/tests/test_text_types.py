"""What CSV and JSON lines write is read again as the same values, with the types given: every type
that each of them writes, with values at the ends of its range and at random.
"""

from __future__ import annotations

import datetime
import decimal
import pathlib
import random
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest

RANDOM = random.Random(28)
ROWS = 60


def ints(bits: int, low: int | None = None, high: int | None = None) -> list[int]:
    low = -(2 ** (bits - 1)) if low is None else low
    high = 2 ** (bits - 1) - 1 if high is None else high
    return [low, high, 0, 1, *(RANDOM.randint(low, high) for _ in range(ROWS))]


def stored(kind: pa.DataType, values: list[Any], storage: pa.DataType) -> pa.Array:
    """Numbers as values of a type that is stored as they are."""
    return pa.array([None, *values], storage).view(kind)


def decimals(kind: pa.DataType) -> pa.Array:
    context = decimal.Context(prec=80)
    most = 10**kind.precision - 1
    numbers = [0, 1, -1, most, -most, *(RANDOM.randint(-most, most) for _ in range(ROWS))]
    scaled = [decimal.Decimal(n).scaleb(-kind.scale, context) for n in numbers]
    return pa.array([None, *scaled], kind)


def present(column: pa.Array) -> pa.Array:
    """Without nulls; pyarrow does not filter views, whose only null comes first here."""
    return column[1:] if str(column.type).endswith("_view") else column.drop_null()


DAY = 86400
COLUMNS: dict[str, pa.Array] = {
    "date32": stored(pa.date32(), ints(32), pa.int32()),
    "date64": stored(pa.date64(), [n * 1000 * DAY for n in ints(32)], pa.int64()),
    "half": pa.array([None, 0.5, -65504.0, 2.0**-24, float("inf"), -0.0, 0.1], pa.float16()),
    "fixed_binary": pa.array([None, b"abc", b"\x00\xff\xfe", b'",\n'], pa.binary(3)),
    "dictionary": pa.array(["a", None, "", 'say "no"', "a", "ü"]).dictionary_encode(),
    "large_dictionary": pa.array(["x", "y", None], pa.large_string()).dictionary_encode(),
    "binary_dictionary": pa.array([b"x", b"\xff\x00", None, b""]).dictionary_encode(),
    "string_view": pa.array([None, "a", "", 'say "no" to more than twelve'], pa.string_view()),
    "binary_view": pa.array([None, b"a", b"\xff\x00"], pa.binary_view()),
}
for unit, width in (("s", 32), ("ms", 32), ("us", 64), ("ns", 64)):
    of_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    kind = pa.time32(unit) if width == 32 else pa.time64(unit)
    storage = pa.int32() if width == 32 else pa.int64()
    COLUMNS[f"time[{unit}]"] = stored(kind, ints(width, 0, DAY * of_second - 1), storage)
    for zone in (None, "UTC", "Europe/Rome", "+02:00"):
        name = f"timestamp[{unit}, {zone}]"
        COLUMNS[name] = stored(pa.timestamp(unit, zone), ints(64), pa.int64())
    COLUMNS[f"duration[{unit}]"] = stored(pa.duration(unit), ints(64), pa.int64())
for decimal_type in (
    pa.decimal128(38, 2),
    pa.decimal128(5, 0),
    pa.decimal128(10, 10),
    pa.decimal128(7, -3),
    pa.decimal128(4, 12),
    pa.decimal256(76, 40),
):
    COLUMNS[str(decimal_type)] = decimals(decimal_type)

# Dictionaries of every kind of value, and every kind of index.
for value in (
    pa.array(ints(64), pa.int64()),
    pa.array([0, 255], pa.uint8()),
    pa.array([0.5, float("inf"), -0.0], pa.float64()),
    pa.array([0.5, 2.0], pa.float32()),
    pa.array([True, False]),
    COLUMNS["half"][1:4],
    COLUMNS["fixed_binary"][1:],
    COLUMNS["string_view"][1:],
    COLUMNS["binary_view"][1:],
    COLUMNS["timestamp[us, UTC]"][3:5],
    COLUMNS["time[s]"][3:5],
    COLUMNS["duration[ns]"][3:5],
    COLUMNS["date32"][3:5],
    COLUMNS["decimal128(38, 2)"][1:],
):
    indices = pa.array([0, None, 1, len(value) - 1, 0] * 4, pa.int16())
    name = f"dictionary of {value.type}"
    COLUMNS[name] = pa.DictionaryArray.from_arrays(indices, value)
for index in (pa.int8(), pa.uint8(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64()):
    indices = pa.array([1, None, 0, 1], index)
    COLUMNS[f"dictionary by {index}"] = pa.DictionaryArray.from_arrays(indices, ["a", 'b"'])

LISTS = {
    f"list of {name}": pa.ListArray.from_arrays([0, 1, 2], present(column)[:2])
    for name, column in COLUMNS.items()
}
NESTED: dict[str, pa.Array] = {
    "map": pa.array(
        [[("k", 1), ("l", None)], None, [], [("", -1)]], pa.map_(pa.string(), pa.int64())
    ),
    "map of times": pa.array(
        [[(datetime.date(2024, 2, 29), [datetime.timedelta(1)])], []],
        pa.map_(pa.date32(), pa.list_(pa.duration("us"))),
    ),
    "struct": pa.StructArray.from_arrays(
        [COLUMNS["time[s]"][:4], COLUMNS["half"][:4], COLUMNS["dictionary"][:4]],
        ["d", "t", "c"],
    ),
    "fixed list": pa.FixedSizeListArray.from_arrays(COLUMNS["duration[ms]"][1:5], 2),
}


def read_again(column: pa.Array, path: pathlib.Path, **options: Any) -> pa.Table:
    # Another column keeps a null from standing alone in its row.
    table = pa.table({"row": pa.array(range(len(column))), "c": column})
    cst.write(table, path, **options)
    batches = list(cst.open(path, types=table.schema, batch_size=7, **options))
    return pa.Table.from_batches([pa.record_batch(batch) for batch in batches], table.schema)


def plain(column: pa.DictionaryArray) -> pa.Array:
    return column.dictionary.take(column.indices)


def check(column: pa.Array, path: pathlib.Path, **options: Any) -> None:
    again = read_again(column, path, **options).column("c").combine_chunks()
    again = again.combine_chunks() if isinstance(again, pa.ChunkedArray) else again
    assert again.type == column.type
    again.validate(full=True)
    if isinstance(column, pa.DictionaryArray) and "view" not in str(column.type):
        assert plain(again).equals(plain(column))
    elif "dictionary" in str(column.type):  # the order of its values is another one
        assert again.to_pylist() == column.to_pylist()
    else:
        assert again.equals(column)


@pytest.mark.parametrize("name", [*COLUMNS, *LISTS, *NESTED])
def test_json(name: str, tmp_path: pathlib.Path) -> None:
    check({**COLUMNS, **LISTS, **NESTED}[name], tmp_path / "a.jsonl")


@pytest.mark.parametrize("name", COLUMNS)
def test_csv(name: str, tmp_path: pathlib.Path) -> None:
    check(COLUMNS[name], tmp_path / "a.csv")


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_csv(name: str, tmp_path: pathlib.Path) -> None:
    check(LISTS[name], tmp_path / "a.csv")


VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int32": (pa.int32(), [1, 2, 3, -4]),
    "bool": (pa.bool_(), [True, False, True, True]),
    "string": (pa.string(), ["a", 'say "no"; b', "c,d", "ü"]),
    "string_view": (pa.string_view(), ["a", 'say "no"; b', "c,d", "ü"]),
    "fixed_binary": (pa.binary(2), [b"ab", b'";', b"\x00\xff", b", "]),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), ["a", 'say "no"; b', "a", "c"]),
    "dates": (pa.date32(), [datetime.date(2024, 2, day) for day in (1, 2, 3, 29)]),
}
LAYOUTS = {
    "list": pa.list_,
    "large_list": pa.large_list,
    "fixed_size_list": lambda value: pa.list_(value, 2),
    "list_view": pa.list_view,
    "large_list_view": pa.large_list_view,
}


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("value", VALUES)
def test_lists_of_every_layout(
    value: str, layout: str, suffix: str, tmp_path: pathlib.Path
) -> None:
    kind, items = VALUES[value]
    column = pa.array([items[:2], None, items[2:]], pa.list_(kind))
    listed = LAYOUTS[layout](kind)
    if layout == "fixed_size_list":
        mask = pa.array([False, True, False])
        padded = pa.concat_arrays([column.values[:2], column.values[:2], column.values[2:]])
        column = pa.FixedSizeListArray.from_arrays(padded, 2, mask=mask)
    elif layout != "list":
        names = {"large_list": "LargeListArray", "list_view": "ListViewArray"}
        factory = getattr(pa, names.get(layout, "LargeListViewArray"))
        if "view" in layout:  # any order, with something that no list has
            column = factory.from_arrays([2, 0, 0], [2, 0, 2], column.values, mask=_middle())
        else:
            column = factory.from_arrays([0, 2, 2, 4], column.values, mask=_middle())
    assert column.type == listed
    dialect = {"multivalent": ["c"], "secondary_delimiter": ";"}
    options: dict[str, Any] = dialect if suffix == "csv" else {}
    again = read_again(column, tmp_path / f"a.{suffix}", **options).column("c")
    assert again.type == listed
    again.validate(full=True)
    assert again.to_pylist() == column.to_pylist()


def _middle() -> pa.Array:
    return pa.array([False, True, False])


INTERVAL = pa.array([pa.MonthDayNano([1, 2, 3])])
NUMBER = pa.array([1], pa.int32())
NOWHERE = {
    "interval": INTERVAL,
    "list of intervals": pa.ListArray.from_arrays([0, 1], INTERVAL),
    "run-end encoded": pa.RunEndEncodedArray.from_arrays([1], NUMBER),
    "dense union": pa.UnionArray.from_dense(
        pa.array([0], pa.int8()), pa.array([0], pa.int32()), [NUMBER]
    ),
    "sparse union": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [NUMBER]),
}
REFUSED = {
    "jsonl": NOWHERE,
    "csv": NOWHERE
    | {
        "struct": pa.StructArray.from_arrays([NUMBER], ["a"]),
        "map": NESTED["map"],
        "list of lists": pa.array([[[1]]]),
        "list of structs": pa.array([[{"a": 1}]]),
    },
}


@pytest.mark.parametrize(("suffix", "name"), [(s, name) for s in REFUSED for name in REFUSED[s]])
def test_what_cannot_be_written_is_refused(suffix: str, name: str, tmp_path: pathlib.Path) -> None:
    """All other types are written, and read again: the tests above have them."""
    with pytest.raises(cst.errors.UnsupportedError) as caught:
        cst.write(pa.table({"c": REFUSED[suffix][name]}), tmp_path / f"a.{suffix}")
    assert caught.value.path is not None


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (pa.timestamp("us", "UTC"), "2024-02-29T01:02:03"),
        (pa.timestamp("us"), "2024-02-29T01:02:03Z"),
        (pa.timestamp("s"), "2024-02-29T01:02:03.5"),
        (pa.timestamp("ns"), "2262-04-12"),
        (pa.date32(), "2023-02-29"),
        (pa.time32("s"), "01:02:60"),
        (pa.duration("ms"), "1.5"),
        (pa.decimal128(3, 2), "12.50"),
        (pa.decimal128(3, 2), "1.505"),
        (pa.float16(), "65520"),
        (pa.binary(3), "ab"),
    ],
    ids=str,
)
def test_other_texts_are_refused(kind: pa.DataType, text: str, tmp_path: pathlib.Path) -> None:
    types = pa.schema([("c", kind), ("d", pa.int64())])
    (tmp_path / "a.csv").write_text(f"c,d\n{text},1\n")
    (tmp_path / "a.jsonl").write_text(f'{{"c": "{text}", "d": 1}}\n')
    for name in ("a.csv", "a.jsonl"):
        with pytest.raises(cst.errors.SchemaError) as caught:
            list(cst.open(tmp_path / name, types=types))
        assert caught.value.record == 0


@pytest.mark.parametrize("value", [pa.int32(), pa.float32(), pa.bool_(), pa.date32()], ids=str)
def test_a_quoted_cell_of_no_bytes_is_null_in_dictionaries_too(
    value: pa.DataType, tmp_path: pathlib.Path
) -> None:
    kind = pa.dictionary(pa.int8(), value)
    (tmp_path / "a.csv").write_text('n,l,t\n"","",""\n')
    text = pa.dictionary(pa.int8(), pa.string())
    types = pa.schema([("n", kind), ("l", pa.list_(kind)), ("t", text)])
    again = pa.table(cst.open(tmp_path / "a.csv", types=types))
    assert again.to_pylist() == [{"n": None, "l": None, "t": ""}]


def test_a_null_alone_in_a_dictionary_of_numbers(tmp_path: pathlib.Path) -> None:
    table = pa.table({"a": pa.array([1, None]).dictionary_encode()})
    cst.write(table, tmp_path / "a.csv")
    again = pa.table(cst.open(tmp_path / "a.csv", types=table.schema))
    assert again.to_pylist() == table.to_pylist()


PLAIN = {
    "list": pa.array([[1], []]),
    "struct": pa.array([{"x": 1}, {"x": None}]),
    "dictionary": pa.array(["a", "b"]).dictionary_encode(),
    "null": pa.nulls(2),
}


@pytest.mark.parametrize("name", PLAIN)
def test_dictionaries_of_other_values_are_read_as_their_values(
    name: str, tmp_path: pathlib.Path
) -> None:
    values = PLAIN[name]
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), values)
    table = pa.table({"c": column})
    cst.write(table, tmp_path / "a.jsonl")
    with pytest.raises(cst.errors.UnsupportedError, match=f"dictionary of the type .*{name}") as no:
        cst.open(tmp_path / "a.jsonl", types=table.schema).arrow_schema()
    assert no.value.hint == "give the type of its values instead"
    types = pa.schema([("c", values.type)])
    again = pa.table(cst.open(tmp_path / "a.jsonl", types=types))
    assert again.column("c").to_pylist() == values.take(pa.array([0, 1, None])).to_pylist()


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_intervals_are_refused_without_rows_too(suffix: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(cst.errors.UnsupportedError, match="interval"):
        cst.write(pa.table({"c": INTERVAL[:0]}), tmp_path / f"a.{suffix}")


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_date_of_a_part_of_a_day_is_refused(suffix: str, tmp_path: pathlib.Path) -> None:
    day = 1000 * DAY
    table = pa.table({"c": pa.array([day, None, -day, 1 - day], pa.int64()).view(pa.date64())})
    cst.write(table.slice(0, 1), tmp_path / f"whole.{suffix}")
    with pytest.raises(cst.errors.UnsupportedError, match="part of a day") as caught:
        cst.write(table, tmp_path / f"a.{suffix}")
    assert caught.value.path == "c"
    cst.write(table, tmp_path / f"a.{suffix}", lossy=True)
    assert "1969-12-31" in (tmp_path / f"a.{suffix}").read_text()


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_binary_of_no_bytes(suffix: str, tmp_path: pathlib.Path) -> None:
    column = pa.array([b"", None, b""], pa.binary(0))
    again = read_again(column, tmp_path / f"a.{suffix}")
    assert again.column("c").to_pylist() == column.to_pylist()
