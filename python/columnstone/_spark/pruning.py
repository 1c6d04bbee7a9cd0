"""Spark's filters on columns that have one known value in all rows of a file."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from pyspark.sql import datasource as ds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "EqualTo": operator.eq,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqual": operator.ge,
    "LessThan": operator.lt,
    "LessThanOrEqual": operator.le,
    "StringStartsWith": lambda value, part: value.startswith(part),
    "StringEndsWith": lambda value, part: value.endswith(part),
    "StringContains": lambda value, part: part in value,
}


_KNOW_NULL = (ds.IsNull, ds.IsNotNull, ds.EqualNullSafe)


def may_hold(condition: ds.Filter, values: Mapping[str, Any]) -> bool:
    """False only if the condition cannot be true for rows with these values. Unknown parts (other
    columns, other kinds of filters, values of other types) may be true."""
    return _truth(condition, values) is not False


def _truth(condition: Any, values: Mapping[str, Any]) -> bool | None:
    """SQL's logic: a comparison with null is null, which passes no row. It counts as False, here
    and below Not. None: unknown."""
    if isinstance(condition, ds.Not):
        return _negated(condition.child, values)
    column, *inner = condition.attribute
    if inner or column not in values:
        return None
    value = values[column]
    if isinstance(condition, ds.IsNull):
        return value is None
    if isinstance(condition, ds.IsNotNull):
        return value is not None
    return _compared(condition, value)


def _negated(child: Any, values: Mapping[str, Any]) -> bool | None:
    is_null = any(
        getattr(child, "attribute", ()) == (name,)
        for name, value in values.items()
        if value is None
    )
    if is_null and not isinstance(child, _KNOW_NULL):
        return False
    truth = _truth(child, values)
    return None if truth is None else not truth


def _compared(condition: Any, value: Any) -> bool | None:
    wanted = condition.value
    if isinstance(condition, ds.EqualNullSafe):
        if value is None or wanted is None:
            return value is wanted
        return _apply("EqualTo", value, wanted)
    if value is None or wanted is None:
        return False
    if isinstance(condition, ds.In):
        answers = [_apply("EqualTo", value, item) for item in wanted if item is not None]
        return True if True in answers else None if None in answers else False
    return _apply(type(condition).__name__, value, wanted)


def _apply(name: str, value: Any, wanted: Any) -> bool | None:
    # For NaN, -0.0 and mixed types, Spark has rules of its own.
    if name not in _COMPARISONS or type(value) is not type(wanted) or isinstance(value, float):
        return None
    return bool(_COMPARISONS[name](value, wanted))
