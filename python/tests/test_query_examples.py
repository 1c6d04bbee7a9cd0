"""The programs and the query of examples/ that are about queries and views."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import columnstone as cst
import messages
import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
SESSIONS = 100


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The modules of the demo can be imported."""
    monkeypatch.syspath_prepend(str(EXAMPLES))


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    with cst.codec.TFRecordWriter(tmp_path / "sessions.tfrecord") as writer:
        for record in messages.sessions(SESSIONS):
            writer.write(record)
    query = cst.Query.from_file(EXAMPLES / "ranking.cstq", descriptors=messages.SHOP)
    query.save(tmp_path / "ranking.cstv")
    return tmp_path


def test_serve(folder: pathlib.Path) -> None:
    command = [sys.executable, str(EXAMPLES / "serve.py"), "ranking.cstv", "sessions.tfrecord"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    names = {line.partition(":")[0] for line in done.stdout.splitlines()}
    assert names == set(cst.View(folder / "ranking.cstv").outputs)
    assert "user: <columnstone.tensor.Tensor bytes (32,): [" in done.stdout


def test_serve_tells_of_bad_requests(folder: pathlib.Path) -> None:
    with cst.codec.TFRecordWriter(folder / "bad.tfrecord") as writer:
        writer.write(b"\x08")
    command = [sys.executable, str(EXAMPLES / "serve.py"), "ranking.cstv", "bad.tfrecord"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr.startswith("serve: record 0") and done.stdout == ""


def test_the_view_is_small(folder: pathlib.Path) -> None:
    assert (folder / "ranking.cstv").stat().st_size < 8192


@pytest.mark.usefixtures("demo")
def test_the_ranking_model_of_the_demo(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    import demo_ranking
    import demo_sessions

    monkeypatch.setattr(demo_sessions, "SESSIONS", 2000)
    first, second = demo_sessions.write_sessions(tmp_path)
    query = cst.Query.from_file(EXAMPLES / "ranking.cstq", descriptors=demo_sessions.DESCRIPTORS)
    result = demo_ranking.train([first], second, query.view(), epochs=6)
    assert result.sessions == 6_000
    assert result.hits > result.guess + 0.1
    assert demo_ranking.serve(query.view(), second, 32) == []
