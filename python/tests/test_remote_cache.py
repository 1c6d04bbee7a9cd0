"""The cache of remote files: fetched once for all processes, by every format, within its bound, and
never taken for what it is not."""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import pickle
import threading
from collections.abc import Iterator
from typing import Any

import columnstone as cst
import fsspec
import pyarrow as pa
import pytest
import servers
from columnstone._io import cache as caches
from columnstone._io.listing import open_files
from conftest import SCHEMA, tfrecord, written

TABLE = pa.table({"a": range(1000), "b": pa.array([f"text {i}" for i in range(1000)])})


FORMATS = {name: written(TABLE, name) for name in ("csv", "json", "arrow", "parquet")}
FILES = {f"t.{name}": data for name, data in FORMATS.items()}
PART = tfrecord(100)
FILES.update({f"{i}.tfrecord": tfrecord(100, 100 * i) for i in range(5)})


@pytest.fixture
def http() -> Iterator[tuple[str, servers.Behaviour]]:
    with servers.http_server() as (url, behaviour):
        behaviour.files.update(FILES)
        behaviour.etag = '"1"'
        yield url, behaviour
    caches._open.clear()


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "made" / "cache"


def copies(folder: pathlib.Path) -> list[pathlib.Path]:
    found = sorted(path for path in folder.iterdir() if path.suffix != ".lock")
    assert all(path.suffix[1:].isdigit() for path in found)  # nothing incomplete is left
    return found


def ids(source: cst.Source) -> list[int]:
    return [int(i) for batch in source.tensors() for i in batch["id"].numpy()]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format(
    http: tuple[str, servers.Behaviour], folder: pathlib.Path, format: str
) -> None:
    url = f"{http[0]}/t.{format}"
    expected = pa.table(cst.open(url))
    for _ in range(2):
        before = http[1].answers
        assert pa.table(cst.open(url, cache=folder, threads=2)).equals(expected)
        assert [path.stat().st_size for path in copies(folder)] == [len(FORMATS[format])]
    assert http[1].answers == before + 1  # for the version
    assert copies(folder)[0].read_bytes() == FORMATS[format]
    assert (
        folder.stat().st_mode & 0o777 == copies(folder)[0].stat().st_mode & 0o777 | 0o100 == 0o700
    )


def test_s3(folder: pathlib.Path) -> None:
    with servers.s3_server() as (options, behaviour):
        system = fsspec.filesystem("s3", **options)
        for name, data in FILES.items():
            system.pipe_file(f"bucket/cached/{name}", data)
        paths = "bucket/cached/*.tfrecord"
        for _ in range(2):
            source = cst.open(paths, schema=SCHEMA, filesystem=system, cache=folder)
            assert ids(source) == list(range(500))
            assert len(copies(folder)) == 5
            caches._open.clear()
        behaviour.troubles = iter(["502"] * 1000)  # of GET: the files are here
        system.invalidate_cache()
        with pytest.raises(cst.errors.FileError):
            ids(cst.open("bucket/cached/0.tfrecord", schema=SCHEMA, filesystem=system))
        name = "bucket/cached/0.tfrecord"
        assert ids(cst.open(name, schema=SCHEMA, filesystem=system, cache=folder)) == list(
            range(100)
        )


@pytest.mark.parametrize("how", ["etag", "modified"])
def test_another_version_is_fetched(
    http: tuple[str, servers.Behaviour], folder: pathlib.Path, how: str
) -> None:
    url, server = http
    for i in (0, 1):
        server.etag, server.modified = ("", "") if how == "modified" else (f'"{i}"', "")
        if how == "modified":
            server.modified = f"Wed, 0{i + 1} Jan 2025 00:00:00 GMT"
        server.files["x.tfrecord"] = tfrecord(100, 100 + 100 * i)
        source = cst.open(f"{url}/x.tfrecord", schema=SCHEMA, cache=folder)
        assert ids(source) == list(range(100 + 100 * i, 200 + 100 * i))
    assert len(copies(folder)) == 2


def test_what_tells_no_version_is_not_kept(
    http: tuple[str, servers.Behaviour], folder: pathlib.Path
) -> None:
    http[1].etag = ""
    assert ids(cst.open(f"{http[0]}/0.tfrecord", schema=SCHEMA, cache=folder)) == list(range(100))
    assert copies(folder) == []


@pytest.mark.parametrize("length", ["chunked", "none"])
def test_what_tells_no_size_is_not_kept(
    http: tuple[str, servers.Behaviour], folder: pathlib.Path, length: str
) -> None:
    url, server = http
    server.ranges, server.length = False, length
    assert pa.table(cst.open(f"{url}/t.parquet", cache=folder)).equals(TABLE)
    assert copies(folder) == []


def test_a_server_that_sends_no_parts(
    http: tuple[str, servers.Behaviour], folder: pathlib.Path
) -> None:
    http[1].ranges = False
    for _ in range(2):
        assert pa.table(cst.open(f"{http[0]}/t.parquet", cache=folder)).equals(TABLE)
        assert [path.read_bytes() for path in copies(folder)] == [FORMATS["parquet"]]


def test_a_copy_that_was_cut_is_fetched_again(
    http: tuple[str, servers.Behaviour], folder: pathlib.Path
) -> None:
    for size in (0, 5, len(PART) - 1, len(PART) + 1):
        source = cst.open(f"{http[0]}/0.tfrecord", schema=SCHEMA, cache=folder)
        assert ids(source) == list(range(100))
        (copy,) = copies(folder)
        os.truncate(copy, size)
        assert ids(source) == list(range(100))
        assert copy.read_bytes() == PART


def test_a_copy_that_is_cut_while_it_is_read(
    http: tuple[str, servers.Behaviour], folder: pathlib.Path
) -> None:
    (file,) = open_files(f"{http[0]}/0.tfrecord", None, None, caches.as_cache(folder))
    assert file.read(10) == PART[:10]
    os.truncate(copies(folder)[0], 20)
    assert file.read(10) == PART[10:20]
    with pytest.raises(cst.errors.FileError, match="was truncated"):
        file.read(10)


def test_a_download_that_fails_leaves_nothing(
    http: tuple[str, servers.Behaviour], folder: pathlib.Path
) -> None:
    url, server = http
    (file,) = open_files(f"{url}/0.tfrecord", None, None, caches.as_cache(folder))
    del server.files["0.tfrecord"]
    with pytest.raises(cst.errors.NotFoundError):
        file.read(1)
    assert copies(folder) == []
    server.files["0.tfrecord"] = PART
    server.ends_early = True
    with pytest.raises(cst.errors.FileError):
        file.read(1)
    assert copies(folder) == []
    server.ends_early = False
    assert file.read(len(PART)) == PART


def test_the_bound(http: tuple[str, servers.Behaviour], folder: pathlib.Path) -> None:
    sizes = sorted(len(FILES[f"{i}.tfrecord"]) for i in range(5))
    cache = (folder, sum(sizes[-3:]))
    assert sum(sizes[:4]) > cache[1]

    def read(i: int) -> int:
        before = http[1].answers
        source = cst.open(f"{http[0]}/{i}.tfrecord", schema=SCHEMA, cache=cache)
        assert ids(source) == list(range(100 * i, 100 * i + 100))
        assert sum(path.stat().st_size for path in copies(folder)) <= cache[1]
        for path in copies(folder):  # an hour later: clocks are coarse
            about = path.stat()
            os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns - 3600 * 10**9))
        return http[1].answers - before

    fetched = read(0)
    assert fetched > 1
    assert [read(i) for i in (1, 2, 0)] == [fetched, fetched, 1]
    assert read(3) == fetched  # in the place of 1, which was used before the others
    assert [read(i) for i in (0, 2, 3)] == [1, 1, 1]
    assert read(1) == fetched
    left = cst.open(f"{http[0]}/t.csv", cache=(folder, 100))  # which is larger than the bound
    assert pa.table(left).num_rows == 1000
    assert len(copies(folder)) == 3


def test_what_goes_while_it_is_read(
    http: tuple[str, servers.Behaviour], folder: pathlib.Path
) -> None:
    source = cst.open(f"{http[0]}/0.tfrecord", schema=SCHEMA, cache=folder, batch_size=1)
    running = iter(source)
    next(running)
    for copy in copies(folder):
        copy.unlink()
    assert len(list(running)) == 99


def test_names_hold_no_secrets(http: tuple[str, servers.Behaviour], folder: pathlib.Path) -> None:
    url = http[0].replace("http://", "http://user:password@")
    for name in ("0.tfrecord?token=secret", "0.tfrecord?token=other"):
        assert len(ids(cst.open(f"{url}/{name}", schema=SCHEMA, cache=folder))) == 100
    names = " ".join(os.listdir(folder))
    assert not any(word in names for word in ("user", "password", "secret", "tfrecord"))
    assert len(copies(folder)) == 2


def test_threads_fetch_once(http: tuple[str, servers.Behaviour], folder: pathlib.Path) -> None:
    url, server = http
    source = cst.open(f"{url}/0.tfrecord", schema=SCHEMA)
    server.answers = 0
    ids(source)
    once = server.answers
    sources = [cst.open(f"{url}/0.tfrecord", schema=SCHEMA, cache=folder) for _ in range(4)]
    server.answers = 0
    results: list[list[int]] = []
    threads = [threading.Thread(target=lambda s=s: results.append(ids(s))) for s in sources]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [list(range(100))] * 4
    assert server.answers <= once


def _read(source: cst.Source, queue: Any) -> None:
    queue.put(ids(source))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_fetch_once(
    http: tuple[str, servers.Behaviour], folder: pathlib.Path, method: str
) -> None:
    url, server = http
    source = cst.open(
        [f"{url}/{i}.tfrecord" for i in range(5)], schema=SCHEMA, cache=(folder, 10**6)
    )
    context: Any = multiprocessing.get_context(method)
    queue = context.Queue()
    children = [context.Process(target=_read, args=(source, queue)) for _ in range(3)]
    for child in children:
        child.start()
    assert [queue.get(timeout=120) for _ in children] == [list(range(500))] * 3
    for child in children:
        child.join()
    assert len(copies(folder)) == 5
    server.answers = 0
    assert ids(pickle.loads(pickle.dumps(source))) == list(range(500))
    assert server.answers == 5  # for the versions


def test_workers_of_torch(http: tuple[str, servers.Behaviour], folder: pathlib.Path) -> None:
    data = pytest.importorskip("torch.utils.data")
    paths = [f"{http[0]}/{i}.tfrecord" for i in range(5)]
    plain = cst.open(paths, schema=SCHEMA).dataset(16, shuffle=True, seed=1)
    source = cst.open(paths, schema=SCHEMA, cache=folder)
    dataset = source.dataset(16, shuffle=True, seed=1)
    expected = [batch["id"].numpy().tolist() for batch in plain]
    for workers in (0, 2):
        loader = data.DataLoader(dataset.torch(), None, num_workers=workers)
        assert [batch["id"].tolist() for batch in loader] == expected
    assert len(copies(folder)) == 5


def test_splits(http: tuple[str, servers.Behaviour], folder: pathlib.Path) -> None:
    splits = cst.plan(f"{http[0]}/0.tfrecord", target_bytes=len(PART) // 3)
    parts = [ids(cst.open(split, schema=SCHEMA, cache=folder)) for split in splits]
    assert len(parts) > 1
    assert sorted(i for part in parts for i in part) == list(range(100))
    assert len(copies(folder)) == 1


def test_what_killed_processes_left_goes(
    http: tuple[str, servers.Behaviour], folder: pathlib.Path
) -> None:
    folder.mkdir(parents=True)
    for name, age in (("a.part", 10**6), ("b.part", 0)):
        (folder / name).write_bytes(b"x")
        about = (folder / name).stat()
        os.utime(folder / name, (about.st_atime, about.st_mtime - age))
    assert len(ids(cst.open(f"{http[0]}/0.tfrecord", schema=SCHEMA, cache=folder))) == 100
    assert sorted(path.name for path in folder.glob("*.part")) == ["b.part"]


def test_a_folder_that_cannot_be_written(
    http: tuple[str, servers.Behaviour], folder: pathlib.Path
) -> None:
    (file,) = open_files(f"{http[0]}/0.tfrecord", None, None, caches.as_cache(folder))
    folder.rmdir()
    with pytest.raises(cst.errors.FileError, match="cannot keep a copy"):
        file.read(1)


def test_arguments(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for wrong in (3, (folder,), (folder, "1"), (folder, 1, 2), (folder, True)):
        with pytest.raises(TypeError, match="cache"):
            cst.open("memory://x", cache=wrong)  # type: ignore[arg-type]
    with pytest.raises(cst.errors.ArgumentError, match="0 bytes"):
        cst.open("memory://x", cache=(folder, 0))
    everybodys = tmp_path / "everybodys"
    everybodys.mkdir()
    everybodys.chmod(0o777)
    with pytest.raises(cst.errors.ArgumentError, match="other users can write"):
        cst.open("memory://x", cache=everybodys)
    path = tmp_path / "here.csv"
    path.write_text("a\n1\n")
    assert pa.table(cst.open(path, cache=folder)).to_pydict() == {"a": [1]}
    assert copies(folder) == []
