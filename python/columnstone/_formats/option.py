"""An option of a format: its kind, its allowed values, and their conversion to text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from .._base.arguments import integer
from .._base.errors import argument_error
from .._base.public import public_in

if TYPE_CHECKING:
    from collections.abc import Callable


@public_in("columnstone.format")
class Option(NamedTuple):
    """An option of a format.

    name: the keyword by which it is given.
    kind: "text", "character" (of ASCII, neither a quote nor a line end), "word" (one of `words`),
        "switch" (True or False), "number" (an int from `least` to `most`), "real" (a finite float
        from `least` to `most`) or "names" (a list of str).
    usual: the default value; None if there is none.
    help: a short description.
    reads, writes: whether it is used for reading and for writing.
    """

    name: str
    kind: str = "text"
    usual: Any = None
    help: str = ""
    words: tuple[str, ...] = ()
    least: int = 0
    most: int = 2**63 - 1
    reads: bool = True
    writes: bool = False

    def to_text(self, value: Any, owner: str) -> str:
        """The value as it is passed on. TypeError for a wrong type; ArgumentError for a value that
        is not allowed."""
        text = TEXTS[self.kind](self.name, value)
        expected = _EXPECTED[self.kind](self, text) if self.kind in _EXPECTED else None
        if expected is not None:
            raise argument_error(
                f"{owner} option {self.name} is {ascii(text)[:42]}: expected {expected}"
            )
        return text

    def from_text(self, text: str) -> Any:
        """The value of a text that `to_text` returned."""
        return _VALUES[self.kind](text) if self.kind in _VALUES else text


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    if "\0" in value:
        raise argument_error(f"{name} contains a NUL character", "leave it out")
    return value


def _switch(name: str, value: object) -> str:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {type(value).__name__}")
    return "true" if value else "false"


def _real(name: str, value: Any) -> str:
    if isinstance(value, bool | str | bytes):
        raise TypeError(f"{name} must be a float, not {type(value).__name__}")
    return repr(float(value) + 0.0)


def _names(name: str, value: Any) -> str:
    if isinstance(value, str | bytes):
        raise TypeError(f"{name} must be a list of names, not {type(value).__name__}")
    made = tuple(value)
    for item in made:
        if not isinstance(item, str):
            raise TypeError(f"{name} is a list of str, but contains {type(item).__name__}")
    return ",".join(
        '"' + item.replace('"', '""') + '"' if item == "" or "," in item or '"' in item else item
        for item in made
    )


def any_text(name: str, value: Any) -> str:
    """The kind of an option whose kind only the plug-in's program knows."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int):
        return str(value)
    return _names(name, value)


TEXTS: dict[str, Callable[[str, Any], str]] = {
    "word": _text,
    "text": _text,
    "character": _text,
    "switch": _switch,
    "number": lambda name, value: str(integer(name, value)),
    "names": _names,
    "real": _real,
}


def _words(option: Option, text: str) -> str | None:
    return None if text in option.words else " or ".join(option.words)


def _character(option: Option, text: str) -> str | None:
    is_one = len(text) == 1 and "\0" < text < "\x80" and text not in '"\r\n'
    return None if is_one else "one ASCII character, neither a quote nor a line end"


def _number(option: Option, text: str) -> str | None:
    is_in = option.least <= int(text) <= option.most
    return None if is_in else f"a number from {option.least} to {option.most}"


def _real_within(option: Option, text: str) -> str | None:
    number = float(text)
    is_in = math.isfinite(number) and option.least <= number <= option.most
    return None if is_in else f"a number from {option.least} to {option.most}"


# A description of the expected text, or None if the text is a valid value.
_EXPECTED: dict[str, Callable[[Option, str], str | None]] = {
    "word": _words,
    "character": _character,
    "number": _number,
    "real": _real_within,
}


def _names_of(text: str) -> list[str]:
    import csv

    return next(csv.reader([text], strict=True), []) if text else []


_VALUES: dict[str, Callable[[str], Any]] = {
    "switch": lambda text: text == "true",
    "number": int,
    "real": float,
    "names": _names_of,
}
