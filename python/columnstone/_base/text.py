"""Untrusted text made safe for terminals, and URLs without secrets."""

from __future__ import annotations

import re
import unicodedata

_QUERY = re.compile(r"\?[^?]*=")
_WEB = ("http", "https", "ftp", "ftps")

# In untrusted text: the user of a URL, and its parameters.
_USER = re.compile(r"(?<![\w+.-])([a-zA-Z][\w+.-]*)://([^\s/'\"@?#]*)@")
_PARAMETERS = re.compile(r"([a-zA-Z][\w+.-]*://[^\s'\"?]*)\?[^\s'\"]*=[^\s'\"]*")


def printable(text: str, kept: str = "") -> str:
    r"""Escapes control characters and other invisible characters: \x1b. Those in `kept` stay.
    Names, files and texts from servers pass through this before they become part of a message."""
    if text.isprintable():
        return text
    return "".join(
        c
        if c.isprintable() or c in kept
        else c.encode("unicode_escape", "backslashreplace").decode()
        for c in text
    )


def width(text: str) -> int:
    """Columns of a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def cut(text: str, room: int) -> str:
    """The text, shortened with … if it does not fit in this many columns."""
    if width(text) <= room:
        return text
    used = 0
    kept: list[str] = []
    for c in text:
        used += width(c)
        if used > room - 1:
            break
        kept.append(c)
    return "".join(kept) + "…"


def name_of_url(url: str) -> str:
    """A URL without possible secrets: without its password, and without its parameters, one of
    which may be a signature. For web addresses, the user is removed too, because it may be a token.
    Every part of a chain ("zip://a.csv::https://...") is processed. src/base/url_text.c does the
    same.

    Errors, `Source.files`, repr and the detection of formats use it."""
    return "::".join(_name_of_piece(piece) for piece in url.split("::"))


def _name_of_piece(piece: str) -> str:
    scheme, separator, rest = piece.partition("://")
    if not separator:
        return piece
    is_web = scheme.lower() in _WEB
    found = re.search(r"[?#]", rest) if is_web else _QUERY.search(rest)
    if found:
        rest = rest[: found.start()]
    return scheme + separator + _without_password(rest, is_web)


def _without_password(rest: str, is_web: bool) -> str:
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    if is_web:
        user = at = ""
    return user.partition(":")[0] + at + host + slash + path


def without_secrets(text: str) -> str:
    """Untrusted text, such as the error of a file system, with name_of_url applied to its URLs."""
    if "://" not in text:
        return text
    text = _PARAMETERS.sub(r"\1", text)
    return _USER.sub(
        lambda m: f"{m[1]}://{_without_password(m[2] + '@', m[1].lower() in _WEB)}", text
    )
