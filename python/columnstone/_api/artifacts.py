"""Lineage artifacts in place of paths and views: their options combined with those of the
caller."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .._base.errors import argument_error
from .._lineage.choice import AS_BOUND, has_artifacts

if TYPE_CHECKING:
    from collections.abc import Mapping

# What a saved view contains itself.
_OF_VIEWS = ("message", "descriptors", "message_options")


def settled(paths: Any, options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The paths and the options of `columnstone.open`, with artifacts and the view AS_BOUND
    resolved. The paths then hold a lease. Options of the caller take precedence over those of
    artifacts.

    options: the given ones; "view" may be None, which means "without a view".
    """
    view, schema = options.get("view", AS_BOUND), options.get("schema")
    if has_artifacts(schema):
        options = {**options, "schema": _only_file(schema)}
    if has_artifacts(paths):
        return _of_examples(paths, dict(options), view)
    if not has_artifacts(view):
        return paths, {**options, "view": None if view is AS_BOUND else view}
    from .._lineage.reading import held_view

    held, file = held_view(view, paths)
    return held, {**options, "view": file}


def _of_examples(paths: Any, options: dict[str, Any], view: Any) -> tuple[Any, dict[str, Any]]:
    from .._lineage.reading import as_artifacts, held

    examples = as_artifacts(paths)
    assert examples is not None
    if options.get("query") is not None:
        raise argument_error(
            f"{examples[0].reference} is an artifact; query is for databases", "view=..."
        )
    is_choice = view is AS_BOUND or view is None or has_artifacts(view)
    own = any(options.get(name) is not None for name in ("descriptors", "schema"))
    found, reading = held(examples, view if is_choice else None, own_parts=own or not is_choice)
    said = dict(reading.options)
    if not is_choice:
        said["view"] = view
    used = said.get("view")
    if used is not None and not _is_query_file(used) and options.get("message_column") is None:
        for name in _OF_VIEWS:
            said.pop(name, None)
        if said.get("format") == "message":
            del said["format"]
    given = {n: v for n, v in options.items() if v is not None and n != "view"}
    if given.get("format") not in (None, said.get("format")):  # such as raw
        for name in _OF_VIEWS:
            said.pop(name, None)
    return found, {**said, "view": used, **given}


def _only_file(schema: Any) -> str:
    if len(schema.paths) != 1:
        raise argument_error(
            f"schema is {schema.reference}, an artifact with {len(schema.paths)} files",
            "expected one file",
        )
    path: str = schema.paths[0]
    return path


def _is_query_file(view: Any) -> bool:
    return isinstance(view, str | os.PathLike) and os.fspath(view).endswith(".cstq")
