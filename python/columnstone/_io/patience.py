"""Retries requests that may succeed later: to busy servers, and on connections that end early or
time out."""

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

# 408 and 425: ask again; 429: too many requests; the others: temporary errors.
_BUSY = frozenset((408, 425, 429, 500, 502, 503, 504))


class BusyError(OSError):
    """An answer after which a retry may succeed.

    wait: the seconds that the server asks to wait.
    """

    def __init__(self, text: str, wait: float) -> None:
        super().__init__(text)
        self.wait = wait


class EndedEarlyError(OSError):
    """Fewer bytes than the file has."""


def is_busy(status: int) -> bool:
    """True for an HTTP status after which a request is retried."""
    return status in _BUSY


def asked_wait(header: str) -> float:
    """The seconds of a Retry-After header; dates are ignored."""
    return min(float(header), LONGEST_PAUSE) if header.isdecimal() else 0.0


def is_passing(error: BaseException, known: bool) -> bool:
    """True for an error that may be temporary. known: the server has answered before; if not, a
    refused connection or an unknown address is taken for a wrong name."""
    if isinstance(error, BusyError | EndedEarlyError | TimeoutError):
        return True
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "ClientConnectorError" in kinds or getattr(error, "errno", 0) == errno.ECONNREFUSED:
        return known
    # Exceptions of aiohttp, without importing it.
    broken = {"ClientPayloadError", "ServerConnectionError", "ClientOSError"}
    return isinstance(error, ConnectionError) or bool(broken & kinds)


def patiently(
    call: Callable[[], _Result], reset: Callable[[], None] | None = None, known: bool = True
) -> _Result:
    """Returns the result of call. After a temporary error it waits, calls reset, and tries again.
    The last error is raised with a note of the number of tries."""
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
