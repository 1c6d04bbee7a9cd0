"""The file of a store, as this process has opened it."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from typing import TYPE_CHECKING, NamedTuple

from .. import _core
from .._base.errors import FileError, NotFoundError, StateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Final

WRITE: Final = 0
READ: Final = 1
CREATE: Final = 2


class Opening(NamedTuple):
    """The arguments for opening a store; they pickle as a tuple."""

    path: str
    mode: int = WRITE
    timeout: int = 0


class Connection:
    """One store for all threads of a process. A forked child opens it again."""

    __slots__ = ("__weakref__", "_core", "_owner", "_process", "opening")

    opening: Opening

    def __init__(self, opening: Opening, core: _core.Store | None = None) -> None:
        self.opening = opening  # how it is opened once more
        self._core = core
        self._process = os.getpid()
        self._owner: int | None = None  # the thread whose transaction is open

    @property
    def core(self) -> _core.Store:
        """The open store. StateError in a child that was forked inside a transaction."""
        if self._core is not None and self._process == os.getpid():
            return self._core
        if self._core is not None and self._owner is not None:
            hint = "fork before or after the transaction"
            raise StateError(
                f"the process was forked inside a transaction of the store ({hint})", hint=hint
            )
        self._core = _opened(self.opening)
        self._process = os.getpid()
        return self._core

    @property
    def path(self) -> str:
        return self.opening.path

    @property
    def is_read_only(self) -> bool:
        return self.opening.mode == READ

    @property
    def is_in_transaction(self) -> bool:
        """The open transaction of this thread."""
        return self._owner == threading.get_ident() and self._process == os.getpid()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction of the store, or a part of the one that this thread has begun."""
        if self.is_in_transaction:
            yield
            return
        self.core.begin()
        self._owner = threading.get_ident()
        try:
            yield
        except BaseException:
            self._end(self.core.rollback)
            raise
        self._end(self.core.commit)

    def _end(self, end: Callable[[], None]) -> None:
        self._owner = None
        end()

    def close(self) -> None:
        """Closes the store; it stays closed, in forked children as well."""
        if self._core is not None:
            self._core.close()


def _opened(opening: Opening) -> _core.Store:
    path, mode, timeout = opening
    return _core.Store(os.fsencode(path), mode, None, False, timeout)


_shared: weakref.WeakValueDictionary[Opening, Connection] = weakref.WeakValueDictionary()


def shared(opening: Opening) -> Connection:
    """The connection for an unpickled object: one for each store in a process."""
    found = _shared.get(opening)
    if found is None:
        found = _shared[opening] = Connection(opening)
    return found


def lent(opening: Opening) -> Connection | None:
    """The connection, if the store can be reached and written from here; otherwise None, as for a
    worker on another machine or a read-only file system."""
    connection = shared(opening)
    try:
        _ = connection.core
    except (FileError, NotFoundError):
        return None
    return connection
