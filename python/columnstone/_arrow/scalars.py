"""Values of Arrow types with Python classes in separate modules: times and decimals."""

from __future__ import annotations

import datetime as dt
import functools
from decimal import Context, Decimal
from typing import Any

_DAY = dt.timedelta(days=1)
_EPOCH = dt.datetime(1970, 1, 1)
_UNITS = {"s": 1, "m": 1000, "u": 10**6, "n": 10**9}  # in a second
_DIGITS = Context(prec=80)  # more than any type has


def value_of(format: str, slot: bytes) -> Any:
    """The bytes of a slot as a date, datetime, timedelta, time or Decimal, exactly; NotImplemented
    for other types, and for values that these classes cannot represent."""
    number = int.from_bytes(slot, "little", signed=True)
    try:
        if format.startswith("d:"):
            scale = int(format.split(",")[1])
            return Decimal(number).scaleb(-scale, _DIGITS)
        if format == "tdD":
            return (_EPOCH + number * _DAY).date()
        if format == "tdm":
            return (_EPOCH + _delta(number, "m")).date()
        kind, unit = format[:2], format[2:3]
        if kind == "tD":
            return _delta(number, unit)
        if kind == "tt":
            return (_EPOCH + _delta(number, unit)).time()
        if kind == "ts":
            zone = format[4:]
            at = _EPOCH + _delta(number, unit)
            return at.replace(tzinfo=dt.UTC).astimezone(_zone(zone)) if zone else at
    except (OverflowError, ValueError, LookupError):
        pass
    return NotImplemented


def _delta(number: int, unit: str) -> dt.timedelta:
    micros, rest = divmod(number * 10**6, _UNITS[unit])
    if rest:
        raise ValueError("a timedelta cannot hold nanoseconds")
    return dt.timedelta(microseconds=micros)


@functools.lru_cache
def _zone(name: str) -> dt.tzinfo:
    """UTC, an offset such as +02:00, or a name of the IANA database."""
    if name == "UTC":
        return dt.UTC
    if name[0] in "+-":
        return dt.datetime.strptime(name, "%z").tzinfo or dt.UTC
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)
