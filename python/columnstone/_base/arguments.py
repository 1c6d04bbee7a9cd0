"""Checks of arguments that several functions share."""

from __future__ import annotations

import operator

from .errors import argument_error


def positive(name: str, value: int, most: int = 2**63 - 1) -> int:
    """An int argument of at least 1."""
    number = integer(name, value)
    if not 1 <= number <= most:
        raise argument_error(f"{name} is {number}, and must be from 1 to {most}")
    return number


def integer(name: str, value: int) -> int:
    """An int argument, of any class that can be an index."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {type(value).__name__}") from None


def text(name: str, value: str | None) -> str | None:
    """A str argument or None."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    return value


def proposal(
    propose: bool, group: str, max_domain: int, ragged: bool
) -> tuple[str, int, bool] | None:
    """The options of a proposal for the core; None if no proposal is wanted."""
    if propose:
        return text("group", group) or "", positive("max_domain", max_domain), bool(ragged)
    if group != "" or max_domain != 100 or ragged:
        raise argument_error("group, max_domain and ragged need propose=True")
    return None


def at_least_1_or_0(name: str, value: int | None) -> int:
    """An int argument of at least 1; 0 for None."""
    return 0 if value is None else positive(name, value)
