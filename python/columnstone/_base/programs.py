"""Starts external programs: all of them here, with fixed rules.

The program has an absolute path outside of the current folder. It runs in an empty folder of its
own, so that Python does not import from the caller's folder. File names among its arguments are
absolute, so that none is taken for an option ("-x") or for a file of arguments ("@x"). It has the
caller's environment. src/io/process.c does this in C.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# -P: nothing is imported from the current folder or from that of a script.
PYTHON = [sys.executable, "-P"]


def find_program(name: str) -> str | None:
    """The program with this name in an absolute folder of PATH."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return shutil.which(name, path=os.pathsep.join(filter(os.path.isabs, folders)))


def run(command: Sequence[str], folder: str) -> tuple[int, str]:
    """Runs the program to its end in this folder, and returns its standard error."""
    import subprocess

    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    return done.returncode, done.stderr.decode("utf-8", "replace")
