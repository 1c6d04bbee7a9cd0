"""Our own copies of SQLite, zstd, LZ4 and ISA-L, beside those of others in one process."""

from __future__ import annotations

import gzip
import pathlib
import re
import sqlite3
import subprocess
import sys
import threading

import columnstone as cst
import pyarrow as pa
import pyarrow.ipc
import pytest

ROWS = {"number": list(range(5000)), "text": [f"text {i % 77}" for i in range(5000)]}


def test_nothing_but_the_c_library_is_needed() -> None:
    folder = pathlib.Path(cst.__file__).parent
    known = {"libcolumnstone.so.0", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
    known |= {
        "libdl.so.2",
        "libpthread.so.0",
        "ld-linux-aarch64.so.1",
    }  # of older C libraries, or Arm
    files = [
        *folder.glob("_core*.so"),
        *(folder / "lib").glob("*.so.*"),
        folder / "bin" / "columnstone",
    ]
    assert len(files) == 3
    for file in files:
        done = subprocess.run(["readelf", "-d", file], check=True, capture_output=True, text=True)
        assert set(re.findall(r"NEEDED.*\[(.*)\]", done.stdout)) <= known, file


def use(folder: pathlib.Path, turns: int) -> None:
    """The same work, by ours and by theirs in turn."""
    folder.mkdir()
    theirs = sqlite3.connect(folder / "theirs.db")
    theirs.execute("CREATE TABLE seen(turn INTEGER) STRICT")
    table = pa.table(ROWS)
    with cst.lineage.open(folder / "ours.db", create=True) as ours:
        for turn in range(turns):
            ours.add("Turn", name=f"turn{turn}", properties={"turn": turn})
            with theirs:
                theirs.execute("INSERT INTO seen VALUES(?)", (turn,))
            for codec in ("zstd", "lz4"):
                path = folder / f"{codec}.arrow"
                options = pa.ipc.IpcWriteOptions(compression=codec)
                with pa.ipc.new_file(path, table.schema, options=options) as writer:
                    writer.write_table(table)
                with cst.open(path) as source:
                    assert pa.table(source).to_pydict() == ROWS
            with cst.codec.TFRecordWriter(folder / "records.gz") as records:
                for row in range(100):
                    records.write(b"%d" % row)
            with gzip.open(folder / "records.gz") as packed:
                assert packed.read().count(b"\0\0\0") > 0
        assert [a.properties["turn"] for a in ours.find(type="Turn")] == list(range(turns))
        assert ours.check() == []
    count = theirs.execute("SELECT count(*), max(turn) FROM seen").fetchone()
    assert count == (turns, turns - 1)
    assert theirs.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    theirs.close()


def test_one_process_has_two_of_each(tmp_path: pathlib.Path) -> None:
    failed: list[BaseException] = []

    def run(number: int) -> None:
        try:
            use(tmp_path / str(number), 8)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


@pytest.mark.parametrize("codec", ["bzip2", "xz"])
def test_many_threads_load_a_library_at_once(codec: str, tmp_path: pathlib.Path) -> None:
    """In a process of its own, where it is not loaded yet."""
    made = tmp_path / "made.avro"
    cst.write(pa.table(ROWS), str(made), avro_codec=codec)
    script = """
import sys, threading, columnstone as cst
counts, begin = [], threading.Barrier(8)
def read():
    begin.wait()
    with cst.open(sys.argv[1]) as source:
        counts.append(sum(batch.num_rows for batch in source))
threads = [threading.Thread(target=read) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
assert counts == [5000] * 8, counts
"""
    subprocess.run([sys.executable, "-c", script, made], check=True)
