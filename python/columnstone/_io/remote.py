"""Files on fsspec and pyarrow file systems: listing, opening, and reading."""

from __future__ import annotations

import contextlib
import os
import weakref
from typing import TYPE_CHECKING, Any

from .._base.errors import Error, FileError, NotFoundError, StateError, UnsupportedError
from .._base.files import PlacedFile
from .._base.limits import MAX_INFLATION, check_inflation
from .._base.optional import need, refuse
from .._base.text import name_of_url
from .forks import reopened
from .http import Answer, Copy, HttpFile, is_http
from .patience import EndedEarlyError, patiently
from .rules import Rule, rules
from .urls import database_error, is_database, is_folder, is_pattern, matches, printable_text

if TYPE_CHECKING:
    from collections.abc import Iterable


_SKIP = 1 << 20


class RemoteFile(PlacedFile):
    """A file with random access, opened by the first read. Missing bytes are requested again before
    they are an error: otherwise a connection that ends early would look like the end of the
    file."""

    def __init__(
        self,
        system: Any,
        path: str,
        name: str,
        size: int | None,
        http: HttpFile | None = None,
        packed: int | None = None,
    ) -> None:
        """packed: the size of the file inside an archive; None: it is not in an archive."""
        self._system = system
        self._path = path
        self.name = name
        self._http = http
        self._size = http.size if http is not None else size
        self._packed = packed
        self._max_inflation = MAX_INFLATION
        self._file: Any = None
        self._stands = 0  # of the file, where it reads next
        self._process = os.getpid()

    def again(self) -> RemoteFile:
        """Another reader of the same file."""
        self._enter()
        other = RemoteFile(
            self._system, self._path, self.name, self._size, self._http, self._packed
        )
        other.limit(self._max_inflation)
        return other

    def version(self) -> tuple[str, ...]:
        """The version according to a web server; empty if unknown."""
        told = () if self._http is None else self._http.version
        return told if any(told) else ()

    def limit(self, max_inflation: int | None) -> None:
        """The maximum size after decompression, for archives and compressed answers; see open."""
        self._max_inflation = max_inflation or MAX_INFLATION

    @property
    def size(self) -> int | None:
        """Bytes; None: unknown."""
        return self._size

    def _enter(self) -> None:
        """In a forked process, an opened file is dropped without closing it, because it uses the
        connections of the parent."""
        if self._process == os.getpid():
            return
        if self._http is not None:
            self._http.enter()
        else:
            self._system = reopened(self._system, self.name)
        self._file = None
        self._process = os.getpid()

    def _end(self) -> int:
        self._enter()
        if self._size is None and self._http is not None:
            try:
                patiently(self._take_copy)
            except Exception as error:
                raise failure(self.name, error) from None
        if self._size is None:
            raise OSError("the size of the file is unknown")
        return self._size

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        got = 0
        while got < len(view) and (self._size is None or self._at < self._size):
            data = self._read(len(view) - got)
            if not data:
                break
            view[got : got + len(data)] = data
            got += len(data)
            self._at += len(data)
        if got < len(view) and self._size is not None and self._at < self._size:
            raise FileError(
                f"{self.name}: the file system returned {self._at} of {self._size} bytes",
                file=self.name,
            )
        return got

    def _read(self, size: int) -> bytes:
        self._enter()
        try:
            data = patiently(lambda: self._read_once(size), self._drop)
        except EndedEarlyError:
            return b""
        except Exception as error:
            raise failure(self.name, error) from None
        self._stands += len(data)
        self._check_inflation()
        return data

    def _check_inflation(self) -> None:
        if isinstance(self._file, Answer):
            self._file.check_inflation(self.name, self._max_inflation)
        elif self._packed is not None:
            what = "an archive"
            check_inflation(self.name, what, self._packed, self._stands, self._max_inflation)

    def _read_once(self, size: int) -> bytes:
        if self._file is None or self._stands != self._at:
            self._go()
        data: bytes = self._file.read(size)
        if not data and self._size is not None:
            raise EndedEarlyError(f"it ended at byte {self._at} of {self._size}")
        return data

    def _go(self) -> None:
        """Opens the file, or seeks."""
        if self._http is not None and not self._http.sends_parts:
            self._go_on()
            return
        if self._file is not None:
            try:
                self._file.seek(self._at)
                self._stands = self._at
                return
            except ValueError:
                self._file.close()
                self._file = None
        http = self._http
        self._file = http.open() if http is not None else self._system.open(self._path, "rb")
        self._stands = 0
        if self._at > 0:
            self._skip()

    def _go_on(self) -> None:
        """For a server without ranges: reads from the beginning; seeking needs the whole file."""
        if isinstance(self._file, Copy):
            self._file.seek(self._at)
            self._stands = self._at
        elif self._at == 0:
            self._drop()
            self._file = self._http.open() if self._http is not None else None
            self._stands = 0
        elif self._file is not None and 0 < self._at - self._stands <= _SKIP:
            self._pass_over()
        else:
            self._take_copy()
            self._go_on()

    def _take_copy(self) -> None:
        if self._http is not None:
            self._drop()
            self._file = self._http.copied(self._max_inflation)
            self._stands = 0
            self._size = self._http.size

    def _drop(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(Exception):  # what is wrong with it has been said
                file.close()

    def _skip(self) -> None:
        try:
            self._file.seek(self._at)
            self._stands = self._at
        except ValueError:
            self._pass_over()

    def _pass_over(self) -> None:
        while self._stands < self._at:
            data = self._file.read(min(_SKIP, self._at - self._stands))
            if not data:
                raise FileError(f"{self.name}: it ended at byte {self._stands}", file=self.name)
            self._stands += len(data)

    def close(self) -> None:
        if not self.closed and self._process == os.getpid():
            self._drop()
        super().close()


def failure(name: str, error: Exception) -> Exception:
    """An exception of a file system as one of this package, without the secrets of URLs."""
    if isinstance(error, Error | MemoryError):
        return error
    shown = name_of_url(name)
    if isinstance(error.__cause__, OSError) and not isinstance(error.__cause__, FileNotFoundError):
        error = error.__cause__  # fsspec finds no file where it finds no server
    if isinstance(error, FileNotFoundError):
        hint = "check the path"
        return NotFoundError(f"{shown}: there is no such file ({hint})", file=shown, hint=hint)
    text = printable_text(str(error))
    tries = "; ".join(("", *getattr(error, "__notes__", ())))
    return FileError(f"{shown}: {type(error).__name__}: {text[:200]}{tries}", file=shown)


def urls_of(url: str, rule: Rule | None = None) -> list[str]:
    """The URLs that match a pattern, or the URL itself."""
    system, inner = by_url(url, rule)

    def find() -> list[str]:
        if not is_pattern(system, inner):
            return [url]
        return [name for _, name, _ in matches(system, inner, url, False)]

    try:
        return patiently(find, known=False)
    except Exception as error:
        raise failure(url, error) from None


def names_of(paths: object) -> list[str]:
    """One name on a file system, or several."""
    items: Iterable[object] = [paths] if isinstance(paths, str | os.PathLike) else paths  # type: ignore[assignment]
    names = [os.fspath(item) for item in items]  # type: ignore[call-overload]
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a path in a file system must be a str, not {type(name).__name__}")
    return names


def open_one(url: str, rule: Rule | None = None) -> RemoteFile:
    """The file of exactly this URL."""
    system, inner = by_url(url, rule)

    def open() -> RemoteFile:
        info = None if is_http(system) else system.info(inner)
        if info is not None and is_folder(info):
            raise folder_error(url)
        return opened(system, inner, url, info)

    try:
        return patiently(open, known=False)
    except Exception as error:
        raise failure(url, error) from None


def opened(system: Any, path: str, name: str, info: dict[str, Any] | None) -> RemoteFile:
    """A file, from the file system's description; info: None for a web server's file."""
    if info is None:
        return RemoteFile(system, path, name_of_url(name), None, HttpFile(system, path))
    packed = _packed_size(system, info)
    return RemoteFile(system, path, name_of_url(name), size_of(info), packed=packed)


def size_of(info: dict[str, Any]) -> int | None:
    """The size of a file in bytes; None: unknown."""
    size = info.get("size")
    return size if isinstance(size, int) and size >= 0 else None


def _packed_size(system: Any, info: dict[str, Any]) -> int | None:
    """The size of a file inside an archive, as far as the archive states it, and at most the size
    of the archive."""
    packed = info.get("compress_size")
    file = getattr(system, "fo", None)
    whole = getattr(file, "packed", None) or getattr(file, "size", None)
    known = [size for size in (packed, whole) if isinstance(size, int)]
    return min(known, default=None)


def folder_error(name: str) -> FileError:
    shown = name_of_url(name)
    hint = "name the files in it, for example with a pattern: folder/*"
    return FileError(f"{shown}: it is a folder ({hint})", file=shown, hint=hint)


def as_fsspec(filesystem: Any) -> Any:
    """An fsspec file system; a pyarrow file system is wrapped."""
    if not hasattr(filesystem, "open_input_file"):
        return filesystem
    _fsspec()
    wrapper = need("fsspec.implementations.arrow", "a file system of pyarrow")
    return wrapper.ArrowFSWrapper(filesystem)


_OF_DATABASE = 'cst.open(uri, query="select ...") reads the result of a query, as a whole'


def by_url(url: str, rule: Rule | None = None, hint: str = _OF_DATABASE) -> tuple[Any, str]:
    """The file system of a URL, and the path on it. UnsupportedError if the rule, or that from the
    environment, does not allow it; and for a database.

    hint: what to do about a database.
    """
    allowed = rules(rule)
    allowed.check(url)
    if is_database(url):
        raise database_error(url, hint)
    core = _fsspec()
    try:
        system, path = core.url_to_fs(url, **allowed.options(url))
    except ImportError as error:
        if url.startswith(("http://", "https://")):
            refuse("aiohttp", url, "remote", error)
        hint = printable_text(str(error))[:120]
        text = f"{name_of_url(url)}: its file system is not installed ({hint})"
        raise UnsupportedError(text, hint=hint) from None
    except (Error, MemoryError):
        raise
    except ValueError as error:
        shown = name_of_url(url)
        raise NotFoundError(f"{shown}: {printable_text(str(error))[:120]}", file=shown) from None
    except Exception as error:  # of an archive, which is opened here
        raise failure(url, error) from None
    return system, path


def _fsspec() -> Any:
    return need("fsspec.core", "opening a URL")


class RemoteOutput:
    """A file that is written on a file system. It appears when it is closed. If it is abandoned, it
    does not appear, or is removed where the file system cannot cancel it. A forked process leaves
    it to its parent."""

    def __init__(self, url: str) -> None:
        hint = "write a file and load it with the database's own tools"
        self._system, self._path = by_url(url, hint=hint)
        self.name = name_of_url(url)
        self._file: Any = None
        self._is_foreign = False  # another process writes it
        _outputs.add(self)

    def exists(self) -> bool:
        try:
            return bool(self._system.exists(self._path))
        except Exception as error:
            raise failure(self.name, error) from None

    def leave(self) -> None:
        """In a forked child: buffered data must not be written from here, whoever releases the
        file."""
        file, self._file = self._file, None
        self._is_foreign = True
        with contextlib.suppress(AttributeError):
            file.closed = True  # one of fsspec's own, which uploads when it is collected
        with contextlib.suppress(Exception):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, file.fileno())
            os.close(nowhere)

    def _opened(self) -> Any:
        if self._is_foreign:
            raise StateError("the writer is closed")
        if self._file is None:
            self._file = self._system.open(self._path, "wb", autocommit=False)
        return self._file

    def write(self, data: bytes) -> int:
        try:
            self._opened().write(data)
        except Exception as error:
            raise failure(self.name, error) from None
        return memoryview(data).nbytes

    def commit(self) -> None:
        try:
            file = self._opened()
            file.close()
            if hasattr(file, "commit"):
                file.commit()
        except Exception as error:
            raise failure(self.name, error) from None

    def discard(self) -> None:
        """Leaves no file that looks complete."""
        file, self._file = self._file, None
        if file is None:
            return
        with contextlib.suppress(Exception):
            file.close()
        with contextlib.suppress(FileNotFoundError):
            if hasattr(file, "commit"):
                file.discard()
            else:
                self._system.rm_file(self._path)


_outputs: weakref.WeakSet[RemoteOutput] = weakref.WeakSet()


def _leave_outputs() -> None:
    for output in _outputs:
        output.leave()


os.register_at_fork(after_in_child=_leave_outputs)
