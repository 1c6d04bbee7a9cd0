"""Files on HTTP servers: described by one request, and read in ranges if the server supports them.
Otherwise they are read from the beginning, and readers that seek use a temporary copy."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import tempfile
import threading
import weakref
from typing import IO, TYPE_CHECKING, Any

from .._base.errors import FileError, LimitError
from .._base.text import name_of_url
from .bounds import check_encoding, most_of_copy
from .forks import reopened
from .patience import BusyError, EndedEarlyError, asked_wait, is_busy, is_passing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_CONNECT = 30.0  # seconds for a connection
_SILENCE = 60.0  # seconds without a byte, of an answer that may take as long as it likes
_HEAD = 64  # bytes that are asked for first
_STEP = 1 << 20


def is_http(system: Any) -> bool:
    """True for fsspec's file system of HTTP."""
    protocol = getattr(system, "protocol", ())
    names = (protocol,) if isinstance(protocol, str) else protocol
    return "http" in names and hasattr(system, "set_session")


class HttpFile:
    """The server's description of one file. HEAD is not used: only the answer to GET counts, and a
    Range in the request shows whether the server supports ranges."""

    def __init__(self, system: Any, url: str) -> None:
        self._system = system
        self._url = url
        self._copy: IO[bytes] | None = None
        self._lock = threading.Lock()
        self._process = os.getpid()
        answer = Answer(system, url, f"bytes=0-{_HEAD - 1}")
        if answer.status == 416:  # an empty file has no bytes 0 to 63
            answer.close()
            answer = Answer(system, url)
        self.size = answer.size
        self.sends_parts = answer.is_part
        self.version = answer.version
        answer.close()

    def enter(self) -> None:
        """In a forked process: the same file with connections of its own. (A thread that does not
        exist here may hold the lock.)"""
        if self._process != os.getpid():
            self._system = reopened(self._system, self._url)
            self._lock = threading.Lock()
            self._process = os.getpid()

    def open(self) -> Any:
        """A reader at the beginning of the file; with seek, if the server supports ranges."""
        if not self.sends_parts:
            return Answer(self._system, self._url)
        file = self._system.open(self._url, "rb", size=self.size)
        file.cache.fetcher = self._bytes  # fsspec takes any 206 for what it asked for
        return file

    def _bytes(self, begin: int, end: int) -> bytes:
        """These bytes of the file, in as many ranges as the server returns."""
        data = self._part(begin, end)
        while begin + len(data) < end:
            data += self._part(begin + len(data), end)
        return data

    def _part(self, begin: int, end: int) -> bytes:
        """The server's answer for these bytes: at least the first of them, and from the same
        version of the file, otherwise FileError. If the answer ends early, the bytes so far."""
        answer = Answer(self._system, self._url, f"bytes={begin}-{end - 1}")
        try:
            last = self._check_part(answer, begin, end)
            size = last + 1 - begin
            data = answer.read_up_to(size + (answer.status == 206))
        finally:
            answer.close()
        if len(data) != size and not answer.ended_early:
            had = "more" if len(data) > size else str(len(data))
            raise self._wrong(f"the server sent {had} bytes, expected the {size} of {begin}-{last}")
        return data

    def _check_part(self, answer: Answer, begin: int, end: int) -> int:
        """The last byte of the part."""
        if answer.size not in (None, self.size) or answer.is_other(self.version):
            hint = "open it again"
            raise self._wrong("the file on the server has changed since it was opened", hint)
        if answer.status == 200 and begin == 0 and answer.size is not None:
            return end - 1  # the file as a whole, of which these are the first bytes
        found = answer.range
        if (
            answer.status != 206
            or found is None
            or found[0] != begin
            or not begin <= found[1] < end
        ):
            got = f"{found[0]}-{found[1]}" if found is not None else f"status {answer.status}"
            raise self._wrong(f"asked for bytes {begin}-{end - 1}, the server answered with {got}")
        return found[1]

    def _wrong(self, text: str, hint: str = "download the file and open the copy") -> FileError:
        shown = name_of_url(self._url)
        return FileError(f"{shown}: {text} ({hint})", file=shown, hint=hint)

    def _too_large(self, most: int) -> LimitError:
        shown = name_of_url(self._url)
        hint = "download the file and open the copy"
        text = (
            f"{shown}: the server does not support ranges, and a temporary copy of the file has "
            f"more than {most} bytes ({hint})"
        )
        return LimitError(text, file=shown, hint=hint)

    def copied(self, max_inflation: int) -> Copy:
        """A reader of a temporary copy, which the first reader creates."""
        with self._lock:
            if self._copy is None:
                self._copy = self._fetch(max_inflation)
            return Copy(self._copy, self._lock)

    def _fetch(self, max_inflation: int) -> IO[bytes]:
        copy: IO[bytes] = tempfile.TemporaryFile(prefix="columnstone-")  # noqa: SIM115
        answer = Answer(self._system, self._url)
        most = most_of_copy()
        try:
            while data := answer.read(_STEP):
                copy.write(data)
                if copy.tell() > most:
                    raise self._too_large(most)
                answer.check_inflation(name_of_url(self._url), max_inflation)
        except BaseException:
            copy.close()
            raise
        finally:
            answer.close()
        copy.flush()
        size = copy.tell()
        if self.size is not None and size != self.size:
            copy.close()
            raise EndedEarlyError(f"the server sent {size} of {self.size} bytes")
        self.size = size
        weakref.finalize(self, copy.close)
        return copy


class Copy:
    """A reader of a file that several readers share."""

    def __init__(self, file: IO[bytes], lock: threading.Lock) -> None:
        self._file = file
        self._lock = lock
        self._at = 0

    def seek(self, offset: int) -> None:
        self._at = offset

    def read(self, size: int) -> bytes:
        with self._lock:  # and where a forked process reads does not move this one's place
            data = os.pread(self._file.fileno(), size, self._at)
        self._at += len(data)
        return data

    def close(self) -> None:
        """Does nothing: other readers share the file."""


class Answer:
    """The server's answer to one GET, read as it arrives. aiohttp raises an error if it ends before
    its Content-Length or its last chunk, and undoes a Content-Encoding."""

    def __init__(self, system: Any, url: str, part: str | None = None) -> None:
        self._sync: Callable[..., Any] = importlib.import_module("fsspec.asyn").sync
        self._loop = system.loop
        session = self._sync(self._loop, system.set_session)
        self._got = self._sync(self._loop, self._get, session, system, url, part)
        self.status: int = self._got.status
        if self.status in (404, 410):
            self.close()
            raise FileNotFoundError(url)
        headers = self._got.headers
        if self.status not in (200, 206, 416):
            self.close()
            text = f"the server answered {self.status} {self._got.reason}"
            if is_busy(self.status):
                raise BusyError(text, asked_wait(headers.get("Retry-After", "")))
            raise OSError(text)
        self._content = getattr(self._got.content, "stream", self._got.content)
        encoded = headers.get("Content-Encoding", "identity").strip().lower() not in (
            "identity",
            "",
        )
        said = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", headers.get("Content-Range", "").strip())
        self.range: tuple[int, int] | None = None  # the first byte and the last
        self.size: int | None = None  # of the whole file
        if self.status == 206 and not encoded and said is not None:
            self.range = int(said[1]), int(said[2])
            self.size = int(said[3]) if said[3] != "*" else None
        elif self.status == 200 and not encoded and "Content-Length" in headers:
            self.size = int(headers["Content-Length"])
        self._given = 0
        self.ended_early = False
        self.is_part = self.range is not None and self.range[0] == 0 and self.size is not None
        etag = headers.get("ETag", "").strip().removeprefix("W/")
        self.version: tuple[str, str] = etag, headers.get("Last-Modified", "").strip()

    def is_other(self, version: tuple[str, str]) -> bool:
        """True if this answer shows another version of the file: by its ETag, otherwise by its
        time."""
        for ours, theirs in zip(self.version, version, strict=True):
            if ours and theirs:
                return ours != theirs
        return False

    async def _get(self, session: Any, system: Any, url: str, part: str | None) -> Any:
        aiohttp = importlib.import_module("aiohttp")
        wait = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT, sock_read=_SILENCE)
        options: dict[str, Any] = {"timeout": wait, **getattr(system, "kwargs", {})}
        headers = {**(options.pop("headers", None) or {}), "Accept-Encoding": "identity"}
        if part is not None:
            headers["Range"] = part
        return await session.get(system.encode_url(url), headers=headers, **options)

    def read(self, size: int) -> bytes:
        read: Callable[[int], Awaitable[bytes]] = self._content.read
        try:
            data: bytes = self._sync(self._loop, read, size)
        except BaseException:
            self.close()
            raise
        self._given += len(data)
        return data

    def check_inflation(self, name: str, ratio: int) -> None:
        """LimitError if the server's compressed answer expands too much."""
        check_encoding(self._got, name, self._given, ratio)

    def read_up_to(self, size: int) -> bytes:
        """Reads at most this many bytes. An answer that ends early is an error only if nothing has
        arrived."""

        async def gather() -> bytes:
            pieces: list[bytes] = []
            left = size
            try:
                while left > 0 and (piece := await self._content.readany()):
                    pieces.append(piece[:left])
                    left -= len(piece)
            except Exception as error:
                if not pieces or not is_passing(error, True):
                    raise
                self.ended_early = True
            return b"".join(pieces)

        gathered: bytes = self._sync(self._loop, gather)
        return gathered

    def close(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop ends before us when the interpreter does
            self._loop.call_soon_threadsafe(self._got.close)
