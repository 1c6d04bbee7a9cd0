"""Conversion of properties and times between a store and Python."""

from __future__ import annotations

import operator
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from .._base.arguments import integer
from .._base.errors import argument_error
from .._base.files import path_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    Value: TypeAlias = "bool | int | float | str | bytes"
    Properties: TypeAlias = "Mapping[str, Value] | None"
    CoreProperties: TypeAlias = "tuple[tuple[str, Value], ...]"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST = 2**63


def core_properties(*given: Properties) -> CoreProperties:
    """Properties for the compiled part; later ones win. None is left out."""
    made: dict[str, Value] = {}
    for properties in given:
        for name, value in dict(properties or {}).items():
            if not isinstance(name, str):
                raise TypeError(f"the name of a property must be a str, not {type(name).__name__}")
            if value is not None:
                made[name] = _plain(name, value)
    return tuple(made.items())


_PLAIN = frozenset((bool, str, bytes, float))


def _plain(name: str, value: Any) -> Value:
    if type(value) in _PLAIN:
        return value  # type: ignore[no-any-return]
    if hasattr(value, "dtype") and hasattr(value, "item"):  # of numpy
        value = value.item()
    if isinstance(value, bool | str | bytes):
        return value
    if isinstance(value, float):
        return float(value)
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"property {name!r} must be a bool, int, float, str or bytes, not "
            f"{type(value).__name__}"
        ) from None
    if not -_MOST <= number < _MOST:
        raise argument_error(f"property {name!r} is an int of more than 64 bits")
    return number


_COLUMNS = {"bool": "number", "int": "number"}


def properties_of(items: list[dict[str, Any]]) -> dict[str, Value]:
    """The rows of a list of properties."""
    made: dict[str, Value] = {}
    for item in items:
        value = item[_COLUMNS.get(item["kind"], item["kind"])]
        made[item["name"]] = bool(value) if item["kind"] == "bool" else value
    return made


def path_of(path: bytes | str | None) -> Any:
    """A path for Python: paths of the system are bytes, which may not be valid text."""
    return os.fsdecode(path) if isinstance(path, bytes) else path


def placed(path: object) -> bytes:
    """A path for the library, relative to the current folder, as everywhere in Python; a URL is
    unchanged."""
    given = path_bytes(path)
    is_whole = given.startswith(b"/") or b"://" in given
    return given if is_whole else os.path.join(os.getcwdb(), given)


def micros(when: datetime | None) -> int:
    """A time for the library; 0: None. A naive time is local."""
    if when is None:
        return 0
    if not isinstance(when, datetime):
        raise TypeError(f"a time must be a datetime, not {type(when).__name__}")
    return (when.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)


def when(microseconds: int | None) -> Any:
    """A time for Python, in UTC; None: None. Times outside Python's range become its first or last
    time."""
    if microseconds is None:
        return None
    try:
        return _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        most = datetime.max if microseconds > 0 else datetime.min
        return most.replace(tzinfo=UTC)


def seconds_of(name: str, span: timedelta | float | None) -> int:
    """A duration in whole seconds, rounded up; 0: None."""
    if span is None:
        return 0
    if isinstance(span, timedelta):
        span = span.total_seconds()
    if isinstance(span, float):
        if not 0 < span < _MOST:
            raise argument_error(f"{name} is {span}, and must be above 0")
        span = -int(-span // 1)
    number = integer(name, span)
    if number <= 0:
        raise argument_error(f"{name} is {number}, and must be above 0")
    return number
