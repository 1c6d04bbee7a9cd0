"""The names that users see."""

from __future__ import annotations

from typing import TypeVar

_Named = TypeVar("_Named")


def public(named: _Named) -> _Named:
    """A decorator for the classes and functions that columnstone/__init__.py lists: they are
    `columnstone.NAME` in tracebacks, in help() and in pickles, wherever their module moves.
    Outermost, because a dataclass looks up its annotations in the module that it names."""
    named.__module__ = "columnstone"
    return named


def public_struct(named: _Named) -> _Named:
    """The same for the functions that columnstone/struct.py lists: `columnstone.struct.NAME`."""
    named.__module__ = "columnstone.struct"
    return named
