"""Reports records that worker processes drop to the process that trains.

A loader's workers read copies of a source. They append their dropped records to a file, which the
source's own process reads when `Source.dropped` is used. This needs neither a delivered batch (the
last records of an epoch, or all of them, may be bad) nor help from the loader.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pickle
import sys
import tempfile
import weakref
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from .._base.public import public

if TYPE_CHECKING:
    from .._core import Source
    from .dropped import Dropped

_SIZE = 8  # bytes of the number before each message
_KEPT = 16  # passes of which more may come: workers are ahead of each other


class Run(NamedTuple):
    """One iteration of a loader, shared by all of its workers."""

    loader: int
    number: int


@public
class ReportPlace:
    """Where workers report their dropped records. Everything that may run in a worker references
    it. It pickles as its name; the process that created it reads the reports as long as it is
    referenced."""

    __slots__ = ("__weakref__", "begun", "path", "process")

    def __init__(self, path: str, process: int) -> None:
        self.path = path
        self.process = process
        self.begun = 0  # iterations of this worker

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.process)


class _Message(NamedTuple):
    """The records that a worker has dropped in an epoch since its last report."""

    run: Run
    epoch: int
    worker: int
    first: int  # the number of the first of them
    dropped: list[Dropped]


class Reports:
    """The file, in the process that created it."""

    def __init__(self, core: Source) -> None:
        handle, self.path = tempfile.mkstemp(prefix="columnstone-dropped-")
        self._file = os.fdopen(handle, "rb")
        self._core = core
        self._passes: dict[tuple[Run, int], _Pass] = {}
        self._process = os.getpid()

    def take(self) -> None:
        """Adds new reports to the source's dropped records."""
        if self._process != os.getpid() or self._file.closed:
            return
        while True:
            begin = self._file.tell()
            size = int.from_bytes(self._file.read(_SIZE), "little")
            data = self._file.read(size)
            if size == 0 or len(data) < size:  # it is being written
                self._file.seek(begin)
                return
            self._add(_Message(*pickle.loads(data)))

    def end(self) -> None:
        """Ends the reports."""
        if self._process == os.getpid() and not self._file.closed:
            self.take()
            self._file.close()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)

    def _add(self, message: _Message) -> None:
        place = (message.run, message.epoch)
        found = self._passes.get(place)
        if found is None:
            is_late = any(
                run.loader == message.run.loader and (run, epoch) > place
                for run, epoch in self._passes
            )
            found = _Pass([] if is_late else self._core.begin_dropped())
            self._passes[place] = found
            while len(self._passes) > _KEPT:
                del self._passes[next(iter(self._passes))]
        found.add(message)


class _Pass:
    """One epoch. Workers that read in order all see the same bad records, which count once."""

    def __init__(self, dropped: list[Dropped]) -> None:
        self._dropped = dropped
        self._counts: Counter[Any] = Counter()
        self._of_workers: dict[int, Counter[Any]] = {}

    def add(self, message: _Message) -> None:
        own = self._of_workers.setdefault(message.worker, Counter())
        for one in message.dropped[max(own.total() - message.first, 0) :]:
            place = one[:-1]  # all but the exception
            own[place] += 1
            if own[place] > self._counts[place]:
                self._counts[place] += 1
                self._dropped.append(one)


def reporter_in(place: ReportPlace | None) -> Reporter | None:
    """In a worker of a DataLoader: reports for an iteration that begins."""
    data = sys.modules.get("torch.utils.data")
    worker = None if data is None or place is None else data.get_worker_info()
    if worker is None or place is None:
        return None
    place.begun += 1
    return Reporter(place.path, Run(worker.seed - worker.id, place.begun), worker.id)


class Reporter:
    """In a worker: reports the dropped records of one of its iterations."""

    def __init__(self, path: str, run: Run, worker: int) -> None:
        self._run = run
        self._worker = worker
        self._epoch = -1
        self._told = 0
        self._file: int | None = None
        with contextlib.suppress(FileNotFoundError):  # else there is nobody who asks
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND)
            weakref.finalize(self, os.close, self._file)

    def tell(self, epoch: int, dropped: list[Dropped]) -> None:
        """dropped: in this epoch so far."""
        if self._file is None or (epoch == self._epoch and len(dropped) == self._told):
            return
        if epoch != self._epoch:
            self._epoch, self._told = epoch, 0
        message = _Message(self._run, epoch, self._worker, self._told, dropped[self._told :])
        data = pickle.dumps(tuple(message))
        data = len(data).to_bytes(_SIZE, "little") + data
        if os.write(self._file, data) < len(data):
            raise OSError(errno.ENOSPC, "no space for the dropped records", tempfile.gettempdir())
        self._told = len(dropped)
