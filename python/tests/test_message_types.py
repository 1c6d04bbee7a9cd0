"""What the columns of messages become elsewhere: enums with unknown numbers, times, structs."""

from __future__ import annotations

import datetime
import functools
import json
import pathlib
from typing import Any

import columnstone as cst
import messages
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

COUNT = 60
NAMES = {0: "UNKNOWN", 1: "ONE", -1: "MINUS"}  # other numbers are their digits


@functools.cache
def message(name: str) -> Any:
    pool = descriptor_pool.DescriptorPool()
    data = (messages.FOLDER / "everything3.desc").read_bytes()
    for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"everything3.{name}"))


def numbers(i: int) -> list[int]:
    """Unknown ones come in an order of their own in every batch."""
    return [i % 3 - 1, 10 + (COUNT - i) % 7]


def enum_name(number: int) -> str:
    return NAMES.get(number, str(number))


WANT = [[enum_name(number) for number in numbers(i)] for i in range(COUNT)]


def write(path: pathlib.Path, made: list[Any]) -> pathlib.Path:
    with cst.codec.TFRecordWriter(path) as writer:
        for one in made:
            writer.write(one.SerializeToString())
    return path


@pytest.fixture
def enums(tmp_path: pathlib.Path) -> pathlib.Path:
    made = [message("Lists")(f_enum=numbers(i), f_int64=[i]) for i in range(COUNT)]
    for i, one in enumerate(made):
        one.f_message.add(f_enum=numbers(i)[1])
    return write(tmp_path / "enums.tfrecord", made)


def open_enums(path: pathlib.Path, **options: Any) -> cst.Source:
    return cst.open(
        path,
        message=message("Lists"),
        columns=["f_int64", "f_enum", "f_message.f_enum"],
        batch_size=7,
        **options,
    )


def sparse(tensor: Any) -> cst.tensor.SparseTensor:
    assert isinstance(tensor, cst.tensor.SparseTensor)
    return tensor


def check_enums(table: pa.Table, count: int = 1) -> None:
    assert table["f_enum"].to_pylist() == WANT * count
    inner = [[{"f_enum": enum_name(numbers(i)[1])}] for i in range(COUNT)]
    assert table["f_message"].to_pylist() == inner * count


@pytest.mark.parametrize("threads", [1, 4])
def test_enums_whose_dictionaries_differ(
    enums: pathlib.Path, tmp_path: pathlib.Path, threads: int
) -> None:
    table = pa.table(open_enums(enums, threads=threads))
    table.validate(full=True)
    check_enums(table)
    names = table["f_enum"].chunk(0).values.dictionary.to_pylist()
    assert names[:3] == ["UNKNOWN", "ONE", "MINUS"]  # in the order of their declaration
    for name in ("e.arrow", "e.arrows", "e.parquet", "e.jsonl"):
        assert cst.convert(open_enums(enums, threads=threads), tmp_path / name) == COUNT
        check_enums(pa.table(cst.open(tmp_path / name)))
    check_enums(pq.read_table(tmp_path / "e.parquet"))
    with ipc.open_file(tmp_path / "e.arrow") as file:
        check_enums(file.read_all())


@pytest.mark.parametrize("threads", [1, 4])
def test_enums_of_a_column(enums: pathlib.Path, tmp_path: pathlib.Path, threads: int) -> None:
    """The batches of a table are cut and joined after their messages are decoded."""
    records = [record for batch in cst.open(enums, "raw") for record in batch.to_pydict()["record"]]
    path = tmp_path / "column.parquet"
    pq.write_table(pa.table({"value": pa.array(records, pa.binary())}), path, row_group_size=4)
    source = cst.open(
        path, message=message("Lists"), message_column="value", batch_size=9, threads=threads
    )
    found = pa.table(source)
    found.validate(full=True)
    assert [row["f_enum"] for row in found["value"].to_pylist()] == WANT


def test_enums_are_joined_and_taken(enums: pathlib.Path) -> None:
    batches = list(open_enums(enums))
    check_enums(pa.table(cst.concat(batches)))
    picked = pa.record_batch(open_enums(enums).take([50, 3, 11]))
    assert picked["f_enum"].to_pylist() == [WANT[50], WANT[3], WANT[11]]


def test_enums_are_strings_in_tensors(enums: pathlib.Path) -> None:
    shuffled = open_enums(enums, threads=4).dataset(batch_size=8, shuffle=True, seed=3)
    found = [name for batch in shuffled for name in sparse(batch["f_enum"]).values.tolist()]
    assert sorted(found) == sorted(name.encode() for names in WANT for name in names)
    texts = [st["f_enum"].to_py() for st in open_enums(enums).structured()]
    assert [row for batch in texts for row in batch] == WANT
    ints = open_enums(enums, message_options={"enums": "int32"})
    assert sparse(next(ints.tensors())["f_enum"]).dtype == "int32"


def test_bools_are_bools_in_tensors(tmp_path: pathlib.Path) -> None:
    made = [message("Lists")(f_bool=[i % 2 == 0, True]) for i in range(5)]
    path = write(tmp_path / "b.tfrecord", made)
    source = cst.open(path, message=message("Lists"), columns=["f_bool"])
    tensor = sparse(next(source.tensors())["f_bool"])
    assert tensor.dtype == "bool"
    assert tensor.values.tolist() == [True, True, False, True, True, True, False, True, True, True]


# ---- times ----

TIMES = ["timestamp", "duration", "date", "time_of_day"]
TEXTS = ["2023-11-14T22:13:20.000000005Z", "-1.500s", "2024-02-29", "01:02:03.000000004"]


@pytest.fixture
def times(tmp_path: pathlib.Path) -> pathlib.Path:
    known = message("Known")()
    known.timestamp.seconds, known.timestamp.nanos = 1_700_000_000, 5
    known.duration.FromMilliseconds(-1500)
    known.date.year, known.date.month, known.date.day = 2024, 2, 29
    known.time_of_day.hours, known.time_of_day.minutes = 1, 2
    known.time_of_day.seconds, known.time_of_day.nanos = 3, 4
    known.empty.SetInParent()
    return write(tmp_path / "t.tfrecord", [known, message("Known")()])


def test_times_as_text(times: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "t.jsonl"
    cst.convert(cst.open(times, message=message("Known"), columns=TIMES), out)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert lines == [dict(zip(TIMES, TEXTS, strict=True)), dict.fromkeys(TIMES)]
    cst.convert(cst.open(times, message=message("Known"), columns=TIMES), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines()[1] == ",".join(TEXTS)


def test_times_in_files(times: pathlib.Path, tmp_path: pathlib.Path) -> None:
    want = pa.table(cst.open(times, message=message("Known"), columns=TIMES))
    for name in ("t.parquet", "t.arrow"):
        cst.convert(cst.open(times, message=message("Known"), columns=TIMES), tmp_path / name)
        assert pa.table(cst.open(tmp_path / name)).cast(want.schema).equals(want)


def test_times_in_python(times: pathlib.Path) -> None:
    options = {"timestamp_unit": "us", "time_unit": "us"}
    source = cst.open(times, message=message("Known"), columns=TIMES, message_options=options)
    (batch,) = source.structured()
    first, second = batch.to_py()
    assert first == {
        "timestamp": datetime.datetime(2023, 11, 14, 22, 13, 20, tzinfo=datetime.UTC),
        "duration": datetime.timedelta(seconds=-1.5),
        "date": datetime.date(2024, 2, 29),
        "time_of_day": datetime.time(1, 2, 3),
    }
    assert second == dict.fromkeys(TIMES)
    (batch,) = cst.open(times, message=message("Known"), columns=TIMES).structured()
    with pytest.raises(cst.errors.UnsupportedError, match="read a coarser unit"):
        batch.to_py()  # 5 and 4 nanoseconds


@pytest.mark.parametrize("name", TIMES)
def test_times_are_no_tensors(times: pathlib.Path, name: str) -> None:
    source = cst.open(times, message=message("Known"), columns=[name])
    kind = {"time_of_day": "time"}.get(name, name)
    with pytest.raises(
        cst.errors.UnsupportedError, match=f"a column of type {kind}, expected"
    ) as caught:
        next(source.tensors())
    assert caught.value.path == name


# ---- structs without fields ----


def test_structs_without_fields(times: pathlib.Path, tmp_path: pathlib.Path) -> None:
    def source() -> cst.Source:
        return cst.open(times, message=message("Known"), columns=["empty", "date"])

    want: list[Any] = [{}, None]
    cst.convert(source(), tmp_path / "e.arrow")
    assert pa.table(cst.open(tmp_path / "e.arrow"))["empty"].to_pylist() == want
    (batch,) = source().structured()
    assert batch["empty"].to_py() == want
    with pytest.raises(cst.errors.UnsupportedError, match="leave the column out") as caught:
        cst.convert(source(), tmp_path / "e.parquet")
    assert caught.value.path == "empty"
