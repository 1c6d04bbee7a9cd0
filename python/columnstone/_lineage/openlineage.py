"""Sends OpenLineage events to the server of a catalogue, one after the other."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .._base.errors import FileError, argument_error
from .._base.text import name_of_url, printable, without_secrets
from .._io.patience import BusyError, asked_wait, is_busy, patiently
from .._io.rules import Rules, rules

if TYPE_CHECKING:
    from collections.abc import Callable

ENDPOINT = "api/v1/lineage"  # of servers that are named without a path

_PATIENCE = 30.0  # seconds without a byte
_MOST_TOLD = 300  # characters of what a server says


def send(events: str, url: str | bool, api_key: str | None) -> None:
    """Posts each line. url: True uses $OPENLINEAGE_URL, and $OPENLINEAGE_API_KEY, which is sent
    nowhere else. FileError with the server's answer, and the number of events that it has
    accepted."""
    if url is True:
        url = os.environ.get("OPENLINEAGE_URL", "")
        if not url:
            raise argument_error("url=True needs $OPENLINEAGE_URL, which is not set")
        api_key = api_key if api_key is not None else os.environ.get("OPENLINEAGE_API_KEY")
        endpoint = os.environ.get("OPENLINEAGE_ENDPOINT") or ENDPOINT
    else:
        endpoint = ENDPOINT
    if not isinstance(url, str):
        raise TypeError(f"url must be a str or True, not {type(url).__name__}")
    server = _Server(_endpoint(url, endpoint), api_key)
    lines = events.splitlines()
    for i, line in enumerate(lines):
        server.post(line, f"event {i + 1} of {len(lines)}")


def _endpoint(url: str, endpoint: str) -> str:
    """The URL for events: as given if it has a path, otherwise the endpoint of the server."""
    shown = name_of_url(url)
    try:
        parts = urlsplit(url)
        is_fine = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_fine = False
    if not is_fine:
        raise argument_error(f"{shown}: not the URL of a server", "http://host:5000")
    if "@" in parts.netloc:
        raise argument_error(f"{shown}: a user in the URL", "use api_key")
    if parts.path in ("", "/"):
        return parts._replace(path="/" + endpoint.strip("/")).geturl()
    return url


class _Server:
    """An address for events."""

    def __init__(self, url: str, api_key: str | None) -> None:
        self._url = url
        self._shown = name_of_url(url)
        self._rules = rules()
        self._rules.check(url)
        self._headers = {"Content-Type": "application/json", "User-Agent": "columnstone"}
        if api_key is not None:
            if not api_key.isprintable() or not api_key.isascii():
                raise argument_error("api_key contains characters that are not allowed in a header")
            self._headers["Authorization"] = f"Bearer {api_key}"
        host = urlsplit(url).hostname or ""
        self._opener = urllib.request.build_opener(_Stays, *_checked(self._rules, host))
        self._answered = False

    def post(self, event: str, what: str) -> None:
        try:
            # If a server refuses connections before its first answer, its name is assumed to be
            # wrong.
            patiently(lambda: self._try(event.encode()), known=self._answered)
        except OSError as error:
            notes = "".join(f", {note}" for note in getattr(error, "__notes__", ()))
            hint = getattr(error, "hint", "")
            end = f" ({hint})" if hint else ""
            text = f"{self._shown}: {what}{notes}: {_reason(error)}{end}"
            raise FileError(text, file=self._shown, hint=hint) from error

    def _try(self, data: bytes) -> None:
        request = urllib.request.Request(self._url, data, self._headers, method="POST")
        try:
            with self._opener.open(request, timeout=_PATIENCE) as answer:
                answer.read(_MOST_TOLD)
        except urllib.error.HTTPError as error:
            self._answered = True
            raise self._refused(error) from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, OSError):
                raise error.reason from None
            raise
        except http.client.HTTPException as error:
            raise ConnectionError(f"not an HTTP response: {type(error).__name__}") from None
        self._answered = True

    def _refused(self, error: urllib.error.HTTPError) -> OSError:
        with error:
            told = b""
            with contextlib.suppress(OSError, http.client.HTTPException):
                told = error.read(4 * _MOST_TOLD)
            text = f"the server answered {error.code} {printable(str(error.reason))}".rstrip()
            said = " ".join(told.decode("utf-8", "replace").split())
            if said:
                more = "…" if len(said) > _MOST_TOLD else ""
                text += f": {printable(without_secrets(said[:_MOST_TOLD]))}{more}"
            if 300 <= error.code < 400:
                text += f", to {name_of_url(error.headers.get('Location', '?'))}"
                return _RefusedError(text, "give the URL that it redirects to")
            if is_busy(error.code):
                return BusyError(text, asked_wait(error.headers.get("Retry-After", "")))
            hint = "give api_key, or $OPENLINEAGE_API_KEY with url=True"
            return _RefusedError(text, hint if error.code in (401, 403) else "")


class _RefusedError(OSError):
    """An answer that reports an error."""

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text)
        self.hint = hint


def _reason(error: OSError) -> str:
    return printable(error.strerror or str(error) or type(error).__name__)


class _Stays(urllib.request.HTTPRedirectHandler):
    """Does not follow redirects: an event and its key only go to the given address."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _checked(allowed: Rules, host: str) -> tuple[Any, ...]:
    """Connections that check the addresses of a host before they connect to it."""

    def connect(address: tuple[str, int], timeout: Any = None, *_: Any) -> socket.socket:
        if address[0].strip("[]").lower() != host:  # a proxy
            return socket.create_connection(address, timeout)
        failed: OSError | None = None
        for family, kind, protocol, _name, found in socket.getaddrinfo(
            *address, type=socket.SOCK_STREAM
        ):
            for rule in allowed.all:
                rule.check_address(host, str(found[0]))
            made = socket.socket(family, kind, protocol)
            try:
                made.settimeout(timeout)
                made.connect(found)
            except OSError as error:
                made.close()
                failed = error
                continue
            return made
        raise failed or OSError("the host name cannot be resolved")

    class Http(urllib.request.HTTPHandler):
        def http_open(self, request: Any) -> Any:
            return self.do_open(_by(http.client.HTTPConnection, connect), request)

    class Https(urllib.request.HTTPSHandler):
        def https_open(self, request: Any) -> Any:
            return self.do_open(_by(http.client.HTTPSConnection, connect), request)

    return Http, Https


def _by(kind: type[Any], connect: Callable[..., socket.socket]) -> Any:
    """Creates connections of this class that are opened by a function."""

    def make(*arguments: Any, **options: Any) -> Any:
        made = kind(*arguments, **options)
        made._create_connection = connect  # which the class has for that
        return made

    return make
