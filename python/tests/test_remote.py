"""Files behind fsspec and pyarrow file systems: HTTP and S3 on the loopback, memory, disk."""

from __future__ import annotations

import io
import multiprocessing
import pathlib
import pickle
import uuid
import zipfile
from collections.abc import Iterator
from typing import Any

import columnstone as cst
import fsspec
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest
import servers
from conftest import SCHEMA, records, tfrecord, written

TEXTS = pa.array([f"text {i}" for i in range(1000)], pa.large_string())
TABLE = pa.table({"a": list(range(1000)), "b": TEXTS})


FILES = {
    "t.tfrecord": tfrecord(1000),
    "t.tfrecord.gz": tfrecord(1000, compression="gzip"),
    "t.csv": written(TABLE, "csv"),
    "t.jsonl": written(TABLE, "json"),
    "t.arrow": written(TABLE, "arrow"),
    "t.parquet": written(TABLE, "parquet"),
}


@pytest.fixture
def http() -> Iterator[tuple[str, servers.Behaviour]]:
    with servers.http_server() as (url, behaviour):
        behaviour.files.update(FILES)
        yield url, behaviour


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, str]]:
    """The options of an S3 file system on a server of our own, which has the bucket "bucket"."""
    with servers.s3_server() as (options, _):
        system = fsspec.filesystem("s3", **options)
        for name, data in FILES.items():
            system.pipe_file(f"bucket/data/{name}", data)
        yield options


@pytest.fixture
def s3_url(s3: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """For s3:// URLs without options, as users have them."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3["key"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3["secret"])
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3["endpoint_url"])
    monkeypatch.setitem(fsspec.config.conf, "s3", dict(s3))
    return "s3://bucket"


def expected(name: str) -> object:
    if "tfrecord" in name:
        return pa.table(cst.open(io.BytesIO(FILES[name]), schema=SCHEMA)).to_pydict()
    return TABLE.to_pydict()


def options_of(name: str) -> dict[str, Any]:
    return {"schema": SCHEMA} if "tfrecord" in name else {}


def test_http(http: tuple[str, servers.Behaviour]) -> None:
    for name in FILES:
        source = cst.open(f"{http[0]}/{name}", batch_size=300, **options_of(name))
        for _ in range(2):
            assert pa.table(source).to_pydict() == expected(name), name
        assert source.files == [f"{http[0]}/{name}"]
    both = cst.open([f"{http[0]}/t.csv", f"{http[0]}/t.csv"])
    assert both.num_rows == 2000


def test_passes_at_once(http: tuple[str, servers.Behaviour]) -> None:
    source = cst.open(f"{http[0]}/t.tfrecord", schema=SCHEMA, batch_size=100, threads=2)
    pairs = zip(source, source, strict=True)
    assert all(x.to_pydict() == y.to_pydict() for x, y in pairs)


def test_parquet_reads_parts(http: tuple[str, servers.Behaviour]) -> None:
    url, behaviour = http
    file = io.BytesIO()
    wide = {f"c{i}": [uuid.uuid4().hex for _ in range(30000)] for i in range(16)}
    cst.write(pa.table(wide), file, "parquet", compression="none")
    behaviour.files["wide.parquet"] = file.getvalue()
    source = cst.open(f"{url}/wide.parquet", columns=["c15"])
    assert sum(b.num_rows for b in source) == 30000
    first = min(int(r.split("=")[1].split("-")[0]) for r in behaviour.asked if "=0-" not in r)
    assert first > len(file.getvalue()) / 2


def test_parquet_with_threads(s3_url: str) -> None:
    with fsspec.open(f"{s3_url}/groups.parquet", "wb") as file:
        pq.write_table(TABLE, file, row_group_size=100)
    for threads in (1, 3):
        assert pa.table(cst.open(f"{s3_url}/groups.parquet", threads=threads)).equals(TABLE)


@pytest.mark.parametrize("name", FILES)
def test_http_without_ranges(http: tuple[str, servers.Behaviour], name: str) -> None:
    http[1].ranges = False
    source = cst.open(f"{http[0]}/{name}", **options_of(name))
    for _ in range(2):
        assert pa.table(source).to_pydict() == expected(name)


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("name", FILES)
def test_http_that_ends_early(http: tuple[str, servers.Behaviour], name: str, ranges: bool) -> None:
    http[1].ranges = ranges
    http[1].ends_early = True
    with pytest.raises(cst.errors.FileError) as caught:
        list(cst.open(f"{http[0]}/{name}", **options_of(name)))
    assert caught.value.file == f"{http[0]}/{name}"


def big_file(http: tuple[str, servers.Behaviour]) -> cst.Source:
    """Of 20 MB: more than a file system reads ahead."""
    file = io.BytesIO()
    with cst.codec.TFRecordWriter(file) as writer:
        for i in range(200):
            writer.write(bytes([i]) * 100_000)
    http[1].files["big"] = file.getvalue()
    return cst.open(f"{http[0]}/big", "raw")


def test_http_that_fails_for_a_while(http: tuple[str, servers.Behaviour]) -> None:
    source = big_file(http)
    http[1].failures = 5
    assert source.num_rows == 200
    http[1].failures = 6
    with pytest.raises(cst.errors.FileError, match=r"500.*tried 6 times"):
        list(source)
    assert source.num_rows == 200  # the next pass works


def test_file_that_shrinks(http: tuple[str, servers.Behaviour]) -> None:
    source = big_file(http)
    http[1].files["big"] = http[1].files["big"][:-1_000_000]
    with pytest.raises(cst.errors.FileError):
        list(source)


def test_nothing_there(http: tuple[str, servers.Behaviour], s3_url: str) -> None:
    for url in (
        f"{http[0]}/none.tfrecord",
        f"{s3_url}/none.tfrecord",
        f"{s3_url}/none-*.tfrecord",
        "s3://no-such-bucket/x",
        "memory://none",
        "nosuchscheme://x",
    ):
        with pytest.raises((cst.errors.NotFoundError, cst.errors.UnsupportedError)):
            cst.open(url)
    with pytest.raises(cst.errors.FileError):
        cst.open("http://127.0.0.1:1/x.csv")


def test_signatures_are_not_shown(http: tuple[str, servers.Behaviour]) -> None:
    source = cst.open(f"{http[0]}/t.csv?signature=secret")
    assert pa.table(source).equals(TABLE)
    assert "secret" not in repr(source)
    with pytest.raises(cst.errors.NotFoundError) as caught:
        cst.open(f"{http[0]}/none.csv?signature=secret")
    assert "secret" not in str(caught.value)
    http[1].failures = 6
    with pytest.raises(cst.errors.FileError, match="500") as other:
        cst.open(f"{http[0]}/t.csv?signature=secret")
    assert "secret" not in str(other.value)


@pytest.mark.parametrize("name", FILES)
def test_s3(s3: dict[str, str], s3_url: str, name: str) -> None:
    arrow = pyarrow.fs.S3FileSystem(
        access_key=s3["key"],
        secret_key=s3["secret"],
        endpoint_override=s3["endpoint_url"],
        region="us-east-1",
    )
    path = f"bucket/data/{name}"
    for source in (
        cst.open(f"s3://{path}", batch_size=300, threads=2, **options_of(name)),
        cst.open(path, filesystem=fsspec.filesystem("s3", **s3), **options_of(name)),
        cst.open(path, filesystem=arrow, **options_of(name)),
    ):
        assert pa.table(source).to_pydict() == expected(name)
        copy = pickle.loads(pickle.dumps(source))
        assert pa.table(copy).to_pydict() == expected(name)


def test_globs(s3_url: str) -> None:
    system = fsspec.filesystem("s3")
    for i in (2, 0, 1):
        system.pipe_file(f"bucket/shards/x-{i}.tfrecord", tfrecord(10, first=10 * i))
    source = cst.open(f"{s3_url}/shards/x-*.tfrecord", schema=SCHEMA)
    assert source.files == [f"s3://bucket/shards/x-{i}.tfrecord" for i in range(3)]
    assert pa.table(source)["id"].to_pylist() == [[i] for i in range(30)]


def test_rows_at_random(s3_url: str) -> None:
    source = cst.open(f"{s3_url}/data/t.tfrecord", schema=SCHEMA)
    assert source[[700, 3, 999]]["id"].to_pylist() == [[700], [3], [999]]
    assert source[-1]["id"].to_pylist() == [[999]]
    assert pa.table(source[10:12])["id"].to_pylist() == [[10], [11]]
    assert pa.table(source.split(1, 2))["id"].to_pylist()[-1] == [999]


@pytest.mark.parametrize("ending", ["tfrecord", "csv", "jsonl.gz", "arrow", "parquet"])
def test_writing(s3_url: str, ending: str) -> None:
    url = f"{s3_url}/out/{uuid.uuid4().hex}.{ending}"
    system = fsspec.filesystem("s3")
    assert cst.write(cst.open(TABLE, batch_size=100), url) == 1000
    system.invalidate_cache()
    read = pa.table(cst.open(url))
    assert read.num_rows == 1000
    if ending.endswith("gz"):
        assert system.cat_file(url)[:2] == b"\x1f\x8b"


@pytest.mark.parametrize(
    ("ending", "rows"),
    [("tfrecord", 1000), ("csv", 1000), ("parquet", 1000), ("tfrecord", 2_000_000)],
)
def test_given_up(s3_url: str, ending: str, rows: int) -> None:
    """Also when parts of the file have been sent: s3fs sends 50 MB at a time."""
    url = f"{s3_url}/given-up/x.{ending}"
    table = pa.table({"a": range(rows)})
    with pytest.raises(ZeroDivisionError), cst.Writer(url) as writer:
        writer.write(table)
        raise ZeroDivisionError
    del writer
    system = fsspec.filesystem("s3")
    system.invalidate_cache()
    assert not system.exists(url)


def test_record_writer(s3_url: str) -> None:
    url = f"{s3_url}/records/x.tfrecord.gz"
    with cst.codec.TFRecordWriter(url) as writer:
        for r in records(5):
            writer.write(r)
    assert pa.table(cst.open(url, schema=SCHEMA)).num_rows == 5
    with (
        pytest.raises(ZeroDivisionError),
        cst.codec.TFRecordWriter(f"{s3_url}/records/y.tfrecord") as w,
    ):
        w.write(b"x")
        raise ZeroDivisionError
    assert not fsspec.filesystem("s3").exists(f"{s3_url}/records/y.tfrecord")


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_other_file_systems(tmp_path: pathlib.Path, kind: str) -> None:
    url = f"memory://{uuid.uuid4().hex}" if kind == "memory" else f"file://{tmp_path}"
    cst.write(TABLE, f"{url}/t.csv")
    assert pa.table(cst.open(f"{url}/t.csv")).equals(TABLE)
    assert pa.table(cst.open(f"{url}/*.csv")).equals(TABLE)
    with pytest.raises(ZeroDivisionError), cst.Writer(f"{url}/u.arrow") as writer:
        writer.write(TABLE)
        raise ZeroDivisionError
    with pytest.raises(cst.errors.NotFoundError):
        cst.open(f"{url}/u.arrow")
    assert list(tmp_path.iterdir()) == ([tmp_path / "t.csv"] if kind == "file" else [])
    local = pyarrow.fs.LocalFileSystem()
    (tmp_path / "v.tfrecord").write_bytes(FILES["t.tfrecord"])
    source = cst.open(str(tmp_path / "v*.tfrecord"), filesystem=local, schema=SCHEMA)
    assert source.num_rows == 1000


def test_writing_wrongly(http: tuple[str, servers.Behaviour]) -> None:
    with pytest.raises(cst.errors.ArgumentError, match="format"):
        cst.Writer("memory://x/data")
    with pytest.raises(cst.errors.ArgumentError):
        cst.Writer("memory://x/data.csv", num_shards=3)
    with pytest.raises(cst.Error):
        cst.write(TABLE, f"{http[0]}/t.csv")


def rows_of(source: cst.Source) -> int:
    return sum(b.num_rows for b in source)


def test_spawned_process(http: tuple[str, servers.Behaviour], s3: dict[str, str]) -> None:
    sources = [
        cst.open(f"{http[0]}/t.tfrecord", schema=SCHEMA),
        cst.open("bucket/data/t.parquet", filesystem=fsspec.filesystem("s3", **s3)),
    ]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(rows_of, sources) == [1000, 1000]


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(cst.errors.UnsupportedError, match=r"'columnstone\[remote\]'"):
        cst.open("s3://bucket/x")


def test_a_file_of_an_archive_is_limited(tmp_path: pathlib.Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", b"\0" * 70_000_000)
    url = f"zip://a.txt::file://{tmp_path}/a.zip"
    options = {"container": "lines", "format": "raw"}
    with pytest.raises(cst.errors.LimitError, match="bytes of an archive expand to") as caught:
        list(cst.open(url, **options))
    assert "max_inflation" in str(caught.value.hint)
    assert [b.num_rows for b in cst.open(url, **options, max_inflation=2000)] == [1]


def read_in_worker(paths: list[str], options: dict[str, Any]) -> None:
    """With sources that were opened, and read, in the process before."""
    torch_data = pytest.importorskip("torch.utils.data")
    for path in paths:
        source = cst.open(path, columns=["a"], flat=True, **options)
        ds = source.dataset(100, shuffle=False)
        here = [n for batch in ds.torch() for n in batch["a"].flatten().tolist()]
        loader = torch_data.DataLoader(
            ds.torch(), batch_size=None, num_workers=2, multiprocessing_context="fork"
        )
        for _ in range(2):
            found = [n for batch in loader for n in batch["a"].flatten().tolist()]
            assert found == here, path
        assert pa.table(source).num_rows == len(here)  # the process before goes on


@pytest.mark.filterwarnings("ignore")  # a process of several threads is forked
def test_workers_that_are_forked(
    http: tuple[str, servers.Behaviour], tmp_path: pathlib.Path
) -> None:
    url, behaviour = http
    behaviour.files["x.tfrecord"] = example_file()
    names = ["x.tfrecord", "t.csv", "t.jsonl", "t.arrow", "t.parquet"]
    read_in_worker([f"{url}/{name}" for name in names], {})


@pytest.mark.filterwarnings("ignore")
def test_workers_that_are_forked_read_s3(s3: dict[str, str], s3_url: str) -> None:
    system = fsspec.filesystem("s3", **s3)
    system.pipe("bucket/x.tfrecord", example_file())
    read_in_worker(["bucket/x.tfrecord"], {"filesystem": system})


def example_file() -> bytes:
    file = io.BytesIO()
    cst.write(TABLE, file, "example")
    return file.getvalue()


def test_a_file_system_that_is_not_opened_again() -> None:
    """In a process that was forked: the error says what to do."""
    from columnstone._io.forks import reopened

    class Odd:
        def __init__(self) -> None:
            self.storage_args = ("unknown",)
            self.storage_options: dict[str, Any] = {}

    with pytest.raises(cst.errors.StateError, match=r"a/b: .*before this process .*spawn"):
        reopened(Odd(), "odd://user:secret@host/a/b")
