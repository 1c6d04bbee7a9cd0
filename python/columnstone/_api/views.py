"""The view argument of open: a view, a query, or a file with one of them, for some input."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .._base.errors import argument_error

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from .. import _core
    from .._query.query import Query
    from .._query.view import View

    ViewLike: TypeAlias = "View | Query | str | os.PathLike[str] | bytes"


def view_option(given: dict[str, Any], without_view: Callable[[str], Any]) -> _core.View | None:
    """The view from the arguments of open. without_view: returns the `schema` or the `arrow_schema`
    of the input, for queries without a source."""
    what, params = given["view"], given["params"]
    if what is None:
        if params is not None:
            raise argument_error("params is given without view", "view=")
        return None
    from .._query.query import Query
    from .._query.view import View

    of_records = given["message_column"] is None
    if isinstance(what, str | os.PathLike) and os.fspath(what).endswith(".cstq"):
        names = ("message", "descriptors", "schema") if of_records else ("schema",)
        what = Query.from_file(what, **{name: given[name] for name in names})
    elif of_records and (given["message"] is not None or given["descriptors"] is not None):
        raise argument_error(
            "a view has its own message", "message and descriptors are for a query in a file"
        )
    options = dict(given["message_options"] or {}) if of_records else {}
    form = options.pop("form", None)
    if options or (form is not None and isinstance(what, Query)):
        raise argument_error("a view has its own message_options", "a saved view takes only form")
    if isinstance(what, Query):
        return what._view_of_source(params, given["schema"], without_view)._core
    if isinstance(what, View):
        return (what if not params and form is None else what.again(params, form))._core
    if isinstance(what, str | os.PathLike | bytes):
        return View(what, params=params, form=form)._core
    raise TypeError(
        f"view must be a View, a Query, or the path of a saved view, not {type(what).__name__}"
    )
