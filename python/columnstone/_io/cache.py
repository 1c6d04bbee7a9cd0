"""Copies of remote files in a local folder that all processes of this machine share.

The name of a copy is made from a hash of the file's URL and of its version according to the server
(ETag, time, size), and from its size. Therefore another version has another name, and a truncated
copy is never used. The process that holds the lock of the hash writes the copy under a temporary
name, and renames it when it is complete.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import stat
import time
import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .._base.errors import Error, FileError, argument_error
from .._base.files import PlacedFile
from .remote import RemoteFile, opened
from .urls import is_remote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    # A folder, and its maximum size in bytes (None: no limit); a tuple, so that pickles contain no
    # class
    Cache: TypeAlias = tuple[str, int | None]
    CacheLike: TypeAlias = str | os.PathLike[str] | tuple[str | os.PathLike[str], int] | None

_STEP = 1 << 20
_OPEN = 64  # copies that a process has open
_COPY = re.compile(r"[0-9a-f]{64}\.\d+")
_LEFT = 86400.0  # seconds after which what was not completed is nobody's any more
# Attributes that describe the version of a file.
_VERSION = (
    *("ETag", "etag", "generation", "md5Hash", "content_md5"),
    *("LastModified", "last_modified", "updated", "mtime", "created"),
)


def as_cache(given: CacheLike) -> Cache | None:
    """The `cache` argument of open."""
    if given is None:
        return None
    folder, limit = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    if not isinstance(folder, str | os.PathLike):
        raise TypeError("cache is a folder, or a pair (folder, bytes)")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
        raise TypeError(f"cache: the number of bytes must be an int, not {type(limit).__name__}")
    if limit is not None and limit < 1:
        raise argument_error(f"cache: {limit} bytes are too few")
    path = os.path.abspath(os.fsdecode(folder))
    os.makedirs(path, mode=0o700, exist_ok=True)
    about = os.stat(path)
    if about.st_mode & stat.S_IWOTH or about.st_uid not in (0, os.getuid()):
        hint = "use a folder that only you can write to"
        raise argument_error("cache: other users can write into this folder, or own it", hint)
    return path, limit


def cached(
    cache: Cache, system: Any, path: str, name: str, info: dict[str, Any] | None
) -> RemoteFile | CachedFile:
    """A file as `opened` creates it, to be read from a copy. If its version or size is unknown, or
    if the cache cannot hold it, the file itself."""
    file = opened(system, path, name, info)
    version = file.version() if info is None else _version_of(info)
    size = file.size
    limit = cache[1]
    if not version or size is None or (limit is not None and size > limit):
        return file
    url = name if is_remote(name) else f"{getattr(system, '_fs_token', '')}:{path}"
    return CachedFile(file, size, _copy_name(cache, url, size, version), cache)


def _copy_name(cache: Cache, url: str, size: int, version: tuple[str, ...]) -> str:
    parts = urlsplit(url)
    place = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    text = "\0".join((place, *version))
    key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return os.path.join(cache[0], f"{key}.{size}")


def _version_of(info: dict[str, Any]) -> tuple[str, ...]:
    """The version from a file system's description; empty if unknown."""
    return tuple(f"{name}={info[name]}" for name in _VERSION if info.get(name))


class _Copy:
    """An open copy, as long as it is referenced."""

    def __init__(self, name: str) -> None:
        self.handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW)
        weakref.finalize(self, os.close, self.handle).atexit = False


class CachedFile(PlacedFile):
    """A remote file that is read from a copy, which the first read of any process downloads."""

    def __init__(self, remote: RemoteFile, size: int, name: str, cache: Cache) -> None:
        """name: of the copy."""
        self._remote = remote
        self._cache = cache
        self._copy_name = name
        self.name = remote.name
        self.size = size

    def again(self) -> CachedFile:
        """Another reader of the same file."""
        return CachedFile(self._remote.again(), self.size, self._copy_name, self._cache)

    def limit(self, max_inflation: int | None) -> None:
        """As for the remote file."""
        self._remote.limit(max_inflation)

    def _end(self) -> int:
        return self.size

    def readinto(self, buffer: Any) -> int:
        if self._at >= self.size:
            return 0
        view = memoryview(buffer).cast("B")
        copy = self._copy()
        got = 0
        while got < len(view):
            read = os.preadv(copy.handle, [view[got:]], self._at)
            if read == 0:
                break
            got += read
            self._at += read
        if self._at >= self.size:
            _open.pop(self._copy_name, None)  # it was read to its end
        elif got < len(view):
            raise FileError(f"{self.name}: its copy in the cache was truncated", file=self.name)
        return got

    def _copy(self) -> _Copy:
        """The copy, which is downloaded if there is none."""
        copy = _open.get(self._copy_name)
        if copy is None:
            copy = self._found()
            if copy is None:
                copy = self._found_or_fetched()
            _open[self._copy_name] = copy
            while len(_open) > _OPEN:
                with contextlib.suppress(KeyError):  # another thread did
                    _open.popitem(last=False)
        return copy

    def _found(self) -> _Copy | None:
        """The copy, if there is one with the right size; marks it as used now."""
        try:
            copy = _Copy(self._copy_name)
        except FileNotFoundError:
            return None
        if os.fstat(copy.handle).st_size != self.size:
            return None  # another one takes its place
        os.utime(copy.handle)
        return copy

    def _found_or_fetched(self) -> _Copy:
        try:
            with _lock_of(self._copy_name):
                return self._found() or self._fetched()
        except Error:
            raise
        except OSError as error:
            text = f"{self.name}: the cache cannot keep a copy: {error.strerror or error}"
            raise FileError(text, file=self.name) from None

    def _fetched(self) -> _Copy:
        """A new copy; the caller holds the lock."""
        part = f"{self._copy_name}.part"
        try:
            self._fetch_to(part)
            copy = _Copy(part)
            os.rename(part, self._copy_name)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part)
            raise
        _evict(self._cache, self._copy_name)
        return copy

    def _fetch_to(self, part: str) -> None:
        reader = self._remote.again()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        try:
            with open(os.open(part, flags, 0o600), "wb") as file:
                while data := reader.read(_STEP):
                    file.write(data)
                file.flush()
                os.fsync(file.fileno())
        finally:
            reader.close()


# By name. A copy that is removed from here is closed when its last reader is gone.
_open: OrderedDict[str, _Copy] = OrderedDict()


@contextlib.contextmanager
def _lock_of(copy_name: str) -> Iterator[None]:
    """A lock for the processes and threads of this machine; a few copies share one."""
    folder, name = os.path.split(copy_name)
    lock = os.path.join(folder, f"{name[:2]}.lock")
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _evict(cache: Cache, newest: str) -> None:
    """Removes the copies that were not used for the longest time until the limit holds, and files
    of processes that have ended. Readers of a removed copy can continue."""
    folder, limit = cache
    found = []
    for entry in os.scandir(folder):
        with contextlib.suppress(FileNotFoundError):
            about = entry.stat(follow_symlinks=False)
            if entry.name.endswith(".part") and about.st_mtime < time.time() - _LEFT:
                os.unlink(entry.path)
            elif _COPY.fullmatch(entry.name):
                found.append((entry.path == newest, about.st_mtime_ns, about.st_size, entry.path))
    total = sum(size for _, _, size, _ in found)
    for _, _, size, path in sorted(found):
        if limit is None or total <= limit:
            return
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        total -= size
