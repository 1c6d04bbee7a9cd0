"""File systems in forked processes: an fsspec file system with an event loop belongs to the process
that created it, and refuses to work in any other."""

from __future__ import annotations

import os
from typing import Any

from .._base.errors import StateError
from .._base.text import name_of_url


def reopened(system: Any, name: str) -> Any:
    """The same file system, created again with the same arguments. StateError, with advice, if that
    is impossible, as for an object of the user that contains things that cannot be shared.

    name: of the file that is needed.
    """
    try:
        arguments = [_argument(value, name) for value in system.storage_args]
        options = {key: _argument(value, name) for key, value in system.storage_options.items()}
        made = type(system)(*arguments, **options)
    except Exception as error:
        hint = (
            'start workers with multiprocessing_context="spawn", or open the source in each of them'
        )
        shown = name_of_url(name)
        raise StateError(
            f"{shown}: the file system was opened before this process ({os.getpid()}) was forked "
            f"and cannot be reopened ({type(error).__name__}) ({hint})",
            file=shown,
            hint=hint,
        ) from None
    return made


def _argument(value: Any, name: str) -> Any:
    """An argument, which may be a file system itself."""
    return reopened(value, name) if hasattr(value, "storage_options") else value
