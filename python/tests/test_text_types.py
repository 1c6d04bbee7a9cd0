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


DAY = 86400
COLUMNS: dict[str, pa.Array] = {
    "date32": stored(pa.date32(), ints(32), pa.int32()),
    "date64": stored(pa.date64(), [n * 1000 * DAY for n in ints(32)], pa.int64()),
    "half": pa.array([None, 0.5, -65504.0, 2.0**-24, float("inf"), -0.0, 0.1], pa.float16()),
    "fixed_binary": pa.array([None, b"abc", b"\x00\xff\xfe", b'",\n'], pa.binary(3)),
    "dictionary": pa.array(["a", None, "", 'say "no"', "a", "ü"]).dictionary_encode(),
    "large_dictionary": pa.array(["x", "y", None], pa.large_string()).dictionary_encode(),
    "binary_dictionary": pa.array([b"x", b"\xff\x00", None, b""]).dictionary_encode(),
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

LISTS = {
    f"list of {name}": pa.ListArray.from_arrays([0, 1, 2], column.drop_null()[:2])
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


def check(column: pa.Array, path: pathlib.Path, **options: Any) -> None:
    again = read_again(column, path, **options).column("c").combine_chunks()
    again = again.combine_chunks() if isinstance(again, pa.ChunkedArray) else again
    assert again.type == column.type
    again.validate(full=True)
    if "dictionary" in str(column.type):  # the order of its values is another one
        assert again.to_pylist() == column.to_pylist()
    else:
        assert again.equals(column)


@pytest.mark.parametrize("name", [*COLUMNS, *LISTS, *NESTED])
def test_json(name: str, tmp_path: pathlib.Path) -> None:
    check({**COLUMNS, **LISTS, **NESTED}[name], tmp_path / "a.jsonl")


@pytest.mark.parametrize("name", COLUMNS)
def test_csv(name: str, tmp_path: pathlib.Path) -> None:
    check(COLUMNS[name], tmp_path / "a.csv")


@pytest.mark.parametrize(
    "name", [name for name in LISTS if "dictionary" not in name and "fixed" not in name]
)
def test_lists_of_csv(name: str, tmp_path: pathlib.Path) -> None:
    check(LISTS[name], tmp_path / "a.csv")


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
