"""Leases: every reader of artifacts holds one, so that their files are not deleted."""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._base.errors import StateError
from .._base.public import public_in
from .connection import Connection, Opening, lent

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType
    from typing import Self

    from .. import _core


@public_in("columnstone.lineage")
class Lease:
    """Keeps the files of artifacts until it is closed; a context manager. A thread renews it; after
    a crash it expires. `Store.lease` creates one."""

    __slots__ = ("__weakref__", "_core", "artifacts")

    artifacts: tuple[int, ...]

    def __init__(self, core: _core.Lease, artifacts: tuple[int, ...]) -> None:
        self._core = core
        self.artifacts = artifacts  #: their ids
        end_at_exit(core)

    def check(self) -> None:
        """StateError if it has expired, for example while the machine was suspended, so that files
        may have been deleted; also if it was closed."""
        self._core.check()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed or has expired."""
        return not self._core.is_held()

    def close(self) -> None:
        """Ends the lease. A second close does nothing."""
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a lease belongs to one process: pickle its artifacts instead")

    def __repr__(self) -> str:
        state = ", closed" if self.is_closed else ""
        return f"<columnstone.lineage.Lease of {len(self.artifacts)} artifacts{state}>"


@public_in("columnstone.lineage")
@dataclass(frozen=True)
class LeaseRecord:
    """A lease of any holder, as `Store.leases` returns it."""

    id: int
    holder: str
    expires: datetime
    artifacts: tuple[int, ...]
    references: tuple[str, ...]


class Hold:
    """The lease of opened artifacts: one per set of artifacts and process, counted by Python's
    references. It pickles: a reader in another process gets a lease of its own, if it can reach the
    store."""

    __slots__ = ("__weakref__", "artifacts", "lease", "opening")

    opening: Opening
    artifacts: tuple[int, ...]
    lease: _core.Lease | None

    def __init__(
        self, opening: Opening, artifacts: tuple[int, ...], lease: _core.Lease | None
    ) -> None:
        self.opening = opening
        self.artifacts = artifacts
        self.lease = lease  # None: the store cannot be written to from here

    @property
    def key(self) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        """The arguments to create it again, as plain data."""
        return tuple(self.opening), self.artifacts

    def __reduce__(self) -> Any:
        return hold_again, self.key


class _Ends:
    """The leases of this process, which end with it. A lease that is not closed at exit would
    otherwise last for minutes."""

    def __init__(self) -> None:
        self.leases: weakref.WeakSet[_core.Lease] = weakref.WeakSet()
        self.process = 0  # that has been told

    def add(self, lease: _core.Lease) -> None:
        self.leases.add(lease)
        if self.process == os.getpid():
            return
        self.process = os.getpid()
        atexit.register(self.end)
        workers = sys.modules.get("multiprocessing.util")
        if workers is not None:  # of which some leave by os._exit
            workers.Finalize(None, self.end, exitpriority=0)

    def end(self) -> None:
        for lease in list(self.leases):
            lease.end()


end_at_exit = _Ends().add

_holds: weakref.WeakValueDictionary[Any, Hold] = weakref.WeakValueDictionary()


def hold(connection: Connection | None, opening: Opening, artifacts: tuple[int, ...]) -> Hold:
    """A lease on these artifacts. StateError if one of them is not live any more."""
    name = (opening, artifacts, os.getpid())
    found = _holds.get(name)
    if found is not None and _is_good(found):
        return found
    lease = None
    if connection is not None and not connection.is_read_only:
        lease = connection.core.lease(artifacts, None, 0, False, 0)
        end_at_exit(lease)
    made = _holds[name] = Hold(opening, artifacts, lease)
    return made


def _is_good(found: Hold) -> bool:
    try:
        if found.lease is not None:
            found.lease.check()
    except StateError:
        return False
    return True


def hold_again(opening: tuple[Any, ...], artifacts: tuple[int, ...]) -> Hold:
    """The pickled form of a Hold."""
    how = Opening(*opening)
    name = (how, artifacts, os.getpid())
    return _holds.get(name) or hold(lent(how), how, artifacts)
