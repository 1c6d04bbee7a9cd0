"""The program on a terminal: it fits the width, and has colours where they are wanted."""

from __future__ import annotations

import fcntl
import os
import pathlib
import struct
import subprocess
import sys
import termios

import pytest

WIDTH = 72


def on_terminal(*arguments: str, **environment: str) -> str:
    """What the program prints on a terminal of WIDTH columns."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
    command = [sys.executable, "-m", "columnstone", *arguments]
    settings = {**os.environ, "TERM": "xterm", "NO_COLOR": "", **environment}
    program = subprocess.Popen(command, stdout=slave, stderr=subprocess.DEVNULL, env=settings)
    os.close(slave)
    printed = b""
    try:
        while part := os.read(master, 4096):
            printed += part
    except OSError:  # the program closed its end
        pass
    os.close(master)
    assert program.wait() in (0, 1)
    return printed.decode().replace("\r\n", "\n")


@pytest.fixture
def days(tmp_path: pathlib.Path) -> tuple[str, str]:
    monday, tuesday = tmp_path / "monday.jsonl", tmp_path / "tuesday.jsonl"
    monday.write_text('{"fare": 1.5, "company": "Blue"}\n{"fare": 2, "company": null}\n')
    tuesday.write_text('{"fare": 1.5, "company": "Green"}\n{"fare": 2, "company": null}\n')
    return str(monday), str(tuesday)


def test_colours(days: tuple[str, str]) -> None:
    table = on_terminal("stats", days[0], "--by", "company")
    assert "\x1b[1mfeature" in table
    assert "\x1b[33m    50.0%\x1b[0m" in table
    assert "\x1b[1m\ncompany = Blue: 1 rows\n\x1b[0m" in table
    drift = on_terminal("stats", "diff", *days, "--threshold", "linf=0.5")
    assert "\x1b[31m  ! the L-infinity distance is 1" in drift


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colours(days: tuple[str, str], environment: dict[str, str]) -> None:
    table = on_terminal("stats", days[0], **environment)
    assert "\x1b" not in table
    assert table.splitlines()[0] == "2 rows"
    assert max(map(len, table.splitlines())) <= WIDTH
