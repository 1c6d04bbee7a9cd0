"""The options of sources: `open` documents them, and _core.SOURCE_OPTIONS lists them with their
kinds, from the table in C, which has their ranges. This module has the conversion of their
values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.arguments import integer, text
from .._base.errors import argument_error
from .._formats.options import core_options
from .._schema.schema import as_columns, as_core, as_types

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from .._message.descriptors import DescriptorsLike
    from .._message.options import CoreMessage, MessageLike
    from .._source.dropped import Dropped

    OnError: TypeAlias = "Literal['raise', 'skip', 'null'] | Callable[[Dropped], bool | None]"


def source_options(given: dict[str, Any]) -> dict[str, Any]:
    """The options among the arguments of `open`, checked and converted for the compiled part."""
    of_format = core_options("open", given["format_options"], given["format"])
    given = {**given, "format_options": of_format}
    return {
        name: usual if (value := given[name]) is None and kind != "on_error" else check(name, value)
        for name, kind, check, usual in _OPTIONS
    }


def message_option(
    message: MessageLike | None,
    descriptors: DescriptorsLike | None,
    options: dict[str, Any] | None,
) -> CoreMessage | None:
    """The arguments about messages as one option; None if there are none."""
    if message is None and descriptors is None:
        if options is not None:
            raise argument_error("message_options is given without message", "message=")
        return None
    from .._message.options import core_message

    return core_message(message, descriptors, options or {})


def _on_error(
    on_error: OnError,
) -> tuple[type, Callable[[Dropped], bool | None] | None, int] | None:
    """The class of the reports, the function that gets them, and what happens with the record; None
    to raise."""
    if isinstance(on_error, str) and on_error == "raise":
        return None
    from .._source.dropped import Dropped

    if isinstance(on_error, str) and on_error in _POLICIES:
        return Dropped, None, _POLICIES[on_error]
    if not callable(on_error):
        raise argument_error(
            f'on_error must be "raise", "skip", "null" or a function, not {ascii(on_error)[:40]}'
        )
    return Dropped, on_error, _core.ON_ERROR_SKIP


_POLICIES = {"skip": _core.ON_ERROR_SKIP, "null": _core.ON_ERROR_NULL}

# Conversion of a value other than None for the compiled part, by the kind of the option.
_CHECKS: dict[str, Callable[[str, Any], object]] = {
    "text": text,
    "word": lambda name, value: value,  # the library knows which there are
    "number": integer,
    "switch": lambda name, value: bool(value),
    "schema": lambda name, value: as_core(value),
    "names": lambda name, value: as_columns(value),
    "format_options": lambda name, value: value,  # core_options
    "types": lambda name, value: as_types(value),
    "on_error": lambda name, value: _on_error(value),
    "message": lambda name, value: value,  # _message.options.core_message
    "view": lambda name, value: value,  # views.view_option
}


def _of_none(kind: str, usual: str | None) -> int | None:
    """What None means for an option: the default of a number (None: no limit), off for a switch."""
    if kind == "switch":
        return False
    return int(usual) if kind == "number" and usual is not None else None


# Name, kind, conversion and what None means, of each option.
_OPTIONS = tuple(
    (name, kind, _CHECKS[kind], _of_none(kind, usual))
    for name, (kind, usual, *_) in _core.SOURCE_OPTIONS.items()
)
