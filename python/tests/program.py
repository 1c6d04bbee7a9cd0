"""The command-line program of the installed package, for tests that run it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

CLI = pathlib.Path(sys.executable).parent / "columnstone"

needs_program = pytest.mark.skipif(not CLI.exists(), reason="there is no installed program")


def run(*arguments: str | pathlib.Path, status: int = 0, **variables: str) -> str:
    done = subprocess.run(
        [CLI, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **variables},
    )
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr
