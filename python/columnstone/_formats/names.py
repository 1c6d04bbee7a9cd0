"""The format and the compression of a file, from its name and its first bytes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, TypeAlias

from .. import _core
from .._base.errors import argument_error
from .._base.text import name_of_url
from .._io.urls import file_of_url
from .registry import has_magic

if TYPE_CHECKING:
    from .._io.cache import CachedFile
    from .._io.remote import RemoteFile

Compression: TypeAlias = Literal["none", "gzip", "zlib", "zstd"]

_HEAD = 64  # bytes that tell a format
_TEXT = {end: name for name, (ends, is_text, _) in _core.FORMATS.items() if is_text for end in ends}
_ENDINGS = {
    **{ending: "example" for endings in _core.CONTAINERS.values() for ending in endings},
    **{ending: name for name, (endings, *_) in _core.FORMATS.items() for ending in endings},
}
_COMPRESSIONS: dict[str, Compression] = {
    ".gz": "gzip",
    ".zlib": "zlib",
    ".zz": "zlib",
    ".zst": "zstd",
}


def split_endings(name: str) -> tuple[str, str]:
    """The name without the endings for format and compression, and these endings."""
    stem, outer = os.path.splitext(name)
    if outer not in _COMPRESSIONS:
        return (stem, outer) if outer in _ENDINGS else (name, "")
    inner_stem, inner = os.path.splitext(stem)
    return (inner_stem, inner + outer) if inner in _ENDINGS else (stem, outer)


def _ending(name: str) -> tuple[str, Compression | None]:
    """The ending before the ending of a compression, and the compression."""
    stem, ending = os.path.splitext(file_of_url(name))
    if ending in _COMPRESSIONS:
        return os.path.splitext(stem)[1], _COMPRESSIONS[ending]
    return ending, None


def format_of(files: list[RemoteFile | CachedFile]) -> str | None:
    """The format of the first file, from its first bytes or the ending of its name. None for
    others: the library then decides, with TFRecords as the default."""
    if not files:
        return None
    head = files[0].read(_HEAD)
    files[0].seek(0)
    if has_magic(head, b"PAR1"):
        return "parquet"
    if has_magic(head, b"ARROW1") or head[:4] == b"\xff\xff\xff\xff":
        return "arrow"
    return _TEXT.get(_ending(files[0].name)[0])


def named_by(
    url: str, format: str | None, compression: Compression | None
) -> tuple[str, Compression | None]:
    """The format and compression of an output, from its name where they are not given."""
    ending, by_name = _ending(url)
    found = format or _ENDINGS.get(ending)
    if found is None:
        shown = name_of_url(url)
        raise argument_error(f"cannot tell the format from the name {shown}", "name the format")
    return found, compression or by_name
