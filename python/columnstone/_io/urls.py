"""URLs as people see them, and as listings may name them."""

from __future__ import annotations

import os
import re
from typing import Any

from .._base.errors import FileError, NotFoundError, UnsupportedError

_GLOB = re.compile(r"[*?[]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_QUERY = re.compile(r"\?[^?]*=")
_WEB = ("http", "https", "ftp", "ftps")
# The databases that queries are read of, by their schemes. src/io/url.c lists the same.
DATABASES = frozenset(
    (
        "postgresql",
        "postgres",
        "sqlite",
        "duckdb",
        "snowflake",
        "bigquery",
        "grpc",
        "grpc+tls",
    )
)

# In the text of others: the user of a URL, and its parameters.
_USER = re.compile(r"(?<![\w+.-])([a-zA-Z][\w+.-]*)://([^\s/'\"@?#]*)@")
_PARAMETERS = re.compile(r"([a-zA-Z][\w+.-]*://[^\s'\"?]*)\?[^\s'\"]*=[^\s'\"]*")


def name_of_url(url: str) -> str:
    """A URL without what may be a secret: without its password, and without its parameters, one of
    which may be a signature. Of a web address the user goes, too, who may be a token. Each part of
    a chain ("zip://a.csv::https://...") is looked at. src/io/url.c does the same.

    Errors, `Source.files`, repr and the choice of a format go by it."""
    return "::".join(_name_of_piece(piece) for piece in url.split("::"))


def _name_of_piece(piece: str) -> str:
    scheme, separator, rest = piece.partition("://")
    if not separator:
        return piece
    is_web = scheme.lower() in _WEB
    found = re.search(r"\?", rest) if is_web else _QUERY.search(rest)
    if found:
        rest = rest[: found.start()]
    return scheme + separator + _without_password(rest, is_web)


def _without_password(rest: str, is_web: bool) -> str:
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    if is_web:
        user = at = ""
    return user.partition(":")[0] + at + host + slash + path


def file_of_url(url: str) -> str:
    """The part of a chain that names the file, whose ending counts: "zip://a.csv" of
    "zip://a.csv::https://h/z.zip"."""
    pieces = url.split("::")
    return next((piece for piece in pieces if "://" in piece), url)


def printable_text(text: str) -> str:
    """Text of others, such as what a file system raises, with its URLs as name_of_url has them, on
    one line."""
    text = _PARAMETERS.sub(r"\1", " ".join(text.split()))
    return _USER.sub(
        lambda m: f"{m[1]}://{_without_password(m[2] + '@', m[1].lower() in _WEB)}", text
    )


def scheme_of(path: object) -> str | None:
    """What stands before "://"; None without it."""
    text = os.fsdecode(path) if isinstance(path, str | bytes) else None
    return text.split("://", 1)[0].lower() if text is not None and "://" in text else None


def is_database(path: object) -> bool:
    """True for the URI of a kind of database that is known by name."""
    return scheme_of(path) in DATABASES


def database_error(url: str, hint: str) -> UnsupportedError:
    """For what is about files."""
    shown = name_of_url(url)
    text = f"{shown}: it is a database, expected a file ({hint})"
    return UnsupportedError(text, file=shown, hint=hint)


def is_pattern(system: Any, inner: str) -> bool:
    """True for a glob, which is no file's name."""
    return _GLOB.search(name_of_url(inner)) is not None and not system.exists(inner)


def matches(system: Any, inner: str, url: str, named: bool) -> list[tuple[str, str, Any]]:
    """The files that a pattern means, sorted bytewise: path in the file system, name, and what the
    listing says of it. NotFoundError if there is none.

    What a server lists is not trusted: only names below the folder of the pattern are taken, and a
    control character in one is a FileError.

    named: names are those in a file system that the caller has given; else they are URLs.
    """
    shown = name_of_url(url)
    folder = inner[: _GLOB.search(inner).start()].rpartition("/")  # type: ignore[union-attr]
    prefix = folder[0] + folder[1]
    found: list[tuple[str, str, Any]] = []
    entries = system.glob(inner, detail=True)
    for path in sorted(entries, key=os.fsencode):
        if is_folder(entries[path]) or not _is_below(path, prefix):
            continue
        if _CONTROL.search(path):
            hint = "name the files one by one"
            text = f"{shown}: the listing has a name with a control character ({hint})"
            raise FileError(text, file=shown, hint=hint)
        found.append((path, path if named else _url_of(system, url, inner, path), entries[path]))
    if not found:
        raise NotFoundError(f"{shown}: no file matches (check the pattern)", file=shown)
    return found


def _is_below(path: str, prefix: str) -> bool:
    rest = path.removeprefix(prefix)
    return path.startswith(prefix) and "::" not in rest and ".." not in rest.split("/")


def _url_of(system: Any, url: str, inner: str, path: str) -> str:
    """The URL of a path that a pattern has found: the pattern's own, with the path in place of it,
    so that a chain stays one."""
    pieces = url.split("::")
    i = pieces.index(file_of_url(url))
    stem = inner.lstrip("/")
    if not stem or not pieces[i].endswith(stem):
        name: str = system.unstrip_protocol(path)
        return name
    pieces[i] = pieces[i].removesuffix(stem) + path.lstrip("/")
    return "::".join(pieces)


def is_folder(info: dict[str, Any]) -> bool:
    return info.get("type") == "directory"
