"""Trying again what a server may do better the next time: busy servers, connections that end early
or fall silent."""

from __future__ import annotations

import errno
import random
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")

TRIES = 6
FIRST_PAUSE = 0.25  # seconds; each one after it is twice as long, and by chance up to half shorter
LONGEST_PAUSE = 30.0  # that a server may ask for

# 408 and 425: ask again; 429: too many requests; the others: not this time.
_BUSY = frozenset((408, 425, 429, 500, 502, 503, 504))


class BusyError(OSError):
    """An answer that says that the next one may be another.

    wait: seconds that the server asks for.
    """

    def __init__(self, text: str, wait: float) -> None:
        super().__init__(text)
        self.wait = wait


class EndedEarlyError(OSError):
    """Fewer bytes than the file has."""


def is_busy(status: int) -> bool:
    """True for an HTTP status after which a server is asked again."""
    return status in _BUSY


def asked_wait(header: str) -> float:
    """The seconds of a Retry-After; dates are not heeded."""
    return min(float(header), LONGEST_PAUSE) if header.isdecimal() else 0.0


def is_passing(error: BaseException, known: bool) -> bool:
    """True for what may be over soon. known: the server has answered before; if it has not, what
    refuses a connection, or has no address, is taken for a wrong name."""
    if isinstance(error, BusyError | EndedEarlyError | TimeoutError):
        return True
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "ClientConnectorError" in kinds or getattr(error, "errno", 0) == errno.ECONNREFUSED:
        return known
    # Those of aiohttp, without loading it.
    broken = {"ClientPayloadError", "ServerConnectionError", "ClientOSError"}
    return isinstance(error, ConnectionError) or bool(broken & kinds)


def patiently(
    call: Callable[[], _Result], reset: Callable[[], None] | None = None, known: bool = True
) -> _Result:
    """What call gives; called again after a pause, and after reset, while it fails with what may
    pass. The last failure is raised with a note of the number of tries."""
    pause = FIRST_PAUSE
    for i in range(1, TRIES + 1):
        try:
            return call()
        except Exception as error:
            if not is_passing(error, known):
                raise
            if i == TRIES:
                error.add_note(f"tried {TRIES} times")
                raise
            time.sleep(max(pause * random.uniform(0.5, 1.0), getattr(error, "wait", 0.0)))
        pause *= 2
        if reset is not None:
            reset()
    raise AssertionError
