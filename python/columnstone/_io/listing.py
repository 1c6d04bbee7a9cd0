"""Names and sizes of files in fsspec and pyarrow file systems, without opening them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from .http import HttpFile, is_http
from .patience import patiently
from .remote import as_fsspec, by_url, failure, folder_error, names_of
from .urls import is_folder, is_pattern, matches

if TYPE_CHECKING:
    from typing import TypeAlias

    from .rules import Rule

    # Of a file; None: not known
    Size: TypeAlias = int | None

_MANY = 100  # files of a folder, which is listed for so many


def listed(paths: object, filesystem: object, rule: Rule | None = None) -> list[tuple[str, Size]]:
    """The files that URLs, or paths of a file system, mean, in their order; globs resolved, sorted
    bytewise. A pattern is one request, or as many as its folders have pages, and so are many files
    of a folder. A web server is asked for each file; one that sends no parts of it tells no size,
    since there is no use in dividing it."""
    names = names_of(paths)
    listing = _Listing(filesystem, names, rule)
    return [file for name in names for file in listing.files(name)]


class _Listing:
    """What has been listed so far."""

    def __init__(self, filesystem: Any, names: list[str], rule: Rule | None) -> None:
        self._rule = rule
        self._filesystem = None if filesystem is None else as_fsspec(filesystem)
        self._named = Counter(_folder(name) for name in names)
        self._sizes: dict[str, dict[str, Size]] = {}  # by folder and name in it

    def files(self, name: str) -> list[tuple[str, Size]]:
        try:
            return patiently(lambda: self._files(name), known=False)
        except Exception as error:
            raise failure(name, error) from error

    def _files(self, name: str) -> list[tuple[str, Size]]:
        folder = _folder(name)
        if self._named[folder] >= _MANY:
            sizes = self._sizes_in(folder)
            last = name[len(folder) + 1 :]
            if last in sizes:
                return [(name, sizes[last])]
        system, inner = self._place(name)
        if is_pattern(system, inner):
            return self._matches(system, inner, name)
        if is_http(system):
            file = HttpFile(system, inner)
            return [(name, file.size if file.sends_parts else None)]
        info = system.info(inner)
        if is_folder(info):
            raise folder_error(name)
        return [(name, _size(info))]

    def _place(self, name: str) -> tuple[Any, str]:
        return by_url(name, self._rule) if self._filesystem is None else (self._filesystem, name)

    def _sizes_in(self, folder: str) -> dict[str, Size]:
        """Those of the files of a folder; none where folders cannot be listed."""
        if folder not in self._sizes:
            system, inner = self._place(folder)
            listable = bool(inner) and not is_http(system)
            entries = system.ls(inner, detail=True) if listable else []
            files = (entry for entry in entries if not is_folder(entry))
            self._sizes[folder] = {str(e["name"]).rpartition("/")[2]: _size(e) for e in files}
        return self._sizes[folder]

    def _matches(self, system: Any, inner: str, name: str) -> list[tuple[str, Size]]:
        named = self._filesystem is not None
        return [(found, _size(info)) for _, found, info in matches(system, inner, name, named)]


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _size(info: dict[str, Any]) -> Size:
    size = info.get("size")
    return size if isinstance(size, int) and size >= 0 else None
