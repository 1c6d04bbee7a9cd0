"""Rules for URLs that may be opened: by scheme and host, checked at every redirect."""

from __future__ import annotations

import contextlib
import functools
import importlib
import ipaddress
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .._base.errors import UnsupportedError, argument_error
from .._base.limits import MAX_INFLATION
from .._base.text import name_of_url
from .bounds import answer_class, archive_options

if TYPE_CHECKING:
    from collections.abc import Iterable

PUBLIC = "public"
_WEB = ("http", "https")

# Parts of a chain that refer to a file inside another one, or on this machine: they have no host.
_CACHES = ("simplecache", "filecache", "blockcache", "cached")
_NO_HOST = ("file", "local", "memory", "data", "dir", "zip", "tar", "libarchive", *_CACHES)


# Their files refer to other files, which are opened without any check.
_ELSEWHERE = ("reference", "generic")


@dataclass(frozen=True)
class Rule:
    """The rule from one list of schemes and one of hosts. None: everything is allowed.
    max_inflation: of open; None: the default."""

    schemes: tuple[str, ...] | None
    hosts: tuple[str, ...] | None
    max_inflation: int | None = None

    @property
    def refuses(self) -> bool:
        """True if it forbids anything."""
        return self.schemes is not None or self.hosts is not None

    def check(self, url: str) -> None:
        """UnsupportedError if the URL, which may be a chain, is not allowed. A path counts as a
        file."""
        for piece in url.split("::"):
            scheme = piece.partition("://")[0].lower() if "://" in piece else ""
            scheme = scheme or ("file" if piece is url else piece.lower())
            if self.schemes is not None and scheme not in self.schemes:
                raise _refused(url, f"the scheme {scheme!r}", "schemes", self.schemes)
            if self.refuses and scheme in _ELSEWHERE:
                raise _unruly(url, scheme)
            if self.hosts is not None and scheme not in _NO_HOST:
                self._check_host(url, scheme, _host_of(piece))

    def _check_host(self, url: str, scheme: str, host: str) -> None:
        assert self.hosts is not None
        if not self.names(host):
            if scheme not in _WEB or PUBLIC not in self.hosts:
                raise _refused(url, f"the host {host!r}", "hosts", self.hosts)
            with contextlib.suppress(ValueError):  # a name, whose addresses are checked later
                self._check_address(url, ipaddress.ip_address(host))

    def names(self, host: str) -> bool:
        """True if a pattern allows the host, whatever its addresses are."""
        return any(
            host == pattern or (pattern.startswith("*.") and host.endswith(pattern[1:]))
            for pattern in self.hosts or ()
        )

    def check_address(self, host: str, address: str) -> None:
        """Checks an address to which a host name resolves."""
        if self.hosts is not None and not self.names(_plain(host)):
            self._check_address(host, ipaddress.ip_address(address.partition("%")[0]))

    def _check_address(
        self, url: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address
    ) -> None:
        assert self.hosts is not None
        if any(not a.is_global or a.is_multicast for a in _with_inner(address)):
            raise _refused(url, "an address that is not public", "hosts", self.hosts)


@dataclass(frozen=True)
class Rules:
    """Several rules, all of which must hold."""

    all: tuple[Rule, ...]

    def check(self, url: str) -> None:
        for rule in self.all:
            rule.check(url)

    @property
    def refuses(self) -> bool:
        return any(rule.refuses for rule in self.all)

    @property
    def max_inflation(self) -> int:
        given = [rule.max_inflation for rule in self.all if rule.max_inflation]
        return given[0] if given else MAX_INFLATION

    def options(self, url: str) -> dict[str, Any]:
        """The options with which fsspec opens the parts of this URL, so that each request is
        checked and the received bytes are counted."""
        schemes = {piece.partition("://")[0] for piece in url.split("::")}
        configured = importlib.import_module("fsspec.config").conf
        options = {
            scheme: {"get_client": self.client}
            for scheme in schemes.intersection(_WEB)
            if self.refuses or "get_client" not in configured.get(scheme, {})
        }
        archives = archive_options(self.max_inflation) if "tar" in schemes else {}
        return {**options, **archives}

    async def client(self, **options: Any) -> Any:
        """An aiohttp session with connections that all obey the rules, redirects included."""
        aiohttp = importlib.import_module("aiohttp")
        options.setdefault("response_class", answer_class(self.max_inflation))
        if self.refuses:
            options["connector"] = _connector_class()(self)
        return aiohttp.ClientSession(**options)


def _plain(host: str) -> str:
    """A host in the form for comparisons."""
    host = host.lower().rstrip(".")
    with contextlib.suppress(UnicodeError):
        host = host.encode("idna").decode("ascii")
    return host


def _host_of(piece: str) -> str:
    try:
        return _plain(urlsplit(piece).hostname or "")
    except ValueError:
        return ""


def _with_inner(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> list[Any]:
    """The address, and the IPv4 address inside an IPv6 address: mapped, 6to4, Teredo, NAT64."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    inner: list[Any] = [address, address.sixtofour, *(address.teredo or ())]
    if address in ipaddress.IPv6Network("64:ff9b::/96"):
        inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [each for each in inner if each is not None]


def _refused(url: str, what: str, option: str, allowed: tuple[str, ...]) -> UnsupportedError:
    shown = name_of_url(url)
    hint = f"{option} allows {', '.join(allowed) or 'none'}"
    return UnsupportedError(f"{shown}: {what} is not allowed ({hint})", file=shown, hint=hint)


def _unruly(url: str, scheme: str) -> UnsupportedError:
    shown = name_of_url(url)
    hint = "rules cannot check what it opens: name those files themselves"
    text = f"{shown}: the scheme {scheme!r} is not allowed ({hint})"
    return UnsupportedError(text, file=shown, hint=hint)


@functools.cache
def _connector_class() -> Any:
    """A connector sees the URL of every request of a session, redirects included, and the addresses
    of its host: the checked address is the one that it connects to."""
    aiohttp = importlib.import_module("aiohttp")
    resolvers = importlib.import_module("aiohttp.resolver")

    class Resolver(resolvers.ThreadedResolver):  # type: ignore[misc,name-defined]
        def __init__(self, rules: Rules) -> None:
            super().__init__()
            self._rules = rules

        async def resolve(self, host: str, *arguments: Any, **options: Any) -> Any:
            found = await super().resolve(host, *arguments, **options)
            for rule in self._rules.all:
                for each in found:
                    rule.check_address(host, each["host"])
            return found

    class Connector(aiohttp.TCPConnector):  # type: ignore[misc,name-defined]
        def __init__(self, rules: Rules) -> None:
            super().__init__(resolver=Resolver(rules))
            self._rules = rules

        async def connect(self, request: Any, *arguments: Any, **options: Any) -> Any:
            self._rules.check(str(request.url))
            return await super().connect(request, *arguments, **options)

    return Connector


def rule(
    schemes: Iterable[str] | None,
    hosts: Iterable[str] | None,
    max_inflation: int | None = None,
) -> Rule | None:
    """The rule from these arguments of open. Hosts without schemes imply web URLs."""
    if schemes is None and hosts is None and max_inflation is None:
        return None
    names = _names("schemes", schemes)
    if hosts is None:
        return Rule(names, None, max_inflation)
    plain = tuple(map(_plain, _names("hosts", hosts) or ()))
    return Rule(_WEB if names is None else names, plain, max_inflation)


def _names(option: str, values: Iterable[str] | None) -> tuple[str, ...] | None:
    if values is None:
        return None
    if isinstance(values, str):
        raise TypeError(f"{option} is a list of str, not a str")
    names = tuple(values)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{option} contains {type(name).__name__}, expected str")
        if "/" in name or ":" in name or not name:
            raise argument_error(f"{option} has {name!r}, expected a name such as {_SUCH[option]}")
    return tuple(name.lower() for name in names)


_SUCH = {"schemes": "'https'", "hosts": "'data.example.com', '*.example.com' or 'public'"}


def rules(given: Rule | None = None) -> Rules:
    """The rule of the caller, combined with that from the environment: COLUMNSTONE_SCHEMES and
    COLUMNSTONE_HOSTS, comma-separated lists."""
    lists = [os.environ.get(f"COLUMNSTONE_{name}") for name in ("SCHEMES", "HOSTS")]
    schemes, hosts = (
        None if text is None else [name for item in text.split(",") if (name := item.strip())]
        for text in lists
    )
    return Rules(tuple(each for each in (given, rule(schemes, hosts)) if each is not None))
