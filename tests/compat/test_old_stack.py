"""The older stack: pyarrow 10, which has no capsules, and tfx_bsl 1.16. It has an environment of
its own (tools/requirements/compat-1.16.txt); elsewhere what needs that is skipped."""

from __future__ import annotations

import gc
import pathlib
import subprocess
import sys
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from columnstone._arrow import capsules, pointers
from columnstone.compat import tfx_bsl as compat

is_old = not hasattr(pa.Array, "__arrow_c_array__")
old = pytest.mark.skipif(not is_old, reason="pyarrow 14 and later have capsules")
new = pytest.mark.skipif(is_old, reason="of pyarrow 14 and later")

LISTS = pa.array([[1], None, [], [2, None]], pa.large_list(pa.int32()))
BATCH = pa.RecordBatch.from_arrays(
    [LISTS, pa.array(["a", None, "", "d"]), pa.array([{"x": 1.5}, None, {"x": None}, {"x": 2.0}])],
    ["lists", "text", "structs"],
)
ARRAYS = [
    pa.array([1, None, 3], pa.uint8()),
    pa.array([True, None] * 5),
    pa.array([b"x", None], pa.large_binary()),
    pa.array([], pa.float32()),
    pa.array([None, None]),
    LISTS,
    LISTS.slice(1, 2),
    BATCH.column(2),
]


class Without:
    """An object of pyarrow as it would be without capsules: what pointers are taken of."""

    def __init__(self, theirs: Any) -> None:
        self.theirs = theirs
        self._export_to_c = theirs._export_to_c

    @property
    def type(self) -> Any:
        return self.theirs.type


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.type} {len(array)}")
def test_arrays_there_and_back(array: pa.Array) -> None:
    back = pointers.to_pyarrow(cst.array(array))
    assert back.type == array.type
    assert back.to_pylist() == array.to_pylist()
    back.validate(full=True)


def test_batches_there_and_back() -> None:
    for batch in (BATCH, BATCH.slice(1, 2), BATCH.slice(4)):
        ours = cst.record_batch(batch)
        back = pointers.to_pyarrow(ours)
        assert isinstance(back, pa.RecordBatch)
        assert back.schema.equals(batch.schema)
        assert back.to_pydict() == batch.to_pydict() == ours.to_pydict()
        assert pointers.to_pyarrow(ours.schema) == batch.schema
    rows = pointers.to_pyarrow(cst.record_batch([{}, {}]))
    assert (rows.num_rows, rows.num_columns) == (2, 0)


def test_what_is_none_of_ours() -> None:
    with pytest.raises(TypeError, match="expected an Array"):
        pointers.to_pyarrow(LISTS)
    for thing in (1, [1], {"a": 1}, None, cst.array([1])):
        assert pointers.exported(thing) is thing


def test_tables_and_chunks() -> None:
    table = pa.Table.from_batches([BATCH, BATCH.slice(2)])
    assert cst.record_batch(table).num_rows == cst.concat([BATCH, BATCH.slice(2)]).num_rows == 6
    assert cst.array(table.column("text")).to_pylist() == ["a", None, "", "d", "", "d"]
    assert cst.array(pa.chunked_array([], pa.int64())).to_pylist() == []
    source = cst.open(table)
    assert [sum(b.num_rows for b in source) for _ in range(2)] == [6, 6]  # more than once
    reader = pa.RecordBatchReader.from_batches(BATCH.schema, [BATCH])
    assert cst.record_batch(reader).to_pydict() == BATCH.to_pydict()


def test_arguments() -> None:
    ours = cst.record_batch(BATCH)
    assert ours.take(pa.array([3, None])).to_pydict()["text"] == ["d", None]
    assert ours.filter(pa.array([True, False, None, True])).num_rows == 2
    assert ours["lists"].fill_null(pa.array([7], pa.int32())).to_pylist()[1] == [7]
    flat = pa.RecordBatch.from_arrays([pa.array([[1], None, [2, 3]])], ["a"])
    records = cst.encoder("example").encode(flat)
    decoder = cst.decoder("example")
    assert decoder.decode(pointers.to_pyarrow(records)).to_pydict() == flat.to_pydict()
    tensor = cst.schema.TensorRepresentation("a", "varlen_sparse", "int64", ("a",))
    adapter = cst.tensor.TensorAdapter(flat.schema, [tensor])
    assert adapter.convert(flat)["a"].values.numpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize("is_taken", [False, True])
def test_a_capsule_owns_its_structure(is_taken: bool) -> None:
    """Until somebody moves it out."""
    gc.collect()
    before = pa.total_allocated_bytes()
    array = pa.concat_arrays([LISTS, LISTS])
    wrapped = pointers._OfBatch(Without(array))
    if is_taken:
        assert cst.array(wrapped).to_pylist() == array.to_pylist()
    else:
        pair = wrapped.__arrow_c_array__()
        assert len(capsules._held) == len(pair) == 2
        del pair
    del wrapped, array
    gc.collect()
    assert not capsules._held
    assert pa.total_allocated_bytes() == before


@old
def test_functions_that_read_types() -> None:
    schema = pa.schema([("a", pa.large_list(pa.int64()))])
    assert cst.decoder("example").decode([]).to_pydict() == {}
    with pytest.raises(cst.errors.UnsupportedError, match="needs pyarrow 20 or later"):
        cst.record_batch(BATCH).to_pandas()
    assert pointers.exported(schema).__arrow_c_schema__() is not None


@old
@pytest.mark.parametrize("name", ["arrow.sql_util", "statistics.sql_util"])
def test_sql_says_that_there_is_none(name: str) -> None:
    module = __import__(f"columnstone.compat.tfx_bsl.{name}", fromlist=["x"])
    calls = [getattr(module, public) for public in module.__all__]
    for call in calls:
        with pytest.raises(RuntimeError, match=r"UNIMPLEMENTED: .*ZetaSQL"):
            call(*[None] * (3 if "Binary" in call.__name__ else 2))


@new
@pytest.mark.parametrize("name", ["arrow.sql_util", "statistics.sql_util"])
def test_sql_is_gone_with_newer_ones(name: str) -> None:
    """TFMA asks by an ImportError whether there is SQL."""
    with pytest.raises(ModuleNotFoundError, match=r"neither tfx_bsl 1\.21"):
        __import__(f"columnstone.compat.tfx_bsl.{name}")


TFDV = pathlib.Path(__file__).with_name("tfdv_run.py")


@old
def test_tfdv_finds_the_same_over_both(tmp_path: pathlib.Path) -> None:
    """TFDV's main functions, each over its own tfx_bsl and over ours, in processes of their own."""
    assert not compat.installed()
    found = {}
    for which in ("theirs", "ours"):
        way = ["-m", "columnstone.compat.tfx_bsl"] if which == "ours" else []
        done = subprocess.run(
            [sys.executable, *way, str(TFDV), which, str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        found[which] = (tmp_path / f"{which}.txt").read_text()
    assert found["ours"] == found["theirs"]
    assert found["ours"].count("== ") == 6
