"""URLs for display, and names in listings."""

from __future__ import annotations

import os
import re
from typing import Any

from .._base.errors import FileError, NotFoundError, UnsupportedError
from .._base.text import name_of_url, without_secrets

_GLOB = re.compile(r"[*?[]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# The schemes of databases that can be queried. src/io/url.c has the same list.
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


def file_of_url(url: str) -> str:
    """The part of a chain that contains the file name: "zip://a.csv" in
    "zip://a.csv::https://h/z.zip"."""
    pieces = url.split("::")
    return next((piece for piece in pieces if "://" in piece), url)


def printable_text(text: str) -> str:
    """Untrusted text without secrets, on one line."""
    return without_secrets(" ".join(text.split()))


def scheme_of(path: object) -> str | None:
    """The part before "://"; None without it."""
    text = os.fsdecode(path) if isinstance(path, str | bytes) else None
    return text.split("://", 1)[0].lower() if text is not None and "://" in text else None


def is_remote(path: object) -> bool:
    """True for a URL."""
    return isinstance(path, str) and "://" in path


def is_database(path: object) -> bool:
    """True for the URI of a known kind of database."""
    return scheme_of(path) in DATABASES


def database_error(url: str, hint: str) -> UnsupportedError:
    """Raises an error for databases, for functions that need files."""
    shown = name_of_url(url)
    text = f"{shown}: it is a database, expected a file ({hint})"
    return UnsupportedError(text, file=shown, hint=hint)


def is_pattern(system: Any, inner: str) -> bool:
    """True for a glob."""
    return _GLOB.search(name_of_url(inner)) is not None and not system.exists(inner)


def matches(system: Any, inner: str, url: str, named: bool) -> list[tuple[str, str, Any]]:
    """The files that match a pattern, sorted by bytes: the path on the file system, the name, and
    the description in the listing. NotFoundError if there are none.

    Listings of servers are not trusted: only names below the folder of the pattern are accepted,
    and a name with a control character is a FileError.

    named: names are paths on a file system of the caller; otherwise they are URLs.
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
    steps = re.sub("%2e", ".", rest, flags=re.IGNORECASE).split("/")  # as servers read them
    return path.startswith(prefix) and "::" not in rest and ".." not in steps


def _url_of(system: Any, url: str, inner: str, path: str) -> str:
    """The URL of a path that matches a pattern: the URL of the pattern with this path, so that
    chains are preserved."""
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
