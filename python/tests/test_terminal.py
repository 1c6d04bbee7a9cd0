"""The command-line program on a terminal: what is cut there, and only there."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import shlex
import subprocess

import columnstone as cst
import pages
import pytest

RECORD = {"name": ["ü" * 100], "list": [*range(50)], "quote": ['\\" ' * 40]}


@pytest.fixture
def path(tmp_path: pathlib.Path) -> str:
    lines = tmp_path / "rows.jsonl"
    lines.write_text(json.dumps(RECORD) + "\n")
    output = tmp_path / "rows.tfrecord"
    cst.convert(str(lines), str(output))
    return str(output)


def on_terminal(*command: str) -> str:
    """What the command prints to a terminal."""
    ours, theirs = pty.openpty()
    program = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=pages.environment())
    os.close(theirs)
    printed = b""
    with open(ours, "rb", buffering=0) as terminal:
        while True:
            try:
                part = terminal.read(4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            printed += part
    assert program.wait(60) == 0
    return printed.decode().replace("\r\n", "\n")


def test_head(path: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    line = on_terminal("columnstone", "head", path)
    first = ", ".join(map(str, range(10)))
    assert f'"list": [{first}, …]' in line
    assert '"name": ["' + "ü" * 60 + '…"]' in line
    assert '"quote": ["' + '\\\\\\" ' * 20 + '…"]' in line
    assert json.loads(on_terminal("columnstone", "head", path, "--full")) == RECORD
    assert json.loads(pages.shell(f"columnstone head {shlex.quote(path)}").stdout) == RECORD


def test_info(path: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line in on_terminal("columnstone", "info", path).splitlines()[2:5]:
        assert len(line) <= 100 and "…" in line


def test_tree(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wide.jsonl").write_text(json.dumps({f"f{i}": i for i in range(150)}) + "\n")
    command = ("columnstone", "schema", "tree", "wide.jsonl")
    assert on_terminal(*command).splitlines()[100:] == [
        "├─ f99  int64?",
        "└─ … 50 more fields",
    ]
    whole = pages.shell(" ".join(command)).stdout
    assert whole.count("\n") == 151
    assert on_terminal(*command, "--full") == whole
    assert on_terminal(*command, "--json").count("name") == 150
