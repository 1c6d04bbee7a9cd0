"""Folders on Beam's own file systems as locations for outputs."""

from __future__ import annotations

import contextlib
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from apache_beam.io.filesystem import BeamIOError, CompressionTypes
from apache_beam.io.filesystems import FileSystems

from .._engines.place import LocalPlace, data_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._engines.place import Place

_MOVES_AT_ONCE = 32


def place_of(folder: str) -> Place:
    return LocalPlace(folder) if FileSystems.get_scheme(folder) is None else BeamPlace(folder)


def _match(begin: str, wildcard: str) -> list[str]:
    """The part after the last slash of `begin`, for files whose paths begin with it."""
    pattern = re.sub(r"([*?\[])", r"[\1]", begin) + wildcard
    [found] = FileSystems.match([pattern])
    folder = begin[: begin.rindex("/") + 1]
    return [file.path.removeprefix(folder) for file in found.metadata_list]


class BeamPlace:
    """An object store, where folders are parts of names: a move is a copy, which becomes visible
    when it is complete, followed by a removal."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def path(self, name: str) -> str:
        return f"{self._url}/{name}" if name else self._url

    def exists(self, name: str = "") -> bool:
        return bool(FileSystems.exists(self.path(name)))

    def make(self, name: str) -> None:
        with contextlib.suppress(BeamIOError, OSError):  # it is there, or made with its first file
            FileSystems.mkdirs(self.path(name))

    def make_one(self, name: str) -> None:
        self.make(name)

    def files(self, name: str, begin: str = "") -> list[str]:
        return sorted(_match(f"{self.path(name)}/{begin}", "*"))

    def below(self, name: str) -> set[str]:
        inside = f"{name}/" if name else ""
        return {inside + file for file in _match(f"{self.path(name)}/", "**")}

    def data(self) -> list[str]:
        return data_of(self.below(""))

    def read(self, name: str) -> bytes | None:
        if not self.exists(name):
            return None
        kind = CompressionTypes.UNCOMPRESSED
        with FileSystems.open(self.path(name), compression_type=kind) as file:
            data: bytes = file.read()
        return data

    def write(self, name: str, data: bytes) -> None:
        kind = CompressionTypes.UNCOMPRESSED
        with FileSystems.create(self.path(name), compression_type=kind) as file:
            file.write(data)

    def move(self, pairs: Iterable[tuple[str, str]]) -> None:
        def move_one(pair: tuple[str, str]) -> None:
            FileSystems.rename([self.path(pair[0])], [self.path(pair[1])])

        with ThreadPoolExecutor(_MOVES_AT_ONCE) as threads:
            for _ in threads.map(move_one, pairs):
                pass

    def remove(self, names: Iterable[str]) -> None:
        paths = [self.path(name) for name in names]
        if paths:
            FileSystems.delete(paths)

    def remove_all(self, name: str) -> None:
        self.remove(self.below(name))

    def remove_empty(self) -> None:
        pass
