"""TFX artifacts, by their common interface: `uri`, `split_names` and custom properties."""

from __future__ import annotations

import glob
import json
import os
from typing import Any, NamedTuple

from .._base.errors import NotFoundError, argument_error
from .._lineage.detect import PAYLOADS

_FORMATS = {payload: format for format, payload in PAYLOADS.items()}


class Payload(NamedTuple):
    """The content of TFX Examples."""

    paths: list[str]
    format: str | None  # of columnstone.open
    view: str | None  # its file, or the folder of a decoder


def is_tfx(what: object) -> bool:
    return hasattr(what, "uri") and hasattr(what, "get_string_custom_property")


def payload_of(examples: list[Any]) -> Payload:
    """The content of several artifacts together. ArgumentError unless all have the same content and
    are read in the same way."""
    found = [_payload(one) for one in examples]
    ways = {(one.format, one.view) for one in found}
    if len(ways) > 1:
        said = "; ".join(
            f"{one.uri}: {how.format or 'no payload format'}, {_of_view(how.view)}"
            for one, how in zip(examples, found, strict=True)
        )
        raise argument_error(
            f"the artifacts need different options: {said}", "read them separately"
        )
    paths = [path for one in found for path in one.paths]
    return found[0]._replace(paths=paths)


def _of_view(view: str | None) -> str:
    return "no view" if view is None else f"the view {view}"


def _payload(examples: Any) -> Payload:
    named = examples.get_string_custom_property("payload_format") or None
    if named is not None and named not in _FORMATS:
        raise argument_error(f"{examples.uri}: payload_format is {named!r}", ", ".join(_FORMATS))
    view = examples.get_string_custom_property("data_view_uri") or None
    return Payload(_files(examples), None if named is None else _FORMATS[named], view and _in(view))


def _in(uri: str) -> str:
    """The only saved view in a folder, if there is one."""
    views = sorted(glob.glob(os.path.join(glob.escape(uri), "*.cstv")))
    return views[0] if len(views) == 1 else uri


def _files(examples: Any) -> list[str]:
    """The files of all splits, which are in folders "Split-NAME"."""
    names = getattr(examples, "split_names", None) or getattr(examples, "splits", None) or []
    splits = json.loads(names) if isinstance(names, str) else list(names)
    folders = [f"Split-{split}" for split in splits] or [""]
    found: list[str] = []
    for folder in folders:
        where = os.path.join(examples.uri, folder) if folder else examples.uri
        if "://" in where:
            found.append(f"{where}/*")
            continue
        files = sorted(glob.glob(os.path.join(glob.escape(where), "*")))
        found += [name for name in files if os.path.isfile(name)]
    if not found:
        hint = "check its uri and its splits"
        raise NotFoundError(
            f"{examples.uri}: there are no files ({hint})", file=examples.uri, hint=hint
        )
    return found
