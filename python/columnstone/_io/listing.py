"""Finds files on fsspec and pyarrow file systems by names and patterns, with their sizes, without
one request for each file."""

from __future__ import annotations

import functools
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from .cache import cached
from .http import HttpFile, is_http
from .patience import patiently
from .remote import as_fsspec, by_url, failure, folder_error, names_of, opened, size_of
from .urls import is_folder, is_pattern, matches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from .cache import Cache, CachedFile
    from .remote import RemoteFile
    from .rules import Rule

    # Attributes of a file; None: unknown
    Size: TypeAlias = int | None

_MANY = 100  # files of a folder, which is listed for so many


class Found(NamedTuple):
    """A file."""

    system: Any
    path: str  # in the system
    name: str
    info: dict[str, Any] | None  # what the system says of it; None: of a web server's


def listed(paths: object, filesystem: object, rule: Rule | None = None) -> list[tuple[str, Size]]:
    """The files for URLs or for paths on a file system, in their order, with globs resolved and
    sorted by bytes. A pattern costs one request, or one per page of its folders; so do several
    files in one folder. A web server is asked for each file; if it does not support ranges, the
    size is unknown, because the file cannot be divided anyway."""
    return _Listing(filesystem, paths, rule).map(lambda found: (found.name, _size(found)))


def open_files(
    paths: object, filesystem: object, rule: Rule | None = None, cache: Cache | None = None
) -> list[RemoteFile | CachedFile]:
    """The same files, opened for reading.

    rule: for URLs: which may be opened, together with the rule from the environment.
    """
    make = opened if cache is None else functools.partial(cached, cache)
    return _Listing(filesystem, paths, rule).map(lambda found: make(*found))


class _Listing:
    """The listings so far."""

    def __init__(self, filesystem: Any, paths: object, rule: Rule | None) -> None:
        self._rule = rule
        self._filesystem = None if filesystem is None else as_fsspec(filesystem)
        self._names = names_of(paths)
        self._named = Counter(map(_folder, self._names))
        self._entries: dict[str, dict[str, Found]] = {}  # by folder and name in it

    def map(self, make: Callable[[Found], Any]) -> list[Any]:
        """The conversion of each file."""
        return [one for name in self._names for one in self._made(name, make)]

    def _made(self, name: str, make: Callable[[Found], Any]) -> list[Any]:
        try:
            return patiently(lambda: list(map(make, self._found(name))), known=False)
        except ImportError:
            raise
        except Exception as error:
            raise failure(name, error) from None

    def _found(self, name: str) -> Iterator[Found]:
        folder = _folder(name)
        if folder and self._named[folder] >= _MANY:
            found = self._entries_in(folder).get(name[len(folder) + 1 :])
            if found is not None:
                yield found._replace(name=name)
                return
        system, inner = self._place(name)
        if is_pattern(system, inner):
            named = self._filesystem is not None
            for path, match, info in matches(system, inner, name, named):
                yield Found(system, path, match, None if is_http(system) else info)
        elif is_http(system):
            yield Found(system, inner, name, None)
        else:
            info = system.info(inner)
            if is_folder(info):
                raise folder_error(name)
            yield Found(system, inner, name, info)

    def _place(self, name: str) -> tuple[Any, str]:
        return by_url(name, self._rule) if self._filesystem is None else (self._filesystem, name)

    def _entries_in(self, folder: str) -> dict[str, Found]:
        """The files in a folder; none if folders cannot be listed."""
        if folder not in self._entries:
            system, inner = self._place(folder)
            listable = bool(inner) and not is_http(system)
            infos = system.ls(inner, detail=True) if listable else []
            files = [(str(info["name"]), info) for info in infos if not is_folder(info)]
            self._entries[folder] = {
                path.rpartition("/")[2]: Found(system, path, "", info) for path, info in files
            }
        return self._entries[folder]


def _folder(name: str) -> str:
    """ "" for a name in a chain, whose last part is on another file system."""
    return "" if "::" in name else name.rpartition("/")[0]


def _size(found: Found) -> Size:
    if found.info is not None:
        return size_of(found.info)
    file = HttpFile(found.system, found.path)
    return file.size if file.sends_parts else None
