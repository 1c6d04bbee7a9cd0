"""Columns as numpy arrays, batches and sources as data frames."""

import datetime
import pathlib

import columnstone as cst
import pytest

np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")


def column(values: list, type: "pa.DataType") -> cst.arrow.Array:
    return cst.array(pa.array(values, type))


@pytest.mark.parametrize(
    ("values", "type", "expected"),
    [
        ([1, 2, 3], pa.int64(), np.array([1, 2, 3], np.int64)),
        ([1, 2, 3], pa.uint8(), np.array([1, 2, 3], np.uint8)),
        ([0.5, 2.0], pa.float32(), np.array([0.5, 2.0], np.float32)),
        ([True, False, True], pa.bool_(), np.array([True, False, True])),
        (["a", None, "ü"], pa.string(), np.array(["a", None, "ü"], object)),
        ([b"a", b""], pa.large_binary(), np.array([b"a", b""], object)),
        ([[1, 2], [3, 4]], pa.list_(pa.int64()), np.array([[1, 2], [3, 4]])),
        ([[1], [3]], pa.large_list(pa.float32()), np.array([[1], [3]], np.float32)),
        ([[1, 2], [3, 4]], pa.list_(pa.int8(), 2), np.array([[1, 2], [3, 4]], np.int8)),
        ([[[1], [2]]], pa.list_(pa.list_(pa.int32())), np.array([[[1], [2]]], np.int32)),
        ([], pa.list_(pa.int64()), np.empty((0, 0), np.int64)),
        ([0, 86_400], pa.timestamp("s"), np.array([0, 86_400]).astype("M8[s]")),
        ([1, 2], pa.timestamp("us", "UTC"), np.array([1, 2]).astype("M8[us]")),
        ([1, 2], pa.date32(), np.array([1, 2]).astype("M8[D]")),
        ([1, 2], pa.duration("ms"), np.array([1, 2]).astype("m8[ms]")),
        ([None, None], pa.null(), np.array([None, None], object)),
        ([{"a": 1}], pa.struct({"a": pa.int8()}), np.array([{"a": 1}], object)),
    ],
)
def test_a_column_has_its_own_type_in_numpy(values, type, expected) -> None:
    made = np.asarray(column([values[0] if values else None, *values], type).slice(1))
    if values and values[0] is None:
        made = np.asarray(column(values, type))
    assert made.dtype == expected.dtype
    assert made.shape == expected.shape
    assert (made == expected).all()


def test_nulls_are_said_or_refused() -> None:
    for type_ in (pa.int64(), pa.float64(), pa.bool_(), pa.list_(pa.int64()), pa.date32()):
        nulls = column([None, None], type_)
        with pytest.raises(cst.errors.ArgumentError, match="2 of 2 values are null"):
            np.asarray(nulls)
        assert np.asarray(nulls, object).tolist() == [None, None]
    inside = column([[1, None]], pa.list_(pa.int64()))
    with pytest.raises(cst.errors.ArgumentError, match="1 of 2 values are null"):
        np.asarray(inside)
    assert np.asarray(inside, object)[0] == [1, None]


def test_lists_of_several_lengths_are_refused() -> None:
    ragged = column([[1], [2, 3]], pa.list_(pa.int64()))
    with pytest.raises(cst.errors.ArgumentError, match="the lists have 1 to 2 values"):
        np.asarray(ragged)
    assert np.asarray(ragged, dtype=object).tolist() == [[1], [2, 3]]


def test_memory_is_shared_where_it_can_be() -> None:
    numbers = column([1, 2, 3], pa.int64())
    lists = column([[1, 2], [3, 4]], pa.list_(pa.int64()))
    for shared in (numbers, lists):
        first, second = np.asarray(shared), np.asarray(shared)
        assert np.shares_memory(first, second)
        assert not first.flags.writeable
        assert np.array(shared).flags.writeable
        assert not np.shares_memory(np.array(shared), first)
        assert shared.__array__(copy=True).flags.writeable
        assert shared.__array__(np.float64).dtype == np.float64
        with pytest.raises(ValueError, match="without a copy"):
            shared.__array__(np.float64, copy=False)
    with pytest.raises(ValueError, match="without a copy"):
        column(["a"], pa.string()).__array__(copy=False)


def test_a_data_frame_has_the_types_of_arrow(tmp_path: pathlib.Path) -> None:
    pd = pytest.importorskip("pandas")
    table = pa.table(
        {
            "n": pa.array([1, None, 2**60 + 1]),
            "s": ["x", None, ""],
            "l": [[1], None, []],
            "t": [datetime.date(2024, 1, 1), None, datetime.date(1960, 2, 29)],
        }
    )
    cst.write(table, tmp_path / "x.arrow")
    for frame in (
        cst.open(tmp_path / "x.arrow", batch_size=2).to_pandas(),
        cst.record_batch(table).to_pandas(),
    ):
        assert isinstance(frame, pd.DataFrame)
        assert frame.n.dtype == pd.ArrowDtype(pa.int64())
        assert frame.n[2] == 2**60 + 1
        assert pa.Table.from_pandas(frame, preserve_index=False).to_pydict() == table.to_pydict()
    assert cst.open(tmp_path / "x.arrow", columns=["s"]).to_pandas().columns.tolist() == ["s"]


def test_what_exists_is_not_overwritten_unless_told(tmp_path: pathlib.Path) -> None:
    batch = cst.record_batch(pa.record_batch({"a": [1, 2, 3]}))
    path = tmp_path / "x.csv"
    assert cst.write(batch, path) == 3
    before = path.read_bytes()
    for call in (
        lambda: cst.write(batch.slice(1), path),
        lambda: cst.convert(cst.open(path), path),
        lambda: cst.convert(path, str(path)),
        lambda: cst.write(batch, f"file://{path}"),
    ):
        with pytest.raises(cst.errors.FileError, match=r"the output exists .*overwrite=True"):
            call()
        assert path.read_bytes() == before
    assert cst.write(batch.slice(1), path, overwrite=True) == 2
    assert cst.convert(cst.record_batch(batch), path, overwrite=True) == 3
    with cst.Writer(path) as writer:  # as a file that is opened for writing
        writer.write(batch.slice(2))
    assert cst.open(path).num_rows == 1


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.a.csv", "x", "[x].csv"])
def test_shards_are_not_overwritten_unless_told(tmp_path: pathlib.Path, name: str) -> None:
    batch = cst.record_batch(pa.record_batch({"a": [1, 2, 3]}))
    cst.write(batch, tmp_path / name, "csv", num_shards=2)
    files = sorted(tmp_path.iterdir())
    with pytest.raises(cst.errors.FileError, match="the output exists"):
        cst.write(batch, tmp_path / name, "csv", num_shards=3)
    assert sorted(tmp_path.iterdir()) == files
    cst.write(batch, tmp_path / name, "csv", num_shards=2, overwrite=True)
    cst.write(batch, tmp_path / name, "csv")  # another file
