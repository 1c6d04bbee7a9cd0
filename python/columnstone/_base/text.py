"""Text of others, as a terminal may show it."""

from __future__ import annotations


def printable(text: str, kept: str = "") -> str:
    r"""Control characters, and others that do not show as they are, escaped: \x1b. Those of `kept`
    stay. Names, files and what servers say go through this before they are a message."""
    if text.isprintable():
        return text
    return "".join(
        c
        if c.isprintable() or c in kept
        else c.encode("unicode_escape", "backslashreplace").decode()
        for c in text
    )
