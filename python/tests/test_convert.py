"""convert: every pair of formats."""

from __future__ import annotations

import io
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from conftest import SCHEMA, MakeFile

ENDINGS = {
    "example": "tfrecord",
    "csv": "csv",
    "json": "jsonl",
    "arrow": "arrow",
    "arrows": "arrows",
    "parquet": "parquet",
}
TABLE = pa.table(
    {
        "f": pa.array([0.5, None, -2.0], pa.float32()),
        "i": pa.array([2**62 + 1, 0, -(2**63)], pa.int64()),
        "s": pa.array(["x", "ü,\n€", None], pa.large_string()),
    }
)
VALUES = [[0.5, None, -2.0], [2**62 + 1, 0, -(2**63)], [b"x", "ü,\n€".encode(), None]]


def flat(value: Any) -> Any:
    """A value as bytes or a number: a list of one is its item."""
    if isinstance(value, list):
        assert len(value) == 1
        value = value[0]
    return value.encode() if isinstance(value, str) else value


def values_of(table: pa.Table) -> list[list[Any]]:
    return [[flat(v) for v in table[name].to_pylist()] for name in ("f", "i", "s")]


@pytest.mark.parametrize("to", ENDINGS)
@pytest.mark.parametrize("source", ENDINGS)
def test_every_pair(tmp_path: pathlib.Path, source: str, to: str) -> None:
    first = tmp_path / f"in.{ENDINGS[source]}"
    second = tmp_path / f"out.{ENDINGS[to]}"
    assert cst.write(TABLE, first) == 3
    assert cst.convert(first, second) == 3
    assert values_of(pa.table(cst.open(second))) == VALUES
    assert cst.convert(second, first, threads=2, batch_size=2, overwrite=True) == 3  # and back
    assert values_of(pa.table(cst.open(first))) == VALUES


TYPES_KEPT = {"arrow", "arrows", "parquet"}


@pytest.mark.parametrize("source", sorted(TYPES_KEPT))
@pytest.mark.parametrize("to", sorted(TYPES_KEPT))
def test_types_are_kept(tmp_path: pathlib.Path, source: str, to: str) -> None:
    table = TABLE.append_column("n", pa.array([[{"a": [1]}], [], None]))
    cst.write(table, tmp_path / "in", source)
    assert cst.convert(tmp_path / "in", tmp_path / "out", to=to) == 3
    format = "parquet" if to == "parquet" else "arrow"
    assert pa.table(cst.open(tmp_path / "out", format)).to_pydict() == table.to_pydict()


SEQUENCES = pa.table(
    {
        "id": pa.array([[1], [2], None], pa.large_list(pa.int64())),
        "##SEQUENCE##": pa.array(
            [{"x": [[1, 2], []], "w": [[b"a"]]}, {"x": [], "w": None}, {"x": None, "w": [[b"b"]]}],
            pa.struct(
                [
                    ("w", pa.large_list(pa.large_list(pa.large_binary()))),
                    ("x", pa.large_list(pa.large_list(pa.int64()))),
                ]
            ),
        ),
    }
)


@pytest.mark.parametrize("to", ["sequence_example", "arrow", "arrows", "parquet", "json"])
def test_sequences(tmp_path: pathlib.Path, to: str) -> None:
    first, second, third = (tmp_path / name for name in ("in.tfrecord", "between", "out.tfrecord"))
    assert cst.write(SEQUENCES, first, "sequence_example") == 3
    assert cst.convert(first, second, to=to) == 3
    options: dict[str, Any] = {}
    if to == "json":  # which does not know bytes from text
        options["types"] = pa.table(cst.open(first)).schema
    assert cst.convert(second, third, format=to, to="sequence_example", **options) == 3
    assert pa.table(cst.open(third)).to_pydict() == SEQUENCES.to_pydict()


@pytest.mark.parametrize("to", ["example", "csv"])
def test_sequences_do_not_fit(tmp_path: pathlib.Path, to: str) -> None:
    cst.write(SEQUENCES, tmp_path / "in.tfrecord", "sequence_example")
    with pytest.raises(cst.errors.UnsupportedError) as caught:
        cst.convert(tmp_path / "in.tfrecord", tmp_path / "out", to=to)
    assert caught.value.path is not None and caught.value.path.startswith("##SEQUENCE##")
    assert cst.convert(tmp_path / "in.tfrecord", tmp_path / "c", to="json", columns=["id"]) == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c", "in.tfrecord"]


@pytest.mark.parametrize("to", ["raw", "arrow", "parquet", "json", "csv"])
def test_raw_records(make_file: MakeFile, tmp_path: pathlib.Path, to: str) -> None:
    first = make_file("in.tfrecord", 20)
    assert cst.convert(first, tmp_path / "between", format="raw", to=to) == 20
    types = {"types": pa.schema([("record", pa.large_binary())])} if to in ("json", "csv") else {}
    assert cst.convert(tmp_path / "between", tmp_path / "o", format=to, to="raw", **types) == 20
    assert (tmp_path / "o").read_bytes() == first.read_bytes()


def test_by_name(make_file: MakeFile, tmp_path: pathlib.Path) -> None:
    """TFRecords stay what they were read as."""
    first = make_file("in.tfrecord", 5)
    assert cst.convert(first, tmp_path / "raw.tfrecord", format="raw") == 5
    assert (tmp_path / "raw.tfrecord").read_bytes() == first.read_bytes()
    cst.write(SEQUENCES, tmp_path / "s", "sequence_example")
    assert cst.convert(tmp_path / "s", tmp_path / "s.tfrecord", format="sequence_example") == 3
    assert (tmp_path / "s.tfrecord").read_bytes() == (tmp_path / "s").read_bytes()
    assert cst.convert(first, tmp_path / "t.csv.gz", columns=["id"]) == 5
    assert (tmp_path / "t.csv.gz").read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize(
    ("to", "values", "rounded"),
    [
        ("example", [0.5, 0.1], [[0.5], [pytest.approx(0.1)]]),
        ("csv", [[1], []], [1, None]),
    ],
)
def test_lossy(tmp_path: pathlib.Path, to: str, values: list[Any], rounded: list[Any]) -> None:
    table = pa.table({"k": [1, 2], "bad": values})
    out = tmp_path / "out"
    with pytest.raises(cst.errors.UnsupportedError, match="bad") as caught:
        cst.convert(table, out, to=to)
    assert caught.value.path == "bad" and caught.value.record == 1
    assert not out.exists()
    assert cst.convert(table, out, to=to, lossy=True) == 2
    assert pa.table(cst.open(out, to))["bad"].to_pylist() == rounded


@pytest.mark.parametrize("to", ["csv", "example"])
def test_types_that_do_not_fit(tmp_path: pathlib.Path, to: str) -> None:
    table = pa.table({"bad": pa.array([(1, 2, 3)], pa.month_day_nano_interval())})
    with pytest.raises(cst.errors.UnsupportedError, match="bad"):
        cst.convert(table, tmp_path / "out", to=to)
    assert list(tmp_path.iterdir()) == []


def test_schema(make_file: MakeFile, tmp_path: pathlib.Path) -> None:
    first = make_file("in.tfrecord", 100)
    before = pa.table(cst.open(first, schema=SCHEMA))
    for name in ("a.jsonl", "a.parquet", "a.arrow"):
        assert cst.convert(first, tmp_path / name, schema=SCHEMA) == 100
        again = tmp_path / "again.tfrecord"
        assert cst.convert(tmp_path / name, again, schema=SCHEMA, overwrite=True) == 100
        assert pa.table(cst.open(again, schema=SCHEMA)).equals(before)


def test_inputs_and_outputs(file: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = io.BytesIO()
    source = cst.open(file, schema=SCHEMA, columns=["id"])
    assert cst.convert(source, out, to="json") == 100
    assert json.loads(out.getvalue().splitlines()[7]) == {"id": [7]}
    with pytest.raises(cst.errors.ArgumentError, match="columns"):
        cst.convert(source, out, to="json", columns=["id"])
    assert cst.convert(io.BytesIO(out.getvalue()), tmp_path / "x.parquet", format="json") == 100
    assert cst.convert([file, file], tmp_path / "y.tfrecord.gz") == 200
    with pytest.raises(cst.errors.NotFoundError):
        cst.convert(tmp_path / "none", tmp_path / "z.csv")
    with pytest.raises(cst.errors.NotFoundError):
        cst.convert(file, tmp_path / "z.unknown")
    assert not list(tmp_path.glob("z*"))


def test_no_rows(tmp_path: pathlib.Path) -> None:
    for ending in ENDINGS.values():
        if ending == "tfrecord":
            continue
        out = tmp_path / f"out.{ending}"
        assert cst.convert(TABLE.slice(0, 0), out) == 0
        assert out.exists()


def test_failure_in_the_middle(file: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = bytearray(file.read_bytes())
    data[-5] ^= 1
    file.write_bytes(data)
    out = tmp_path / "out.parquet"
    with pytest.raises(cst.errors.CorruptError):
        cst.convert(file, out, schema=SCHEMA, batch_size=10)
    assert not out.exists()
    assert cst.convert(file, out, schema=SCHEMA, on_error="skip") == 99


def test_progress(file: pathlib.Path, tmp_path: pathlib.Path) -> None:
    seen: list[tuple[int, int]] = []

    def progress(read: int, rows: int) -> None:
        seen.append((read, rows))

    out = tmp_path / "out.jsonl"
    assert cst.convert(file, out, schema=SCHEMA, batch_size=30, progress=progress) == 100
    assert [rows for _, rows in seen] == [30, 60, 90, 100]
    assert seen[-1][0] == file.stat().st_size

    def stop(read: int, rows: int) -> None:
        raise KeyboardInterrupt

    out.unlink()
    with pytest.raises(KeyboardInterrupt):
        cst.convert(file, out, schema=SCHEMA, progress=stop)
    assert not out.exists()


def test_bar(file: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from columnstone._api import convert

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(convert, "_SECONDS", 0.0)
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        cst.convert(
            file,
            tmp_path / "o.csv",
            columns=["id"],
            batch_size=20,
            progress=True,
            overwrite=True,
        )
        text = stream.getvalue()
        assert ("100 rows" in text and "/s" in text) == shown
        assert shown or text == ""
    monkeypatch.setattr(sys, "stderr", Terminal())
    bar = convert._Bar(4_000_000)
    bar(1_000_000, 70)
    assert "1.0 MB, 70 rows" in sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "25 %, 0:00 left" in sys.stderr.getvalue()  # type: ignore[attr-defined]


def test_shards(file: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for ending in ("tfrecord", "parquet", "csv"):
        out = tmp_path / f"out.{ending}"
        options = {"batch_size": 10, "columns": ["id"]}
        assert cst.convert(file, out, num_shards=4, **options) == 100
        names = sorted(p.name for p in tmp_path.glob(f"out-*.{ending}"))
        assert names == [f"out-{i:05}-of-00004.{ending}" for i in range(4)]
        read = pa.table(cst.open(tmp_path / f"out-*.{ending}"))
        assert sorted(flat(v) for v in read["id"].to_pylist()) == list(range(100))


@pytest.mark.parametrize("ending", ["tfrecord", "parquet", "arrow"])
def test_shards_grow_evenly(tmp_path: pathlib.Path, ending: str) -> None:
    """The batches that convert chooses are cut, into pieces of at least 1,024 rows; one that the
    caller chooses goes to a shard as a whole."""
    numbers = pa.table({"a": range(20_000), "b": [[str(i)] for i in range(20_000)]})
    cst.write(numbers, tmp_path / "in.arrow")

    def sizes(name: str, **options: Any) -> list[int]:
        cst.convert(tmp_path / "in.arrow", tmp_path / f"{name}.{ending}", num_shards=3, **options)
        shards = [pa.table(cst.open(p)) for p in sorted(tmp_path.glob(f"{name}-*.{ending}"))]
        pairs = [(flat(r["a"]), int(flat(r["b"]))) for t in shards for r in t.to_pylist()]
        assert sorted(pairs) == [(i, i) for i in range(20_000)]
        return [shard.num_rows for shard in shards]

    even = sizes("even", threads=2)
    assert sum(even) == 20_000 and max(even) - min(even) <= 2 * 1024
    assert sizes("whole", batch_size=16_384) == [16_384, 3616, 0]


MEMORY = """
import sys
import columnstone as cst
cst.convert(sys.argv[1], sys.argv[2], schema=sys.argv[3] or None, threads=2)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(status["VmHWM"].split()[0])  # getrusage counts what the parent had as well
"""


@pytest.mark.parametrize("ending", ["jsonl", "arrow", "tfrecord"])
def test_bounded_memory(tmp_path: pathlib.Path, ending: str) -> None:
    """A 200 MB file goes through a fraction of that."""
    first = tmp_path / "in.tfrecord"
    schema = 'feature { name: "b" type: BYTES }'
    batch = pa.table({"b": [os.urandom(75).hex().encode()] * 1000})
    with cst.Writer(first) as writer:
        for _ in range(1200):
            writer.write(batch)
    assert first.stat().st_size > 200_000_000
    command = [sys.executable, "-c", MEMORY, str(first), str(tmp_path / f"out.{ending}"), schema]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) * 1024 < 190_000_000
