"""The location of an output: a folder, local or on an fsspec file system, with names relative to
it, and the names of its files."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import shutil
from typing import TYPE_CHECKING, Any, Protocol

from .. import _core
from .._base.errors import FileError
from .._io.remote import by_url, failure
from .._io.urls import is_remote
from .scratch import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_REQUESTS = 16  # at a time, of a remote file system


class Place(Protocol):
    """Whether a path is not data: a name in it begins with "_" or ".", and is not the value of a
    partition ("_day=3"). Spark's readers and those of this package skip such files."""

    def exists(self, name: str = "") -> bool: ...
    def path(self, name: str) -> str: ...
    def make(self, name: str) -> None:
        """Creates a folder and its parents."""

    def make_one(self, name: str) -> None:
        """Creates a folder inside an existing one. FileError if that is gone, where the file system
        has folders."""

    def files(self, name: str, begin: str = "") -> list[str]:
        """The names of the files in this folder that begin with this text, sorted; none if the
        folder does not exist."""

    def below(self, name: str) -> set[str]:
        """The names of all files in this folder at any depth, hidden ones included; none if it does
        not exist."""

    def data(self) -> list[str]:
        """The names of all data files, at any depth."""

    def read(self, name: str) -> bytes | None: ...

    def write(self, name: str, data: bytes) -> None:
        """Writes a small file completely or not at all."""

    def move(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Renames files, and creates their folders. It replaces a file with the same name; no
        partial file is ever visible."""

    def remove(self, names: Iterable[str]) -> None:
        """Removes the files that exist, and the folders of partitions that this leaves empty."""

    def remove_all(self, name: str) -> None:
        """Removes a folder with all its contents, if it exists."""

    def remove_empty(self) -> None:
        """Removes the folder itself if it is empty."""


_TRIES = 10
_COMPRESSIONS = {"gzip": ".gz", "zlib": ".zlib", "zstd": ".zst"}


def ending_of(format: str, container: str | None, compression: str | None) -> str:
    """The ending by which readers recognize the files of an output."""
    endings, *_ = _core.FORMATS.get(format, ((f".{format}",), False, False))
    if not endings:  # of records
        container = container or "tfrecord"
        endings = _core.CONTAINERS.get(container, ()) or (f".{container}",)
    return endings[0] + _COMPRESSIONS.get(compression or "", "")


def place_of(path: str) -> Place:
    return RemotePlace(path) if is_remote(path) else LocalPlace(path)


def is_hidden(part: str) -> bool:
    """Whether readers skip a file or folder with this name."""
    return part.startswith(".") or (part.startswith("_") and "=" not in part)


def data_of(names: Iterable[str]) -> list[str]:
    """The data files among these, sorted."""
    return sorted(name for name in names if not any(map(is_hidden, name.split("/"))))


class LocalPlace:
    def __init__(self, root: str) -> None:
        self._root = root

    def path(self, name: str) -> str:
        return os.path.join(self._root, name) if name else self._root

    def exists(self, name: str = "") -> bool:
        return os.path.exists(self.path(name))

    def make(self, name: str) -> None:
        os.makedirs(self.path(name), exist_ok=True)

    def make_one(self, name: str) -> None:
        try:
            os.mkdir(self.path(name))
        except FileNotFoundError:
            folder = os.path.dirname(self.path(name))
            raise FileError(f"{folder}: the job has already ended", file=folder) from None

    def files(self, name: str, begin: str = "") -> list[str]:
        with contextlib.suppress(FileNotFoundError):
            return sorted(file for file in os.listdir(self.path(name)) if file.startswith(begin))
        return []

    def below(self, name: str) -> set[str]:
        return {
            os.path.relpath(os.path.join(folder, file), self._root)
            for folder, _, files in os.walk(self.path(name))
            for file in files
        }

    def data(self) -> list[str]:
        return list(self._data(self._root, ""))

    def _data(self, folder: str, inside: str) -> Iterator[str]:
        with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
            for entry in entries:
                if is_hidden(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    yield from self._data(entry.path, f"{inside}{entry.name}/")
                else:
                    yield inside + entry.name

    def read(self, name: str) -> bytes | None:
        try:
            with open(self.path(name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        write_whole(self.path(name), data)

    def move(self, pairs: Iterable[tuple[str, str]]) -> None:
        made = {""}
        for old, new in pairs:
            inside = os.path.dirname(new)
            if inside not in made:
                self.make(inside)
                made.add(inside)
            os.replace(self.path(old), self.path(new))

    def remove(self, names: Iterable[str]) -> None:
        folders = set()
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path(name))
            folders.add(os.path.dirname(name))
        for folder in folders:
            while folder:
                try:
                    os.rmdir(self.path(folder))
                except FileNotFoundError:
                    pass
                except OSError:
                    break  # something is left in it
                folder = os.path.dirname(folder)

    def remove_all(self, name: str) -> None:
        path = self.path(name)
        for i in range(1, _TRIES + 1):  # an attempt that was given up may still write, or clean up
            try:
                shutil.rmtree(path)
                return
            except OSError:
                if not os.path.lexists(path):
                    return
                if i == _TRIES:
                    raise

    def remove_empty(self) -> None:
        with contextlib.suppress(OSError):
            os.rmdir(self._root)


class RemotePlace:
    """Object stores cannot rename: a move is a copy within the store, which becomes visible when it
    is complete, followed by a removal."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._system, self._root = by_url(url)

    def path(self, name: str) -> str:
        return f"{self._url}/{name}" if name else self._url

    def _inner(self, name: str) -> str:
        root = self._root.rstrip("/")
        return f"{root}/{name}" if name else root

    def _try(self, what: str, *given: Any, **options: Any) -> Any:
        try:
            return getattr(self._system, what)(*given, **options)
        except Exception as error:
            raise failure(self._url, error) from None

    def exists(self, name: str = "") -> bool:
        self._system.invalidate_cache()
        return bool(self._try("exists", self._inner(name)))

    def make(self, name: str) -> None:
        self._try("makedirs", self._inner(name), exist_ok=True)

    def make_one(self, name: str) -> None:
        self.make(name)

    def files(self, name: str, begin: str = "") -> list[str]:
        found = self._try("ls", self._inner(name), detail=False) if self.exists(name) else []
        names = (str(path).rstrip("/").rpartition("/")[2] for path in found)
        return sorted(file for file in names if file.startswith(begin))

    def below(self, name: str) -> set[str]:
        root = self._inner("") + "/"
        found = self._try("find", self._inner(name)) if self.exists(name) else []
        return {str(path).removeprefix(root) for path in found}

    def data(self) -> list[str]:
        return data_of(self.below(""))

    def read(self, name: str) -> bytes | None:
        if not self.exists(name):
            return None
        data: bytes = self._try("cat_file", self._inner(name))
        return data

    def write(self, name: str, data: bytes) -> None:
        self._try("pipe_file", self._inner(name), data)

    def move(self, pairs: Iterable[tuple[str, str]]) -> None:
        def move_one(pair: tuple[str, str]) -> None:
            self.make(os.path.dirname(pair[1]))
            self._try("mv", *map(self._inner, pair))

        self._at_once(move_one, pairs)

    def remove(self, names: Iterable[str]) -> None:
        def remove_one(name: str) -> None:
            with contextlib.suppress(FileNotFoundError):
                self._try("rm_file", self._inner(name))

        self._at_once(remove_one, names)

    def _at_once(self, do: Any, items: Iterable[Any]) -> None:
        with concurrent.futures.ThreadPoolExecutor(_REQUESTS) as pool:
            for _ in pool.map(do, items):
                pass

    def remove_all(self, name: str) -> None:
        if self.exists(name):
            self._try("rm", self._inner(name), recursive=True)

    def remove_empty(self) -> None:
        pass  # a store of objects has no empty folders
