"""Folders of files that many workers write and one driver commits.

Every attempt of a task writes a file of a name of its own, in a folder below the output's that
readers do not look into. The commit gives the files of the attempts that count their names, and
takes everything else away: what was written twice, or by a worker that died, is never seen.
"""

from __future__ import annotations

import os
import shutil
import uuid
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .. import _core
from .._base.arguments import text
from .._base.errors import FileError, argument_error
from .._io.remote import by_url, is_remote
from .._sink.writer import Writer
from .names import check_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    Mode = Literal["append", "overwrite", "error"]

_MODES = ("append", "overwrite", "error")
_COMPRESSIONS = {"gzip": ".gz", "zlib": ".zlib", "zstd": ".zst"}
_HIDDEN = (".", "_")  # how names begin that readers pass over


class Written(NamedTuple):
    """A file of one attempt, which only a commit makes visible."""

    task: int
    name: str
    rows: int


class Folder:
    """An output folder. It pickles: workers write, the driver begins and commits or gives up.

    path: of the folder, or its URL; it is made if it is not there.
    format, options: those of `columnstone.Writer`.
    mode: "append" adds files to those that are there; "overwrite" removes these once the new ones
        are there; "error": a folder that has files is a FileError.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        format: str,
        mode: Mode = "append",
        options: dict[str, Any] | None = None,
    ) -> None:
        options = dict(options or {})
        check_names(options, Writer.__init__, ("self", "file", "format", *_OF_ONE_FILE))
        if mode not in _MODES:
            raise argument_error(f"there is no mode {ascii(mode)[:40]}", f"one of {_MODES}")
        text("format", format)
        self.path = os.fspath(path)
        self.format = format
        self.mode = mode
        self.options = options
        self.ending = _ending(format, options.get("container"), options.get("compression"))
        self.job = uuid.uuid4().hex

    # Of the driver

    def begin(self) -> None:
        """Before the first task."""
        place = _place(self.path)
        place.make("")
        if self.mode == "error" and self._visible(place):
            hint = 'name a folder that is empty, or mode="append" or "overwrite"'
            raise FileError(f"{self.path}: the folder has files ({hint})", file=self.path)

    def commit(self, files: Iterable[Written]) -> list[str]:
        """Gives the files their names, in the order of their tasks, and returns these. If one
        cannot be renamed, none is there."""
        place = _place(self.path)
        place.make("")
        before = self._visible(place) if self.mode == "overwrite" else []
        names: list[str] = []
        try:
            for file in sorted(files):
                name = f"part-{len(names):05}-{self.job[:12]}{self.ending}"
                place.move(f"{self._staging}/{file.name}", name)
                names.append(name)
        except BaseException:
            for name in names:
                place.remove(name)
            self.abort()
            raise
        for name in before:
            place.remove(name)
        place.remove(self._staging)
        return names

    def abort(self) -> None:
        """Leaves nothing of the job."""
        _place(self.path).remove(self._staging)

    def again(self) -> Folder:
        """The same folder for another job."""
        return Folder(self.path, self.format, self.mode, self.options)

    # Of a worker

    def write(self, task: int, batches: Iterable[Any]) -> Written | None:
        """Writes one file. None if there are no rows: then there is no file, either."""
        place = _place(self.path)
        place.make(self._staging)
        name = f"{task:05}-{uuid.uuid4().hex}{self.ending}"
        writer: Writer | None = None
        try:
            for batch in batches:
                if batch.num_rows > 0:
                    if writer is None:
                        full = place.full(f"{self._staging}/{name}")
                        writer = Writer(full, self.format, **self.options)
                    writer.write(batch)
            if writer is None:
                return None
            writer.close()
        except BaseException:
            if writer is not None:
                writer.abort()
            raise
        return Written(task, name, writer.num_rows)

    @property
    def _staging(self) -> str:
        return f".columnstone-{self.job}"

    def _visible(self, place: _Local | _Remote) -> list[str]:
        return [name for name in place.list() if not name.startswith(_HIDDEN)]


_OF_ONE_FILE = ("num_shards", "shard_bytes")


def _ending(format: str, container: str | None, compression: str | None) -> str:
    """What readers know the files by."""
    endings, _ = _core.FORMATS.get(format, ((f".{format}",), False))
    if not endings:  # of records
        container = container or "tfrecord"
        endings = _core.CONTAINERS.get(container, ()) or (f".{container}",)
    return endings[0] + _COMPRESSIONS.get(compression or "", "")


class _Local:
    """A folder on this machine's disks, or on one that all machines share."""

    def __init__(self, path: str) -> None:
        self._path = path

    def full(self, name: str) -> str:
        return os.path.join(self._path, name)

    def make(self, name: str) -> None:
        os.makedirs(self.full(name), exist_ok=True)

    def list(self) -> list[str]:
        return sorted(os.listdir(self._path))

    def move(self, name: str, to: str) -> None:
        os.replace(self.full(name), self.full(to))

    def remove(self, name: str) -> None:
        path = self.full(name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        elif os.path.lexists(path):
            os.remove(path)


class _Remote:
    """A folder of a file system of fsspec, where moving may be copying."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._system, self._path = by_url(self._url)

    def full(self, name: str) -> str:
        return f"{self._url}/{name}"

    def make(self, name: str) -> None:
        self._system.makedirs(f"{self._path}/{name}".rstrip("/"), exist_ok=True)

    def list(self) -> list[str]:
        self._system.invalidate_cache()
        if not self._system.exists(self._path):
            return []
        return sorted(_base(name) for name in self._system.ls(self._path, detail=False))

    def move(self, name: str, to: str) -> None:
        self._system.mv(f"{self._path}/{name}", f"{self._path}/{to}")

    def remove(self, name: str) -> None:
        self._system.invalidate_cache()
        path = f"{self._path}/{name}"
        if self._system.exists(path):
            self._system.rm(path, recursive=True)


def _base(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _place(path: str) -> _Local | _Remote:
    return _Remote(path) if is_remote(path) else _Local(path)
