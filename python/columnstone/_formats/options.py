"""Options of formats: keyword arguments of `open`, `Writer` and all that is built on these. Which
there are, _core.FORMAT_OPTIONS tells, which has them from the table of the format in C; a test
compares FormatOptions with it."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from .. import _core
from .._base.errors import argument_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeAlias

    # (name; value as a text; format that it is for, or None for any), ...
    CoreFormatOptions: TypeAlias = tuple[tuple[str, str, str | None], ...]


class FormatOptions(TypedDict, total=False):
    """The options of all formats."""

    # csv
    delimiter: str | None
    secondary_delimiter: str | None
    multivalent: Iterable[str] | None
    names: Iterable[str] | None
    comment: str | None
    skip_lines: int
    keep_blank_lines: bool
    header: bool
    # avro
    avro_schema: str | None
    avro_codec: str | None
    avro_block_size: int
    # sequence_example
    sequence_column: str | None


class Only(NamedTuple):
    """The value of an option for inputs or outputs of this format, which others leave out."""

    format: str
    value: Any


KINDS = {
    name: told[0] for options in _core.FORMAT_OPTIONS.values() for name, told in options.items()
}


def core_options(
    function: str, given: Mapping[str, Any], named: str | None = None
) -> CoreFormatOptions:
    """Keyword arguments of a function as the compiled part takes them. TypeError for one that no
    format has, and for a value of a wrong type; None is left out.

    named: the format, if the caller names it: a plug-in has options of its own, which it knows.
    """
    of_plugin = named is not None and named not in _core.FORMATS
    made = []
    for name, value in given.items():
        if name not in KINDS and not of_plugin:
            raise _unknown(function, name)
        format, plain = value if isinstance(value, Only) else (None, value)
        if plain is not None:
            text = TEXTS[KINDS[name]] if name in KINDS else _any
            made.append((name, text(name, plain), format))
    return tuple(made)


def writers_of(name: str) -> list[str]:
    """The formats that have this option for writing."""
    return [
        format
        for format, options in _core.FORMAT_OPTIONS.items()
        if name in options and options[name][3]
    ]


def refuse(format: str, options: CoreFormatOptions) -> None:
    """For formats that have none."""
    for name, _, of in options:
        if of is None:
            other = next(f for f, options in _core.FORMAT_OPTIONS.items() if name in options)
            raise argument_error(
                f"{format} has no option {name!r}", f"it is one of the format {other}"
            )


def _unknown(function: str, name: str) -> TypeError:
    import difflib

    near = difflib.get_close_matches(name, KINDS, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return TypeError(f"{function}() has no option {name!r}{hint}")


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is a str, not {type(value).__name__}")
    return value


def _switch(name: str, value: object) -> str:
    if not isinstance(value, bool):
        raise TypeError(f"{name} is True or False, not {type(value).__name__}")
    return "true" if value else "false"


def _any(name: str, value: Any) -> str:
    """Of an option whose kind the plug-in knows."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int):
        return str(value)
    return _names(name, value)


def _names(name: str, value: Any) -> str:
    if isinstance(value, str | bytes):
        raise TypeError(f"{name} is a list of names, not {type(value).__name__}")
    made = tuple(value)
    for item in made:
        if not isinstance(item, str):
            raise TypeError(f"{name} is a list of str, and holds {type(item).__name__}")
    return ",".join(
        '"' + item.replace('"', '""') + '"' if item == "" or "," in item or '"' in item else item
        for item in made
    )


TEXTS: dict[str, Callable[[str, Any], str]] = {
    "word": _text,
    "text": _text,
    "character": _text,
    "switch": _switch,
    "number": lambda name, value: str(operator.index(value)),
    "names": _names,
}
