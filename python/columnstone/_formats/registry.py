"""Formats that are written in Python: a function that opens a file as an Arrow stream."""

from __future__ import annotations

import builtins
import importlib
import inspect
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from .. import _core
from .._base.errors import NotFoundError, argument_error
from .._base.public import public_in
from .option import TEXTS, Option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Sniff = Callable[[bytes], bool]

# Names that mean something to the library itself. Of the containers, whose names are not for
# `format`, only this one is taken.
_BUILT_IN = frozenset((*_core.FORMATS, "tfrecord"))


class Shipped(NamedTuple):
    """A format of this package that is written in Python. Its module has the Format as FORMAT, and
    SINK, which is made and used as the compiled Sink."""

    module: str
    magic: bytes  # what its files begin with


_SHIPPED = {"parquet": Shipped("parquet.format", b"PAR1")}

_HEAD = 4096
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_ARGUMENTS = ("columns", "batch_size", "threads")
# Arguments of `open`, `convert` and `infer_schema` beside the options of sources: no option of a
# format has such a name, for it would never arrive.
_TAKEN = {
    *_core.SOURCE_OPTIONS,
    *("path", "paths", "filesystem", "schemes", "hosts", "cache", "query", "driver"),
    *("database_options", "descriptors", "message_options", "params", "source", "output", "to"),
    *("compression", "level", "lossy", "num_shards", "shard_bytes", "to_container", "progress"),
    *("overwrite", "propose", "max_domain", "ragged"),
}


class Format(NamedTuple):
    """A format: how a file is opened.

    takes: the keyword arguments of the function, beside those of the format's own options.
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
    """Adds a format that is written in Python, for `cst.open` and everything built on it.

    name: what `format=` takes: small letters, digits, "-" and "_". The names of the formats that
        come with the library cannot be taken; one that was registered before is replaced.
    open: called as open(path, columns=..., batch_size=..., threads=...), once per file and pass and
        once more for the schema, and returns any object with __arrow_c_stream__. It gets those of
        the keyword arguments that its signature has; columns is a list of the wanted names, or None
        for all. What it does not leave out, and the order, is seen to afterwards; so is the size of
        the batches. What it raises comes out of `cst.open` and of the pass. What the stream raises
        later is told in words only, as a CorruptError, unless the object has an attribute
        last_error with the exception, as Source has.
    sniff: called with the first bytes of a file (at most 4096) when `cst.open` is not told the
        format; True if the file is of this one. Registered formats are asked before the library
        looks.
    options: what the format is told beside: keywords of `cst.open` and of all that is built on it,
        whose values are checked, and which arrive as keyword arguments of `open`, with their usual
        values where they are not given. `cst.format.options(name)` lists them.

    A source over such files pickles by the format's name: the process that unpickles it has to have
    registered the format as well, usually by importing the module that does so.
    """
    if not isinstance(name, str):
        raise TypeError(f"name is a str, not {type(name).__name__}")
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", name):
        hint = 'small letters, digits, "-" and "_", at most 64'
        raise argument_error(f"{ascii(name)[:40]} cannot be the name of a format", hint)
    if name in _BUILT_IN:
        raise argument_error(f"the format {name!r} comes with the library", "choose another name")
    if not callable(open):
        raise TypeError(f"open is a function, not {type(open).__name__}")
    if sniff is not None and not callable(sniff):
        raise TypeError(f"sniff is a function, not {type(sniff).__name__}")
    given = tuple(options)
    for option in given:
        _check(option, name, open)
    own = {option.name: option for option in given}
    _registered[name] = Format(name, open, sniff, keywords(open, _ARGUMENTS), own)


@public_in("columnstone.format")
def unregister(name: str) -> None:
    """Takes a registered format away again. NotFoundError if there is none of that name."""
    if _registered.pop(name, None) is None:
        raise NotFoundError(f"no format {ascii(name)[:80]} is registered")


def _check(option: Option, format: str, open: Callable[..., object]) -> None:
    """That an option can be given, and that the function takes it."""
    if not isinstance(option, Option):
        raise TypeError(f"options are cst.format.Option, not {type(option).__name__}")
    if not (option.name.isidentifier() and option.name.isascii()) or option.name in _TAKEN:
        hint = "letters, digits and '_', and none of the arguments of open and convert"
        raise argument_error(f"{ascii(option.name)[:40]} cannot be the name of an option", hint)
    if option.kind not in TEXTS:
        raise argument_error(
            f"the option {option.name} is of the kind {ascii(option.kind)[:40]}",
            f"one of {', '.join(TEXTS)}",
        )
    if option.writes or not option.reads:
        raise argument_error(f"the option {option.name} is of writing", "open only reads")
    if option.usual is not None:
        option.to_text(option.usual, format)
    if not keywords(open, (option.name,)):
        raise argument_error(
            f"the function of {format!r} takes no keyword {option.name}", "add the argument"
        )


def keywords(function: Callable[..., object], of: Iterable[str]) -> frozenset[str]:
    """Those of these keyword arguments that a function takes."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return frozenset()  # a compiled function that does not tell
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return frozenset(of)
    named = {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    return frozenset(named.intersection(of))


def by_name(name: str | None) -> Format | None:
    """The format of that name that is written in Python; None if there is none."""
    if name is None:
        return None
    if name in _SHIPPED:
        return _shipped(name)
    return _registered.get(name)


def by_bytes(path: bytes) -> Format | None:
    """The format written in Python whose files begin as this one; None if it is none of these, or
    no regular file that can be read."""
    asked = [f for f in _registered.values() if f.sniff is not None]
    if not asked and not _SHIPPED:
        return None
    head = _head(path)
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
    """Whether these are the first bytes of such a file: a table of text may begin with a column of
    that name, but has no control characters."""
    return head.startswith(magic) and (head == magic or _CONTROL.search(head[:64]) is not None)


def _head(path: bytes) -> bytes | None:
    import stat

    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with builtins.open(path, "rb", buffering=0) as file:
            return file.read(_HEAD)
    except OSError:
        return None  # the library says what is wrong with it


def sink_of(name: str | None, path: bytes) -> Any:
    """The sink of a format that is written in Python; None if the library writes it."""
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
