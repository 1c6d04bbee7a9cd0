"""Checks the names of options that an engine passes on."""

from __future__ import annotations

import difflib
import inspect
from typing import TYPE_CHECKING, Any

from .._base.errors import argument_error
from .._core import FORMATS
from .._formats.options import KINDS, known_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def check_names(
    options: Iterable[str],
    function: Callable[..., Any],
    without: Iterable[str] = (),
    format: str | None = None,
) -> None:
    """ArgumentError, with similar names, for an option that is neither a parameter of the function
    nor an option of a format, if it accepts these. A registered format or plug-in named by `format`
    has options of its own; those of a program are queried when it is used."""
    parameters = inspect.signature(function).parameters
    takes_all = [*KINDS] if "format_options" in parameters else []
    own = known_to(format)
    if own is None and format is not None and format not in FORMATS:
        return
    known = [
        name
        for name in (*parameters, *takes_all, *(own or ()))
        if name not in (*without, "format_options")
    ]
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, 3)
            raise argument_error(
                f"unknown option {ascii(name)[:60]}",
                f"did you mean {' or '.join(near)}?" if near else f"options: {', '.join(known)}",
            )
