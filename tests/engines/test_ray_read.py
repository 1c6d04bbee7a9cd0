"""Ray Data reads what columnstone plans: types, projections, limits, order, policies."""

from __future__ import annotations

import contextlib
import pathlib
import time
from typing import Any

import columnstone as cst
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import wide

ROWS = 300

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray warns of itself


def rows_of(begin: int, end: int) -> list[dict[str, Any]]:
    return [
        {
            "id": [i],
            "ratio": [i + 0.5],
            "name": [f"n{i}".encode()],
            "more": [i] * (i % 3),
            "words": [b"", b"w"][: i % 2 + 1],
        }
        for i in range(begin, end)
    ]


@pytest.fixture(scope="module", params=["tfrecord", "tfrecord.gz"])
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("ray")
    for part in range(3):
        rows = rows_of(part * 100, part * 100 + 100)
        cst.write(rows, folder / f"a-{part}.{request.param}")
    return str(folder / "a-*")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("plain") / "a.tfrecord"
    cst.write(rows_of(0, ROWS), path)
    return path


def table(dataset: Any) -> pa.Table:
    """The rows in the order of `id`."""
    import ray

    found = pa.concat_tables(ray.get(dataset.to_arrow_refs()))
    if found.num_columns == 0 or "id" not in found.column_names:
        return found
    key = pc.list_element(found["id"], 0)
    return found.take(pc.sort_indices(key)).combine_chunks()


def test_rows_and_types(ray_data: Any, files: str) -> None:
    dataset = cst.ray.read_tfrecords(files)
    expected = pa.table(cst.open(files, format="example")).combine_chunks()
    assert dataset.schema().base_schema == expected.schema  # known before anything is read
    assert table(dataset) == expected
    assert cst.ray.read_tfrecords(files).count() == ROWS  # of no column at all
    assert len(dataset.input_files()) == 3


@pytest.mark.parametrize("name", ["lengths", "counts", "inference", "statistics"])
def test_accumulators_find_what_they_find_in_the_files(
    ray_data: Any, plain: pathlib.Path, name: str
) -> None:
    dataset = cst.ray.read_tfrecords(plain).repartition(3)
    found = cst.ray.accumulate(dataset, name).to_pydict()
    assert found == cst.open(plain).accumulate(name).to_pydict()
    assert cst.ray.accumulate(dataset, cst.accumulate.Counts()).num_rows == ROWS


def test_no_tensorflow(ray_data: Any, plain: pathlib.Path) -> None:
    def loaded(batch: pa.Table) -> pa.Table:
        import sys

        return pa.table({"loaded": ["tensorflow" in sys.modules]})

    dataset = cst.ray.read_tfrecords(plain).map_batches(loaded, batch_format="pyarrow")
    assert not any(row["loaded"] for row in dataset.take_all())


def test_datasource(files: str, ray_data: Any) -> None:
    source = cst.ray.Datasource(files, batch_size=30, target_bytes=1 << 20)
    tasks = source.get_read_tasks(7)
    again = cst.ray.Datasource(files, batch_size=30, target_bytes=1 << 20).get_read_tasks(2)
    assert [t.metadata for t in tasks] == [t.metadata for t in again]
    read = [list(task()) for task in tasks]
    assert all(isinstance(block, pa.Table) for blocks in read for block in blocks)
    assert all(block.num_rows <= 30 for blocks in read for block in blocks)
    assert read == [list(task()) for task in again]
    assert sum(block.num_rows for blocks in read for block in blocks) == ROWS
    expected = sum(block.nbytes for blocks in read for block in blocks)
    assert source.estimate_inmemory_data_size() == pytest.approx(expected, rel=0.2)
    assert sum(task.metadata.size_bytes for task in tasks) == pytest.approx(expected, rel=0.2)
    assert type(source).__module__ == "columnstone.ray"


def test_pieces_of_files(ray_data: Any, plain: pathlib.Path) -> None:
    """A plain file is cut, and each of its rows read once."""
    dataset = cst.ray.read_tfrecords(plain, target_bytes=4000)
    assert len(cst.ray.Datasource(plain, target_bytes=4000).get_read_tasks(1)) > 4
    assert table(dataset) == pa.table(cst.open(plain)).combine_chunks()


@pytest.mark.parametrize("infers", [False, True])
def test_tasks_are_small(ray_data: Any, tmp_path: pathlib.Path, infers: bool) -> None:
    """The columns are sent once: the first task has the schema for Ray's driver."""
    paths, schema = wide.write(tmp_path)
    given = {} if infers else {"schema": schema}
    source = cst.ray.Datasource(paths, target_bytes=50_000, **given)
    first, *others = source.get_read_tasks(1)
    assert len(others) > 3
    assert first.schema == source.schema
    for task in others:
        assert len(_serialized(task)) < wide.MOST
    assert cst.ray.read_tfrecords(paths, target_bytes=50_000, **given).count() == 8


def _serialized(task: Any) -> bytes:
    from ray._private.worker import global_worker

    found: bytes = global_worker.get_serialization_context().serialize(task).to_bytes()
    return found


def test_projection(ray_data: Any, files: str) -> None:
    """What is not wanted is not even decoded."""
    dataset = cst.ray.read_tfrecords(files).select_columns(["name", "id"])
    expected = pa.table(cst.open(files, format="example", columns=["name", "id"]))
    assert table(dataset) == expected.combine_chunks()
    source = cst.ray.Datasource(files).apply_projection({"more": "more"})
    (first, *_) = source.get_read_tasks(1)
    assert first.schema.names == ["more"]
    assert {block.schema.names == ["more"] for block in first()} == {True}
    renamed = cst.ray.read_tfrecords(files).rename_columns({"id": "number"})
    assert set(renamed.columns()) == {"number", "ratio", "name", "more", "words"}
    assert renamed.select_columns(["number"]).take(1)[0].keys() == {"number"}


def test_columns_reach_the_reader(ray_data: Any, tmp_path: pathlib.Path) -> None:
    """A column whose values would be refused is not looked at, when nothing uses it."""
    schema = cst.infer_schema(_written(tmp_path / "x.tfrecord", [{"a": [1], "b": [1]}]))
    _written(tmp_path / "x.tfrecord", [{"a": [1], "b": [b"text"]}])
    dataset = cst.ray.read_tfrecords(tmp_path / "x.tfrecord", schema=schema)
    assert dataset.select_columns(["a"]).take_all()[0]["a"] == [1]
    with pytest.raises(Exception, match=r"feature 'b'"):
        dataset.take_all()


def _written(path: pathlib.Path, rows: list[dict[str, Any]]) -> pathlib.Path:
    cst.write(rows, path, overwrite=True)
    return path


def test_limits(ray_data: Any, plain: pathlib.Path) -> None:
    dataset = cst.ray.read_tfrecords(plain, flat=True, columns=["id"])
    assert len(dataset.limit(7).take_all()) == 7
    assert len(dataset.take(150)) == 150
    (task, *_) = cst.ray.Datasource(plain).get_read_tasks(1, per_task_row_limit=5)
    assert sum(block.num_rows for block in task()) == 5


def test_order(ray_data: Any, files: str) -> None:
    context = ray_data.DataContext.get_current()
    context.execution_options.preserve_order = True
    try:
        dataset = cst.ray.read_tfrecords(
            files, flat=True, columns=["id"], target_bytes=1 << 20, override_num_blocks=8
        )
        assert [row["id"] for row in dataset.take_all()] == list(range(ROWS))
    finally:
        context.execution_options.preserve_order = False


def test_other_formats_and_views(
    ray_data: Any, plain: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    expected = pa.table(cst.open(plain, format="example")).combine_chunks()
    for name in ("a.parquet", "a.arrow"):
        cst.write(expected, tmp_path / name)
        assert table(cst.ray.read(tmp_path / name)) == expected
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\n")
    assert cst.ray.read(tmp_path / "a.csv").take_all() == [{"x": 1, "y": "a"}, {"x": 2, "y": "b"}]
    view = cst.Query.from_text("from table\noutput total = dense(sum(more))\n")
    found = cst.ray.read(plain, "example", view=view).sum("total")
    assert found == sum(sum(row["more"]) for row in rows_of(0, ROWS))


def test_what_is_passed_on_to_ray(ray_data: Any, plain: pathlib.Path) -> None:
    dataset = cst.ray.read(
        plain, "example", concurrency=1, num_cpus=0.5, ray_remote_args={"max_retries": 1}
    )
    assert dataset.count() == ROWS
    with pytest.raises(cst.errors.ArgumentError, match=r"unknown option 'colums'.*columns"):
        cst.ray.read(plain, colums=["id"])


def test_damage(ray_data: Any, tmp_path: pathlib.Path) -> None:
    path = _written(tmp_path / "x.tfrecord", rows_of(0, 50))
    schema = cst.infer_schema(path)
    data = bytearray(path.read_bytes())
    data[20] ^= 255
    path.write_bytes(data)
    with pytest.raises(Exception, match=r"x\.tfrecord.*record 0"):
        cst.ray.read_tfrecords(path, schema=schema).take_all()
    kept = cst.ray.read_tfrecords(path, schema=schema, on_error="skip")
    assert sorted(row["id"][0] for row in kept.take_all()) == list(range(1, 50))
    with pytest.raises(cst.errors.CorruptError):
        cst.ray.read_tfrecords(path)


def test_nothing_to_read(ray_data: Any, tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.tfrecord").write_bytes(b"")
    schema = 'feature { name: "a" type: INT }'
    dataset = cst.ray.read_tfrecords(tmp_path / "x.tfrecord", schema=schema)
    assert dataset.count() == 0
    assert dataset.take_all() == []
    with pytest.raises(cst.errors.NotFoundError):
        cst.ray.read_tfrecords(tmp_path / "no-*.tfrecord")


def test_equality_with_the_reader_of_ray(ray_data: Any, tmp_path: pathlib.Path) -> None:
    """Which needs TensorFlow, gives one value for a list of one, and bytes for text."""
    pytest.importorskip("tensorflow")
    path = tmp_path / "a.tfrecords"
    rows = [
        {"id": [i], "ratio": [i / 4], "name": [b"n%d" % i], "pair": [i, -i]} for i in range(200)
    ]
    cst.write(rows, path)
    theirs = ray_data.read_tfrecords(str(path))
    text = pc.cast(table_by(theirs)["name"], pa.string())
    ours = table_by(cst.ray.read_tfrecords(path, flat=True))
    assert text.to_pylist() == ours["name"].to_pylist()
    for name in ("id", "ratio", "pair"):
        assert table_by(theirs)[name].to_pylist() == ours[name].to_pylist()


def table_by(dataset: Any) -> pa.Table:
    import ray

    found = pa.concat_tables(ray.get(dataset.to_arrow_refs()))
    return found.take(pc.sort_indices(found["id"]))


def test_memory_with_a_slow_consumer(ray_data: Any, tmp_path: pathlib.Path) -> None:
    """Twice the object store in batches: Ray holds the readers back, and spills next to nothing."""
    import ray
    from ray._private.internal_api import get_memory_info_reply, get_state_from_address

    ten_mib = [{"data": [bytes(1 << 20)]} for _ in range(10)]
    for part in range(4):
        with cst.Writer(tmp_path / f"a-{part}.tfrecord.zst", "example") as writer:
            for _ in range(10):
                writer.write(ten_mib)
    schema = 'feature { name: "data" type: BYTES }'
    dataset = cst.ray.read_tfrecords(str(tmp_path / "a-*"), schema=schema, max_inflation=10**6)
    state = get_state_from_address(ray.get_runtime_context().gcs_address)
    rows = most = 0
    for batch in dataset.iter_batches(batch_size=8, batch_format="pyarrow", prefetch_batches=0):
        rows += batch.num_rows
        most = max(most, _memory_of_workers())
        time.sleep(0.01)
    assert rows == 400
    spilled = get_memory_info_reply(state).store_stats.spilled_bytes_total
    assert spilled < 100 << 20
    assert most < 700 << 20


def _memory_of_workers() -> int:
    """Bytes of the largest worker, without what it shares."""
    most = 0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "comm").read_text().startswith("ray::"):
                _, resident, shared, *_ = (process / "statm").read_text().split()
                most = max(most, (int(resident) - int(shared)) * 4096)
    return most


def avro_file(path: pathlib.Path) -> None:
    """Rows 0 to 39,999 in one file of 4 MB."""
    ids = pa.array(range(40_000), pa.int64())
    text = pa.array([f"{i:080}" for i in range(40_000)])
    cst.write(pa.table({"id": ids, "text": text}), str(path), avro_codec="null")


SCHEMA_OF_AVRO = """{"type": "record", "name": "Row", "fields": [
    {"name": "number", "aliases": ["id"], "type": ["null", "double"]},
    {"name": "shop", "type": "string", "default": "IT"}]}"""


def test_avro(tmp_path: pathlib.Path) -> None:
    """A file in several tasks, by its own schema and by another, and written again."""
    avro_file(tmp_path / "a.avro")
    path = str(tmp_path / "a.avro")
    assert len({split.task for split in cst.plan(path, target_bytes=1 << 20)}) > 3
    dataset = cst.ray.read(path, target_bytes=1 << 20)
    assert sorted(row["id"] for row in dataset.take_all()) == list(range(40_000))
    other = cst.ray.read(path, target_bytes=1 << 20, avro_schema=SCHEMA_OF_AVRO)
    assert other.sum("number") == sum(range(40_000))
    sink = cst.ray.Sink(str(tmp_path / "out"), "avro", avro_codec="snappy")
    dataset.write_datasink(sink)
    again = pa.table(cst.open(str(tmp_path / "out" / "*.avro")))
    assert sorted(again["id"].to_pylist()) == list(range(40_000))
