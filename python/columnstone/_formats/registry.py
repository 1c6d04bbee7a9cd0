"""Formats implemented in Python: a function that opens a file as an Arrow stream."""

from __future__ import annotations

import importlib
import os
import re
import stat
from typing import TYPE_CHECKING, NamedTuple

from .. import _core
from .._base.errors import NotFoundError, argument_error
from .._base.public import public_in
from .option import TEXTS, Option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Sniff = Callable[[bytes], bool]

# Names that the library itself uses. Of the names of containers, which are not formats, only this
# one is reserved.
_BUILT_IN = frozenset((*_core.FORMATS, "tfrecord"))


class Shipped(NamedTuple):
    """A format of this package that is implemented in Python. Its module has the Format as FORMAT,
    and SINK, with the interface of the compiled Sink."""

    module: str
    magic: bytes  # what its files begin with


_SHIPPED = {"parquet": Shipped("parquet.format", b"PAR1")}

_HEAD = 4096  # bytes that `sniff` gets
_MAGIC = 64  # bytes that tell a format of this package
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_ARGUMENTS = ("columns", "batch_size", "threads")
# Arguments of `open`, `convert` and `infer_schema` besides the options of sources. An option of a
# format cannot have such a name, because it would never reach the format.
_TAKEN = {
    *_core.SOURCE_OPTIONS,
    *("path", "paths", "filesystem", "schemes", "hosts", "cache", "query", "driver"),
    *("database_options", "descriptors", "message_options", "params", "source", "output", "to"),
    *("compression", "level", "lossy", "num_shards", "shard_bytes", "to_container", "progress"),
    *("overwrite", "propose", "max_domain", "ragged"),
}


class Format(NamedTuple):
    """A format: the function that opens a file.

    takes: the keyword arguments of the function, besides those of the format's own options.
    """

    name: str
    open: Callable[..., object]
    sniff: Sniff | None
    takes: frozenset[str]
    options: dict[str, Option]


_registered: dict[str, Format] = {}


@public_in("columnstone.format")
def register(
    name: str,
    open: Callable[..., object],
    sniff: Callable[[bytes], bool] | None = None,
    options: Iterable[Option] = (),
) -> None:
    """Registers a format implemented in Python, for `cst.open` and everything built on it.

    name: the value for `format=`: lower-case letters, digits, "-" and "_". It cannot be the name of
        a format of the library. It replaces a registered format with the same name.
    open: called as open(path, columns=..., batch_size=..., threads=...), once per file and pass and
        once more for the schema. It returns any object with __arrow_c_stream__. It gets only those
        keyword arguments that its signature has. columns is a list of the wanted names, or None for
        all. The function may ignore it: the library drops unwanted columns, puts the others in
        order, and adjusts the size of the batches. Exceptions of the function are raised by
        `cst.open` and by the pass unchanged. A later failure of the stream becomes a CorruptError
        with its text, unless the object has an attribute last_error with the exception, as Source
        has.
    sniff: called with the first bytes of a file (at most 4096) when `cst.open` is not given the
        format; returns True if the file has this format. Registered formats are tried before those
        of the library.
    options: further options of the format. They are keyword arguments of `cst.open` and of
        everything built on it. Their values are checked and passed to `open` as keyword arguments,
        with their default values where they are not given. `cst.format.options(name)` lists them.

    A source over such files pickles with the name of the format. The process that unpickles it must
    have registered the format as well, usually by importing the module that does so.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", name):
        hint = 'small letters, digits, "-" and "_", at most 64'
        raise argument_error(f"{ascii(name)[:40]} cannot be the name of a format", hint)
    if name in _BUILT_IN:
        raise argument_error(f"the format {name!r} comes with the library", "choose another name")
    if not callable(open):
        raise TypeError(f"open must be a function, not {type(open).__name__}")
    if sniff is not None and not callable(sniff):
        raise TypeError(f"sniff must be a function, not {type(sniff).__name__}")
    given = tuple(options)
    for option in given:
        _check(option, name, open)
    own = {option.name: option for option in given}
    _registered[name] = Format(name, open, sniff, keywords(open, _ARGUMENTS), own)


@public_in("columnstone.format")
def unregister(name: str) -> None:
    """Removes a registered format. NotFoundError if there is no format with that name."""
    if _registered.pop(name, None) is None:
        raise NotFoundError(f"no format {ascii(name)[:80]} is registered")


def _check(option: Option, format: str, open: Callable[..., object]) -> None:
    """Checks that the option can be given, and that the function accepts it."""
    if not isinstance(option, Option):
        raise TypeError(f"options must be cst.format.Option, not {type(option).__name__}")
    if not (option.name.isidentifier() and option.name.isascii()) or option.name in _TAKEN:
        hint = "letters, digits and '_', and not an argument of open or convert"
        raise argument_error(f"{ascii(option.name)[:40]} cannot be the name of an option", hint)
    if option.kind not in TEXTS:
        raise argument_error(
            f"the option {option.name} has the unknown kind {ascii(option.kind)[:40]}",
            f"one of {', '.join(TEXTS)}",
        )
    if option.writes or not option.reads:
        raise argument_error(
            f"the option {option.name} is for writing", "registered formats are only read"
        )
    if option.usual is not None:
        option.to_text(option.usual, format)
    if not keywords(open, (option.name,)):
        raise argument_error(
            f"open of the format {format!r} has no argument {option.name}", "add the argument"
        )


def keywords(function: Callable[..., object], of: Iterable[str]) -> frozenset[str]:
    """Those of these keyword arguments that the function accepts."""
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return frozenset()  # a compiled function that does not tell
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return frozenset(of)
    named = {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    return frozenset(named.intersection(of))


def by_name(name: str | None) -> Format | None:
    """The format implemented in Python with that name; None if there is none."""
    if name is None:
        return None
    if name in _SHIPPED:
        return _shipped(name)
    return _registered.get(name)


def by_bytes(path: bytes) -> Format | None:
    """The format implemented in Python whose files begin like this one. None if there is none, or
    if the file is not a regular file that can be read."""
    asked = [f for f in _registered.values() if f.sniff is not None]
    if not asked and not _SHIPPED:
        return None
    head = _head(path, _HEAD if asked else _MAGIC)
    if head is None:
        return None
    for format in asked:
        if format.sniff is not None and format.sniff(head):
            return format
    for name, shipped in _SHIPPED.items():
        if has_magic(head, shipped.magic):
            return _shipped(name)
    return None


def has_magic(head: bytes, magic: bytes) -> bool:
    """Whether a file of the format begins with these bytes. (A text table may begin with a column
    of that name, but has no control characters.)"""
    return head.startswith(magic) and (head == magic or _CONTROL.search(head[:_MAGIC]) is not None)


def _head(path: bytes, size: int) -> bytes | None:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(handle, size)
        finally:
            os.close(handle)
    except OSError:
        return None  # the library says what is wrong with it


def sink_of(name: str | None, path: bytes) -> Any:
    """The sink of a format implemented in Python; None if the library writes the format."""
    extension = os.path.splitext(os.fsdecode(path))[1]
    for known, shipped in _SHIPPED.items():
        extensions, *_ = _core.FORMATS[known]
        if name == known or (name is None and extension in extensions):
            return _module(shipped).SINK
    return None


def _shipped(name: str) -> Format:
    format: Format = _module(_SHIPPED[name]).FORMAT
    return format


def _module(shipped: Shipped) -> Any:
    return importlib.import_module(f".{shipped.module}", __package__)
