"""The options of sinks: `Writer` documents them, and _core.SINK_OPTIONS lists them with their
kinds, from the table in C. This module has the conversion of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.arguments import integer, text
from .._base.errors import argument_error
from .._schema.schema import as_core

if TYPE_CHECKING:
    from collections.abc import Callable

# All options have their default values.
_NONE: dict[str, Any] = {**dict.fromkeys(_core.SINK_OPTIONS), "format_options": ()}


def sink_options(**given: Any) -> dict[str, Any]:
    """Options of a sink, checked and converted for the compiled part. None is the default."""
    checked = {
        name: _CHECKS[_core.SINK_OPTIONS[name][0]](name, value) for name, value in given.items()
    }
    return {**_NONE, **checked}


def _number(name: str, value: int | None) -> int | None:
    if value is None:
        return None
    number = integer(name, value)
    *_, least, most = _core.SINK_OPTIONS[name]
    if not least <= number <= most:
        raise argument_error(f"{name} is {number}, and must be from {least} to {most}")
    return number


def _word(name: str, value: str | None) -> str | None:
    words = _core.SINK_OPTIONS[name][5]
    if value is not None and value not in words:
        raise argument_error(f"unknown {name} {ascii(value)[:40]}", f"one of {', '.join(words)}")
    return value


# Conversion of a value for the compiled part, by the kind of the option.
_CHECKS: dict[str, Callable[[str, Any], object]] = {
    "text": text,
    "word": _word,
    "number": _number,
    "switch": lambda name, value: bool(value),
    "schema": lambda name, value: as_core(value),
    "format_options": lambda name, value: value,  # _formats.options.core_options
    "message": lambda name, value: value,  # _message.options.core_message
}
