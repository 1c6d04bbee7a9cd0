"""Limits for remote data: the bodies of web servers that fsspec reads completely (listings, parts
of a file, copies for a cache), and the uncompressed size of archives. The other side alone
determines where these end."""

from __future__ import annotations

import functools
import importlib
import io
import re
import shutil
import tempfile
from typing import TYPE_CHECKING, Any

from .._base.errors import LimitError
from .._base.limits import check_inflation
from .._base.text import name_of_url

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_LISTED = 16 << 20  # bytes of one page that lists a folder
_MOST_COPY = 16 << 30  # bytes of a temporary copy; nor is more than half of the disk taken
_STEP = 1 << 20


def most_of_copy() -> int:
    """The maximum size of a temporary copy: an answer may be endless."""
    return min(_MOST_COPY, shutil.disk_usage(tempfile.gettempdir()).free // 2)


def check_encoding(answer: Any, name: str, given: int, ratio: int) -> None:
    """LimitError if a server's compressed answer expands too much. given: bytes after
    decompression."""
    encoding = answer.headers.get("Content-Encoding", "identity").strip()
    if encoding.lower() in ("identity", ""):
        return
    length = answer.headers.get("Content-Length", "")
    said = int(length) if length.isdecimal() else 0
    taken = getattr(answer.content, "total_compressed_bytes", None) or said
    check_inflation(name, f"Content-Encoding {encoding}", taken, given, ratio)


# ---- what fsspec reads from web servers ----


class Body:
    """Counts the bytes of an answer; everything else is delegated to the stream."""

    def __init__(self, stream: Any, answer: Any, ratio: int) -> None:
        self.stream = stream
        self._answer = answer
        self._ratio = ratio
        self._given = 0
        self._most = most_of_answer(answer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def limit(self, most: int) -> None:
        self._most = min(self._most, most)

    async def read(self, size: int = -1) -> bytes:
        if size >= 0:
            return self._counted(await self.stream.read(size))
        pieces = []
        while piece := await self.readany():
            pieces.append(piece)
        return b"".join(pieces)

    async def readany(self) -> bytes:
        return self._counted(await self.stream.readany())

    def _counted(self, data: bytes) -> bytes:
        self._given += len(data)
        name = name_of_url(str(self._answer.url))
        if self._given > self._most:
            hint = "download the file and open the copy"
            text = f"{name}: the server sent more than {self._most} bytes ({hint})"
            raise LimitError(text, file=name, hint=hint)
        check_encoding(self._answer, name, self._given, self._ratio)
        return data


def most_of_answer(answer: Any) -> int:
    """For a part, the requested bytes; for a whole file, the maximum size of a copy."""
    asked = answer.request_info.headers.get("Range", "")
    part = re.fullmatch(r"bytes=(\d+)-(\d+)", asked) if answer.status == 206 else None
    return int(part[2]) + 1 - int(part[1]) if part is not None else most_of_copy()


@functools.cache
def answer_class(ratio: int) -> Any:
    """The class of answers that an aiohttp session returns to fsspec."""
    base: Any = importlib.import_module("aiohttp").ClientResponse

    class Answer(base):  # type: ignore[misc]
        async def start(self, connection: Any) -> Any:
            await super().start(connection)
            self.content: Any = Body(self.content, self, ratio)
            return self

        async def text(self, *arguments: Any, **options: Any) -> str:  # of a folder's page
            self.content.limit(MOST_LISTED)
            text: str = await super().text(*arguments, **options)
            return text

    return Answer


# ---- archives that are compressed as a whole ----


class Inflated(io.RawIOBase):
    """A file that is decompressed; packed: its compressed bytes."""

    def __init__(self, file: Any, name: str, kind: str, packed: int, ratio: int) -> None:
        self._file = file
        self._name = name
        self._kind = kind
        self.packed = packed
        self._ratio = ratio

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        place: int = self._file.tell()
        return place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_CUR:
            offset += self.tell()
        elif whence == io.SEEK_END:
            while self.read(_STEP):
                pass
            offset += self.tell()
        if offset < self.tell():
            self._file.seek(offset)
        while self.tell() < offset and self.read(min(_STEP, offset - self.tell())):
            pass
        return self.tell()

    def read(self, size: int | None = -1) -> bytes:
        """Returns as much as requested, except at the end: tarfile relies on that."""
        data = bytearray()
        whole = size is None or size < 0
        while whole or len(data) < (size or 0):
            step = self._file.read(_STEP if whole else min(_STEP, (size or 0) - len(data)))
            if not step:
                break
            data += step
            check_inflation(self._name, self._kind, self.packed, self.tell(), self._ratio)
        return bytes(data)

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def _inflated(file: Any, mode: str = "rb", *, ratio: int) -> Any:
    """A file unchanged, or decompressed according to the ending of its name."""
    codecs = importlib.import_module("fsspec.compression").compr
    infer: Callable[[str], str | None] = importlib.import_module("fsspec.utils").infer_compression
    names = (getattr(file, attribute, "") for attribute in ("original", "path", "name"))
    name = next((str(name) for name in names if name), "")
    kind = infer(name)
    if kind is None:
        return file
    packed = file.seek(0, io.SEEK_END)
    file.seek(0)
    return Inflated(codecs[kind](file, mode=mode), name_of_url(name), kind, packed, ratio)


def archive_options(ratio: int) -> dict[str, dict[str, Any]]:
    """For fsspec.core.url_to_fs: chains that contain archives."""
    codecs = importlib.import_module("fsspec.compression").compr
    name = f"columnstone-{ratio}"
    codecs.setdefault(name, functools.partial(_inflated, ratio=ratio))
    return {"tar": {"compression": name}}
