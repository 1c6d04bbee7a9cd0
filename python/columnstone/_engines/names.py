"""Names of options that an engine hands on."""

from __future__ import annotations

import difflib
import inspect
from typing import TYPE_CHECKING, Any

from .._base.errors import argument_error
from .._formats.options import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def check_names(
    options: Iterable[str], function: Callable[..., Any], without: Iterable[str] = ()
) -> None:
    """ArgumentError, with near names, for an option that is none of the function's parameters, and
    none of a format if it takes these."""
    parameters = inspect.signature(function).parameters
    takes_all = [*KINDS] if "format_options" in parameters else []
    known = [name for name in (*parameters, *takes_all) if name not in (*without, "format_options")]
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, 3)
            raise argument_error(
                f"there is no option {ascii(name)[:60]}",
                f"near names: {', '.join(near)}" if near else f"there are {', '.join(known)}",
            )
