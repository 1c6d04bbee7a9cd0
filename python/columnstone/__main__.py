"""`python -m columnstone`: the command-line program that was installed with this package, where the
folder of the program is not on PATH or has another version's."""

from __future__ import annotations

import os
import pathlib
import sys
import sysconfig
from importlib import metadata
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "columnstone"


def _places() -> Iterator[pathlib.Path]:
    """Where the program may be: as the installation recorded it, beside a package that was
    installed with --target, and where this Python has its programs."""
    package = pathlib.Path(__file__).resolve().parent
    for distribution in metadata.distributions(name=_NAME, path=[str(package.parent)]):
        for file in distribution.files or ():
            if file.name == _NAME:
                yield pathlib.Path(str(distribution.locate_file(file)))
    yield package.parent / "bin" / _NAME
    yield pathlib.Path(sysconfig.get_path("scripts")) / _NAME


def main() -> NoReturn:
    """Becomes the program: its output, exit status and signals are those of this process."""
    for path in _places():
        if path.is_file() and os.access(path, os.X_OK):
            os.execv(path, [_NAME, *sys.argv[1:]])
    sys.exit(
        f"{_NAME}: the program is not installed with this package "
        "(pip install --force-reinstall columnstone)"
    )


if __name__ == "__main__":
    main()
