"""Files behind fsspec and pyarrow file systems: listed, opened, and read in full."""

from __future__ import annotations

import importlib
import io
import os
from typing import TYPE_CHECKING, Any

from ._errors import FileError, NotFoundError, UnsupportedError, argument_error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._writer import Compression

_GLOB = frozenset("*?[")


class RemoteFile(io.RawIOBase):
    """A file of known size that is read by place. What a server does not give is an error: a
    connection that ends early looks like the end of the file otherwise."""

    def __init__(self, file: Any, name: str, size: int | None) -> None:
        self._file = file
        self.name = name
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_CUR:
            offset += self._at
        elif whence == os.SEEK_END:
            if self._size is None:
                raise OSError("the size of the file is not known")
            offset += self._size
        self._at = offset
        return offset

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        got = 0
        while got < len(view) and (self._size is None or self._at < self._size):
            if self._file.tell() != self._at:
                self._file.seek(self._at)
            data = self._file.read(len(view) - got)
            if not data:
                break
            view[got : got + len(data)] = data
            got += len(data)
            self._at += len(data)
        if got < len(view) and self._size is not None and self._at < self._size:
            raise FileError(
                f"{self.name}: the file system gave {self._at} bytes of {self._size}",
                file=self.name,
            )
        return got

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def is_remote(path: object) -> bool:
    """True for a URL."""
    return isinstance(path, str) and "://" in path


def open_files(paths: object, filesystem: Any) -> list[RemoteFile]:
    """The files that URLs, or paths of a file system, mean; globs resolved, sorted bytewise."""
    items: Iterable[object] = [paths] if isinstance(paths, str | os.PathLike) else paths  # type: ignore[assignment]
    files: list[RemoteFile] = []
    for item in items:
        path = os.fspath(item)  # type: ignore[call-overload]
        if not isinstance(path, str):
            raise TypeError(f"a path in a file system is a str, not {type(path).__name__}")
        system, inner = (as_fsspec(filesystem), path) if filesystem is not None else _by_url(path)
        files.extend(_open(system, name, path) for name in _expand(system, inner, path))
    return files


def as_fsspec(filesystem: Any) -> Any:
    """An fsspec file system; one of pyarrow is wrapped."""
    if not hasattr(filesystem, "open_input_file"):
        return filesystem
    _fsspec()
    wrapper: Any = importlib.import_module("fsspec.implementations.arrow")
    return wrapper.ArrowFSWrapper(filesystem)


def _by_url(url: str) -> tuple[Any, str]:
    """The file system that a URL names, and the path in it."""
    core = _fsspec()
    try:
        system, path = core.url_to_fs(url)
    except ImportError as error:
        hint = str(error)[:120]
        raise UnsupportedError(
            f"{url}: its file system is not installed ({hint})", hint=hint
        ) from None
    except ValueError as error:
        raise NotFoundError(f"{url}: {str(error)[:120]}", file=url) from None
    return system, path


def _fsspec() -> Any:
    try:
        return importlib.import_module("fsspec.core")
    except ImportError:
        hint = "pip install fsspec, and the package of the file system, such as s3fs"
        raise UnsupportedError(
            f"URLs are opened by fsspec, which is not installed ({hint})", hint=hint
        ) from None


def _expand(system: Any, path: str, shown: str) -> list[str]:
    if not _GLOB.intersection(path) or system.exists(path):
        return [path]
    found = sorted(system.glob(path), key=os.fsencode)
    if not found:
        raise NotFoundError(f"{shown}: no file matches (check the pattern)", file=shown)
    return [str(name) for name in found]


def _open(system: Any, path: str, shown: str) -> RemoteFile:
    try:
        size = system.info(path).get("size")
        file = system.open(path, "rb")
    except FileNotFoundError:
        hint = "check the path"
        raise NotFoundError(
            f"{shown}: there is no such file ({hint})", file=shown, hint=hint
        ) from None
    name = shown if path in shown else path
    return RemoteFile(file, name, size if isinstance(size, int) and size >= 0 else None)


class RemoteOutput:
    """A file of a file system that is written. It appears when it is closed; given up, it does not
    appear where the file system can take that back, and is removed where it cannot."""

    def __init__(self, path: str, filesystem: Any = None) -> None:
        self._system, self._path = (
            (as_fsspec(filesystem), path) if filesystem is not None else _by_url(path)
        )
        self.name = path
        self._file = self._system.open(self._path, "wb")

    def write(self, data: bytes) -> int:
        self._file.write(data)
        return memoryview(data).nbytes

    def commit(self) -> None:
        self._file.close()

    def discard(self) -> None:
        """Leaves no file that looks complete."""
        discard = getattr(self._file, "discard", None)
        if discard is not None:
            discard()
            return
        self._file.close()
        if self._system.exists(self._path):
            self._system.rm_file(self._path)


def format_of(files: list[RemoteFile]) -> str | None:
    """ "parquet", if the first file begins so; the library finds the others."""
    if not files:
        return None
    head = files[0].read(4)
    files[0].seek(0)
    return "parquet" if head == b"PAR1" else None


_ENDINGS = {
    ".tfrecord": "example",
    ".tfrecords": "example",
    ".tfrec": "example",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".arrows": "arrows",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_COMPRESSIONS: dict[str, Compression] = {
    ".gz": "gzip",
    ".zlib": "zlib",
    ".zz": "zlib",
    ".zst": "zstd",
}


def named_by(
    url: str, format: str | None, compression: Compression | None
) -> tuple[str, Compression | None]:
    """The format and compression of an output that a URL names, where they are not given."""
    stem, ending = os.path.splitext(url)
    if ending in _COMPRESSIONS:
        compression = compression or _COMPRESSIONS[ending]
        ending = os.path.splitext(stem)[1]
    found = format or _ENDINGS.get(ending)
    if found is None:
        raise argument_error(f"the ending of {url} means no known format", "name the format")
    return found, compression
