"""Public names of classes and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Named = TypeVar("_Named")


def public(named: _Named) -> _Named:
    """A decorator for the classes and functions that columnstone/__init__.py lists: they are named
    `columnstone.NAME` in tracebacks, in help() and in pickles, wherever their module moves. It must
    be outermost, because a dataclass looks up its annotations in the module of its name."""
    named.__module__ = "columnstone"
    return named


def public_in(module: str) -> Callable[[_Named], _Named]:
    """The same for names of another public module, such as "columnstone.schema"."""

    def place(named: _Named) -> _Named:
        named.__module__ = module
        return named

    return place
