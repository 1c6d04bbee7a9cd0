"""A fingerprint of what a source reads, as a few strings. Saved states of a dataset contain it, so
that a dataset with another view, other stages or other columns refuses them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.errors import Error
from .stages import function_name

if TYPE_CHECKING:
    from .base import SourceBase

_LONGEST = 120  # characters of a text that is kept as it is
_NONE = "none"
_POLICIES = {_core.ON_ERROR_SKIP: "skip", _core.ON_ERROR_NULL: "null"}


def fingerprint(source: SourceBase) -> dict[str, str]:
    """Everything that the rows of a source and their columns depend on, besides the data. Reads the
    data if the schema is inferred. Functions are known only by their names."""
    options = source._options
    schema = source.arrow_schema
    return {
        "on_error": "raise" if options["on_error"] is None else _POLICIES[options["on_error"][2]],
        "view": _view_text(options["view"]),
        "message": _message_text(options["message"]),
        "format_options": _short(
            ", ".join(f"{name}={value}" for name, value, _ in options["format_options"]) or _NONE
        ),
        "stages": _short("; ".join(_part_text(*part) for part in source._parts) or _NONE),
        "columns": _short(", ".join(schema.names)),
        "schema": _digest(repr((schema.__reduce__()[1], _specs(source)))),
    }


def _digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({_digest(text)})"


def _specs(source: SourceBase) -> Any:
    """How tensors are made; empty for columns that cannot become tensors."""
    try:
        return source._core.specs()
    except Error:
        return None


def _view_text(view: _core.View | None) -> str:
    """The plan contains the values of the parameters. The view's own digest does not exist for
    Python functions, and changes with every version of the library."""
    if view is None:
        return _NONE
    functions = ", ".join(function_name(function.fn) for function in view.functions)
    return _digest("\n".join((view.text, view.explain(False, None), functions)))


def _message_text(message: Any) -> str:
    if message is None:
        return _NONE
    _, name, options = message
    settings = "".join(f" {option}={value}" for option, value in sorted(options))
    return _short(f"{name or _NONE}{settings}")


def _part_text(how: str, a: Any, b: Any) -> str:
    """A step of source._parts as text."""
    if how == "range":
        return f"rows {a} to {'the end' if b == 2**63 - 1 else b}"
    if how == "split":
        return f"split {a} of {b}"
    if how == "ids":
        return f"ids {' and '.join(a)}"
    columns = "" if b is None else f" of {', '.join(b)}"
    return f"{'select' if a is None else a.describe()}{columns}"
