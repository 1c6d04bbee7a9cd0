"""Parts of times in queries, against those of pyarrow and of Python."""

from __future__ import annotations

from random import Random

import columnstone as cst
import pyarrow as pa
import pyarrow.compute as pc
import pytest

PARTS = {
    "year": pc.year,
    "month": pc.month,
    "day": pc.day,
    "weekday": pc.day_of_week,
    "day_of_year": pc.day_of_year,
    "hour": pc.hour,
    "minute": pc.minute,
    "second": pc.second,
}
OF_DAY = ["hour", "minute", "second"]
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def random_times(kind: pa.DataType, seconds: int) -> pa.Array:
    r = Random(str(kind))
    scale = PER_SECOND.get(getattr(kind, "unit", "s"), 1)
    low = 0 if pa.types.is_time(kind) else -seconds * scale
    values = [r.randrange(low, seconds * scale) for _ in range(300)]
    edges = [0, 1, 59, 60, 3599, 86399]
    ints = pa.array([*values, *(e * scale for e in edges), None], pa.int64())
    return ints.cast(pa.int32()).cast(kind) if kind.bit_width == 32 else ints.cast(kind)


@pytest.mark.parametrize("unit", PER_SECOND)
@pytest.mark.parametrize("zone", [None, "UTC", "+05:30", "-00:45"])
def test_timestamps(unit: str, zone: str | None) -> None:
    times = random_times(pa.timestamp(unit, zone), 9 * 10**9)
    local = times
    if zone not in (None, "UTC"):  # pyarrow knows no offsets on machines without a database
        minutes = {"+05:30": 330, "-00:45": -45}[zone]
        shift = minutes * 60 * PER_SECOND[unit]
        local = pc.add(times.cast(pa.int64()), shift).cast(pa.timestamp(unit))
    elif zone is not None:
        local = times.cast(pa.int64()).cast(pa.timestamp(unit))
    check(times, local, [*PARTS])
    query = cst.Query(pa.table({"t": times})).output("d", "date(t)")
    made = pa.array(query.run(pa.table({"t": times}))["d"])
    assert made.equals(local.cast(pa.date32(), safe=False))


@pytest.mark.parametrize("kind", [pa.date32(), pa.time32("s"), pa.time32("ms"), pa.time64("us")])
def test_dates_and_times_of_day(kind: pa.DataType) -> None:
    is_date = pa.types.is_date(kind)
    times = random_times(kind, 100_000 if is_date else 86_400)
    check(times, times, [n for n in PARTS if (n in OF_DAY) != is_date])
    wrong = "hour(t)" if is_date else "year(t)"
    with pytest.raises(cst.errors.SchemaError, match="expected a"):
        cst.Query(pa.table({"t": times})).output("x", wrong).run(pa.table({"t": times}))


def check(times: pa.Array, local: pa.Array, names: list[str]) -> None:
    table = pa.table({"t": times})
    query = cst.Query(table)
    for name in names:
        query = query.output(name, f"{name}(t)")
    made = query.run(table)
    for name in names:
        assert made[name].to_pylist() == PARTS[name](local).to_pylist(), name


def test_a_zone_by_its_name_is_refused() -> None:
    table = pa.table({"t": pa.array([0], pa.timestamp("us", "Europe/Berlin"))})
    with pytest.raises(cst.errors.SchemaError, match=r"zone 'Europe/Berlin'.*\(convert the column"):
        cst.Query(table).output("h", "hour(t)").run(table)


def test_text_becomes_times() -> None:
    table = pa.table({"t": ["2024-05-01T12:30:00.25Z", None, "2024-05-01T14:30:00.25+02:00"]})
    made = cst.Query(table).output("t", "timestamp(t)").run(table)["t"]
    assert pa.array(made).type == pa.timestamp("ns", "UTC")
    first, none, second = pa.array(made).cast(pa.int64()).to_pylist()
    assert (first, none) == (1714566600250000000, None)
    assert second == first
    with pytest.raises(cst.Error, match="expected a time such as") as caught:
        bad = pa.table({"t": ["2024-05-01T12:30:00Z", "yesterday"]})
        cst.Query(bad).output("t", "timestamp(t)").run(bad)
    assert caught.value.record == 1
