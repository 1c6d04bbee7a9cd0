"""The command-line program of the installed package: Parquet by a program with pyarrow."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import columnstone as cst
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from program import CLI, needs_program, run

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"

pytestmark = needs_program

TABLE = pa.table(
    {
        "i": pa.array([1, None, 3] * 1000),
        "l": pa.array([["a", None], [], None] * 1000, pa.list_(pa.large_string())),
        "s": pa.array([{"x": 1.5}, None, {"x": None}] * 1000),
    }
)


def test_parquet_both_ways(tmp_path: pathlib.Path) -> None:
    there, back = tmp_path / "t.parquet", tmp_path / "t.arrow"
    cst.write(TABLE, tmp_path / "in.arrow")
    run("convert", tmp_path / "in.arrow", there)
    assert pq.read_table(there).equals(TABLE)
    assert pq.ParquetFile(there).metadata.row_group(0).column(0).compression == "ZSTD"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.arrow", "t.parquet"]
    run("convert", there, back, "-c", "s,i")
    assert pa.table(cst.open(back)).equals(TABLE.select(["s", "i"]))
    assert "3000" in run("count", there)
    assert "no faults" in run("verify", there, there)
    assert run("head", there, "-n", "1", "-c", "i") == '{"i": 1}\n'
    assert "did you mean" in run("head", there, "-c", "ll", status=2)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_damage_is_told(unbuffered: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.parquet"
    cst.write(pa.table({"a": range(300)}), path)
    data = bytearray(path.read_bytes())
    data[5] ^= 2
    path.write_bytes(data)
    text = run("count", path, status=1)
    assert "t.parquet: record 0, feature 'a'" in text and "row group 0" in text
    assert "1 fault" in run("verify", path, status=1, PYTHONUNBUFFERED=unbuffered)


def test_without_pyarrow(tmp_path: pathlib.Path) -> None:
    (tmp_path / "pyarrow.py").write_text(
        "raise ModuleNotFoundError('no pyarrow', name='pyarrow')\n"
    )
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1" + bytes(20))
    text = run("head", path, status=2, PYTHONPATH=str(tmp_path))
    assert "pip install 'columnstone[parquet]'" in text


def test_parquet_without_numpy(tmp_path: pathlib.Path) -> None:
    """pyarrow would import it, which takes longer than all else of a small file."""
    (tmp_path / "numpy.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'x')\n")
    (tmp_path / "in.jsonl").write_text('{"a": 1}\n')
    path = tmp_path / "t.parquet"
    run("convert", tmp_path / "in.jsonl", path, PYTHONPATH=str(tmp_path))
    assert pq.read_table(path).to_pydict() == {"a": [1]}
    assert run("head", path, PYTHONPATH=str(tmp_path)) == '{"a": 1}\n'
    assert not (tmp_path / "imported").exists()


def test_types_that_parquet_lacks(tmp_path: pathlib.Path) -> None:
    pq_file, arrow = tmp_path / "t.parquet", tmp_path / "t.arrow"
    with pa.ipc.new_file(arrow, pa.schema({"bad": pa.month_day_nano_interval()})):
        pass
    text = run("convert", arrow, pq_file, status=2)
    assert "feature 'bad'" in text and "t.parquet" in text
    assert [p.name for p in tmp_path.iterdir()] == ["t.arrow"]


def test_the_program_alone(tmp_path: pathlib.Path) -> None:
    """What other callers may do: unknown options are passed over, a wrong call is told."""
    path = tmp_path / "t.parquet"
    cst.write(TABLE, path)
    program = CLI.with_name("columnstone-format-parquet")
    done = subprocess.run([program, "read", "--new=1", "--column=i", path], capture_output=True)
    assert pa.ipc.open_stream(done.stdout).read_all().column_names == ["i"]
    done = subprocess.run([program, "wrong", path], capture_output=True)
    assert done.returncode == 1 and b"no verb" in done.stderr


def test_an_example_in_python(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "plugins"
    folder.mkdir()
    program = folder / "columnstone-format-notes"
    shutil.copy(EXAMPLES / program.name, program)
    program.chmod(0o755)
    notes = tmp_path / "t.notes"
    notes.write_text("".join(f"note {i}\n" for i in range(10000)))
    path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # of its python3
    variables = {"COLUMNSTONE_PLUGIN_PATH": str(folder), "PATH": path}
    assert run("head", notes, "-n", "1", **variables) == '{"note": "note 0"}\n'
    run("convert", notes, tmp_path / "u.notes", **variables)
    assert (tmp_path / "u.notes").read_text() == notes.read_text()
    notes.write_bytes(b"\xff\xfe")
    assert "UnicodeDecodeError" in run("count", notes, status=2, **variables)


def test_sources_of_the_package_use_programs(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A format of a program in Python itself, also in a process that is forked from it."""
    good = tmp_path / "good.arrows"
    cst.write(TABLE, good)
    program = tmp_path / "columnstone-format-copy"
    program.write_text(f"#!/bin/sh\ncat '{good}'\n")
    program.chmod(0o755)
    (tmp_path / "x.copy").write_text("x")
    monkeypatch.setenv("COLUMNSTONE_PLUGIN_PATH", str(tmp_path))
    source = cst.open(tmp_path / "x.copy")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if source.num_rows == 3000 else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert pa.table(source).equals(TABLE)
    assert pa.table(source).equals(TABLE)


def test_python_m_is_the_program(tmp_path: pathlib.Path) -> None:
    cst.write(pa.table({"a": range(3)}), tmp_path / "t.arrow")

    def by_python(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "columnstone", *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=tmp_path,
            env={**os.environ, "PATH": "/nowhere"},
        )

    assert by_python("--version").stdout == run("--version")
    assert by_python("head", "-n", "1", "t.arrow").stdout == '{"a": 0}\n'
    wrong = by_python("count", "none.arrow")
    assert wrong.returncode == 2 and wrong.stderr.startswith("columnstone: none.arrow")


def test_the_launcher_finds_the_program(tmp_path: pathlib.Path) -> None:
    """Through a link, as pipx makes them; where there is no package, it says so."""

    def started(script: pathlib.Path) -> subprocess.CompletedProcess[str]:
        command = [script, "--version"]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    link = tmp_path / "a link"
    link.symlink_to(CLI)
    assert started(link).stdout == run("--version")
    alone = tmp_path / "bin" / "columnstone"
    alone.parent.mkdir()
    alone.write_bytes(CLI.read_bytes())
    alone.chmod(0o755)
    said = started(alone)
    assert said.returncode == 1 and "pip install --force-reinstall columnstone" in said.stderr
