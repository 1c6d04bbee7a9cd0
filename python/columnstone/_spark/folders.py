"""Files in folders as Spark lays them out: out/day=2024-05-01/part-0.tfrecord.gz. The names of
folders contain the values of partition columns, which are not in the files."""

from __future__ import annotations

import datetime
import glob
import os
import re
import urllib.parse
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from .._base.errors import FormatError, NotFoundError, SchemaError, argument_error
from .._engines.place import is_hidden
from .._io import remote
from .._io.http import is_http
from .._io.patience import patiently
from .._io.urls import is_pattern, is_remote
from .partitions import NULL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_MAGIC = re.compile(r"[*?\[]")


class Found(NamedTuple):
    """A file, and its partition values from the names of its folders: (column, text) from the top;
    a text of None is a null."""

    file: str
    folders: tuple[tuple[str, str | None], ...] = ()
    size: int = -1
    changed: int = 0  # nanoseconds


def find_files(paths: Sequence[str], base: str | None = None) -> list[Found]:
    """The files of paths, globs and folders; those of each path are sorted by name. In folders,
    names that begin with "_" or "." are skipped, as in Spark; a file that is given by name is read.

    base: the names of folders below this one are columns. None: for a folder, the folder itself;
        for a glob, the part before its first wildcard.

    Raises NotFoundError for a path without files.
    """
    if not paths:
        raise argument_error("no path is given", 'load("trips-*.tfrecord.gz")')
    found: list[Found] = []
    for path in paths:
        plain = local_path(path)
        listed = _remote_files(path, base) if is_remote(plain) else _local_files(plain, base)
        if not listed:
            hint = "check the path"
            raise NotFoundError(f"{path}: no file matches ({hint})", file=path, hint=hint)
        found += listed
    return found


def local_path(path: str) -> str:
    """A path without the scheme that Hadoop puts before local paths; other URLs are unchanged."""
    if path.startswith("file:"):
        return "/" + path.removeprefix("file:").lstrip("/")
    return path


def _local_files(path: str, base: str | None) -> list[Found]:
    if os.path.exists(path) or not _MAGIC.search(path):
        names = [path] if os.path.exists(path) else []
    else:
        names = sorted(glob.glob(path), key=os.fsencode)
        names = [name for name in names if not is_hidden(os.path.basename(name))]
    listed: list[tuple[str, int, int]] = []
    for name in names:
        if os.path.isdir(name):
            listed += sorted(_walk(name), key=lambda entry: os.fsencode(entry[0]))
        else:
            status = os.stat(name)
            listed.append((name, status.st_size, status.st_mtime_ns))
    top = _base_of(path, names) if base is None else local_path(base)
    return [Found(name, _folders(name, top), *rest) for name, *rest in listed]


def _walk(folder: str) -> Iterable[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if is_hidden(entry.name):
                continue
            if entry.is_dir():
                yield from _walk(entry.path)
                continue
            try:
                status = entry.stat()
            except FileNotFoundError:  # it went meanwhile: an attempt's file that was renamed
                continue
            yield entry.path, status.st_size, status.st_mtime_ns


def _remote_files(url: str, base: str | None) -> list[Found]:
    system, path = remote.by_url(url)
    if is_http(system):  # which has no folders
        return [Found(url)]
    try:
        names = patiently(lambda: _list(system, path), known=False)
    except Exception as error:
        raise remote.failure(url, error) from None
    top = _base_of(path, names) if base is None else remote.by_url(base)[1]
    return [Found(system.unstrip_protocol(name), _folders(name, top)) for name in names]


def _list(system: Any, path: str) -> list[str]:
    """The names on an fsspec file system that match a path, sorted."""
    tops = {path: system.info(path)} if not is_pattern(system, path) else {}
    if not tops:
        matches = system.glob(path, detail=True).items()
        tops = {n: info for n, info in matches if not is_hidden(n.rpartition("/")[2])}
    names: list[str] = []
    for top, info in tops.items():
        inside = system.find(top) if info["type"] == "directory" else [top]
        names += [name for name in inside if not any(map(is_hidden, _below(name, top)))]
    return sorted(names, key=os.fsencode)


def _below(name: str, top: str) -> list[str]:
    """The parts of a path after one of its parent folders."""
    return [part for part in name.removeprefix(top).split("/") if part]


def _base_of(path: str, tops: Sequence[str]) -> str:
    """tops: the names of files and folders that match the path."""
    magic = _MAGIC.search(path)
    if magic is not None and list(tops) != [path]:
        return path[: magic.start()].rpartition("/")[0]
    return path


def _folders(file: str, base: str) -> tuple[tuple[str, str | None], ...]:
    named = [part.partition("=") for part in _below(file, base)[:-1] if "=" in part]
    return tuple(
        (urllib.parse.unquote(name), None if text == NULL else urllib.parse.unquote(text))
        for name, _, text in named
        if name
    )


# Values


class PartitionColumn(NamedTuple):
    """A column from the names of folders."""

    name: str
    type: pa.DataType

    def field(self) -> pa.Field:
        return pa.field(self.name, self.type)

    def value(self, text: str | None) -> pa.Scalar:
        """The value of a folder's text in this column."""
        if text is None:
            return pa.scalar(None, self.type)
        try:
            return pa.scalar(text).cast(self.type)
        except pa.ArrowException:
            hint = f"give {self.name} the type STRING"
            raise SchemaError(
                f"column {self.name}: the name of a folder is not a valid {self.type} ({hint})",
                path=self.name,
                hint=hint,
            ) from None


def partition_columns(found: Sequence[Found]) -> list[PartitionColumn]:
    """The partition columns of all files, each with the narrowest type that fits all of its texts,
    as Spark types them. FormatError for files whose folders have different columns."""
    if not found:
        return []
    names = [name for name, _ in found[0].folders]
    for entry in found:
        other = [name for name, _ in entry.folders]
        if other != names:
            hint = (
                "read them separately, or set the option basePath to the folder above all of them"
            )
            raise FormatError(
                f"{entry.file}: its folders have {_said(other)}, but those of {found[0].file} have "
                f"{_said(names)} ({hint})",
                file=entry.file,
                hint=hint,
            )
    if len(set(names)) < len(names):
        raise FormatError(
            f"{found[0].file}: two of its folders name the same column: {_said(names)}"
        )
    texts: list[set[str]] = [set() for _ in names]
    for entry in found:
        for at, (_, text) in enumerate(entry.folders):
            if text is not None:
                texts[at].add(text)
    return [PartitionColumn(name, _type(seen)) for name, seen in zip(names, texts, strict=True)]


def _said(names: list[str]) -> str:
    return "/".join(f"{name}=" for name in names) or "no columns"


def _type(texts: set[str]) -> pa.DataType:
    kinds = _KINDS if texts else _KINDS[-1:]
    return next(type for type, fits in kinds if all(fits(text) for text in texts))


def _is_whole(bits: int) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        if not re.fullmatch(r"-?[0-9]{1,19}", text):
            return False
        return int(text).bit_length() < bits or int(text) == -(2 ** (bits - 1))

    return fits


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", text) is not None


def _is_date(text: str) -> bool:
    try:
        return len(text) == 10 and text[4] == "-" and bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False


# From the narrowest type on.
_KINDS: list[tuple[pa.DataType, Callable[[str], bool]]] = [
    (pa.int32(), _is_whole(32)),
    (pa.int64(), _is_whole(64)),
    (pa.float64(), _is_number),
    (pa.date32(), _is_date),
    (pa.string(), lambda text: True),
]
