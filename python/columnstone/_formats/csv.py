"""How CSV is read and written."""

from __future__ import annotations

import dataclasses
import operator
from typing import TYPE_CHECKING

from .._base.errors import argument_error
from .._base.public import public_in

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    # names, delimiter, comment, skip_lines, keep_blank_lines, multivalent, secondary_delimiter,
    # no_header; characters as numbers, 0: there is none
    CoreCsv: TypeAlias = tuple[
        tuple[str, ...] | None, int, int, int, bool, tuple[str, ...] | None, int, bool
    ]


@public_in("columnstone.format")
@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CsvOptions:
    """The dialect of CSV files: RFC 4180 in UTF-8 unless it says otherwise.

    names: of the columns, where the files have no header; None: the first line has them.
    delimiter: one ASCII character; None: a comma, or a tab for files that end in .tsv.
    comment: lines that begin with it are passed over; None: there are none.
    skip_lines: before the header of every file.
    keep_blank_lines: a blank line is a row of nulls, instead of nothing.
    multivalent: columns whose cells hold several values; they become lists.
    secondary_delimiter: between those values; None: "|". If it is given, every list is written as
        several values, without being named in `multivalent`.
    header: writing: begin with a line of names.
    """

    names: Iterable[str] | None = None
    delimiter: str | None = None
    comment: str | None = None
    skip_lines: int = 0
    keep_blank_lines: bool = False
    multivalent: Iterable[str] = ()
    secondary_delimiter: str | None = None
    header: bool = True

    def __post_init__(self) -> None:
        if self.names is not None:
            object.__setattr__(self, "names", _names("names", self.names))
        object.__setattr__(self, "multivalent", _names("multivalent", self.multivalent))
        for what in ("delimiter", "secondary_delimiter", "comment"):
            if getattr(self, what) is not None:
                _character(what, getattr(self, what))
        if not 0 <= operator.index(self.skip_lines) < 2**63:
            raise argument_error(f"skip_lines is {self.skip_lines}, and must not be negative")


def _names(what: str, names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str | bytes):
        raise TypeError(f"{what} is a list of names, not {type(names).__name__}")
    made = tuple(names)
    for name in made:
        if not isinstance(name, str):
            raise TypeError(f"{what} is a list of str, and holds {type(name).__name__}")
    return made


def _character(what: str, text: str) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{what} is a str, not {type(text).__name__}")
    if len(text) != 1 or not text.isascii() or text in '\0\r\n"':
        hint = "no quote and no end of line"
        raise argument_error(f"{what} is one ASCII character, not {ascii(text)[:20]}", hint)


def _number(text: str | None) -> int:
    return 0 if text is None else ord(text)


def as_core_csv(csv: CsvOptions | None) -> CoreCsv | None:
    """The options as the compiled part takes them."""
    if csv is None:
        return None
    if not isinstance(csv, CsvOptions):
        raise TypeError(f"csv is a columnstone.format.CsvOptions, not {type(csv).__name__}")
    return (
        None if csv.names is None else tuple(csv.names),
        _number(csv.delimiter),
        _number(csv.comment),
        operator.index(csv.skip_lines),
        bool(csv.keep_blank_lines),
        tuple(csv.multivalent) or None,
        _number(csv.secondary_delimiter),
        not csv.header,
    )
