"""Objects as HTML for notebooks: escaped, bounded, and only with tables and text.

There are no styles, scripts or links: the notebook's own style sheet fits light and dark themes.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from .text import cut, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_Item = TypeVar("_Item")
_Self = TypeVar("_Self")

ROWS = 50  # of a table
CELL = 200  # columns of a terminal that a cell would take
LINES = 200  # of a text


def bounded(items: Iterable[_Item]) -> list[_Item]:
    """At most as many items as a table has rows."""
    return list(islice(items, ROWS))


def counted(count: int, noun: str) -> str:
    """ "1 row", "2,000 rows"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def text_of(value: object) -> str:
    """A cell: empty for None, otherwise str() on one line, shortened."""
    return "" if value is None else cut(printable(str(value)), CELL)


def _escaped(value: object) -> str:
    from html import escape  # with a large table of entities

    return escape(text_of(value))


def _row(cells: Iterable[object], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{_escaped(cell)}</{tag}>' for cell in cells)}</tr>"


def table(
    names: Iterable[object],
    rows: Sequence[Iterable[object]],
    *,
    types: Iterable[object] | None = None,
    count: int | None = None,
) -> str:
    """A table with a head; types: a second line of the head. count: the number of all rows, if
    `rows` has only some."""
    shown = bounded(rows)
    head = _row(names, "th") + ("" if types is None else _row(types, "td"))
    body = "".join(_row(row, "td") for row in shown)
    more = (len(rows) if count is None else count) - len(shown)
    note = _note(f"… {counted(more, 'more row')}") if more > 0 else ""
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{note}"


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """A table of names and values, without those whose value is None."""
    body = "".join(
        f"<tr><th>{_escaped(name)}</th><td>{_escaped(value)}</td></tr>"
        for name, value in pairs
        if value is not None
    )
    return f"<table><tbody>{body}</tbody></table>"


def preformatted(lines: str) -> str:
    """A text of several lines, such as a query."""
    given = lines.split("\n")
    shown = [cut(printable(line, "\t"), CELL) for line in given[:LINES]]
    more = len(given) - len(shown)
    from html import escape

    note = _note(f"… {counted(more, 'more line')}") if more > 0 else ""
    return f"<pre>{escape(chr(10).join(shown))}</pre>{note}"


def _note(line: str) -> str:
    return f"<div>{_escaped(line)}</div>"


def titled(title: str, *parts: str, notes: Sequence[str] = ()) -> str:
    """Parts that are already HTML, below a title and above notes, which are text."""
    head = _note(title) if title else ""
    return f"<div>{head}{''.join(parts)}{''.join(map(_note, notes))}</div>"


def or_text(make: Callable[[_Self], str]) -> Callable[[_Self], str | None]:
    """A decorator for _repr_html_: if the object cannot be read, for example because it is closed,
    it returns None, and notebooks show repr() instead."""

    def shown(self: _Self) -> str | None:
        try:
            return make(self)
        except Exception:
            return None

    shown.__name__ = shown.__qualname__ = "_repr_html_"
    return shown
