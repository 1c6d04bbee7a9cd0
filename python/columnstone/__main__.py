"""`python -m columnstone`: runs the command-line program inside this package, even if the folder of
programs is not on PATH or has another version."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import NoReturn

_PROGRAM = pathlib.Path(__file__).resolve().parent / "bin" / "columnstone"


def main() -> NoReturn:
    """Replaces this process with the program, which has its output, exit status and signals."""
    if not os.access(_PROGRAM, os.X_OK):
        sys.exit(
            "columnstone: the program is not installed with this package "
            "(pip install --force-reinstall columnstone)"
        )
    os.execv(_PROGRAM, ["columnstone", *sys.argv[1:]])


if __name__ == "__main__":
    main()
