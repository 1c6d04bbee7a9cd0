"""How artifacts are read: the library has the rules (cst_lineage_read)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._base.errors import argument_error
from .._base.public import public_in
from .._formats.option import Option
from .._formats.options import KINDS
from .._message.options import OPTIONS
from .artifact import Artifact, artifact_of
from .choice import AS_BOUND, Choice, Held
from .connection import Connection
from .lease import hold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_AS_BOUND, _AS_IS, _BY_VIEW = 0, 1, 2


@public_in("columnstone.lineage")
class Reading(NamedTuple):
    """How Examples are read together: the paths, the options of `columnstone.open`, and the ids of
    all artifacts that a lease must hold meanwhile."""

    paths: tuple[str, ...]
    options: dict[str, Any]
    artifacts: tuple[int, ...]


def as_artifacts(what: object) -> list[Artifact] | None:
    """An artifact, or a list of them; None for anything else. ArgumentError for a mixed list."""
    if isinstance(what, Artifact):
        return [what]
    if not isinstance(what, list | tuple):
        return None
    num = sum(isinstance(item, Artifact) for item in what)
    if num == 0:
        return None
    if num < len(what):
        raise argument_error("the list mixes artifacts and other inputs", "open them separately")
    return list(what)


def read(
    examples: Sequence[Artifact],
    view: Artifact | Choice | None = AS_BOUND,
    splits: Iterable[str] | None = None,
    *,
    own_parts: bool = False,
) -> Reading:
    """How they are read together: as they are bound, without a view (None), or through a view.

    own_parts: the reader passes its own descriptors, schema or view.
    """
    connection = _one_store([*examples, *([view] if isinstance(view, Artifact) else [])])
    choice = _AS_IS if view is None else _BY_VIEW if isinstance(view, Artifact) else _AS_BOUND
    of_view = view.id if isinstance(view, Artifact) else 0
    wanted = _splits(examples, splits)
    ids = tuple(one.id for one in examples)
    paths, options, needed = connection.core.read(ids, choice, own_parts, of_view, wanted)
    values = {name: value_of(name, text) for name, text in options if name not in OPTIONS}
    of_messages = {name: _message_value(name, text) for name, text in options if name in OPTIONS}
    if of_messages and "view" not in values:  # a view has those of its own
        values["message_options"] = of_messages
    return Reading(tuple(paths), values, needed)


def held(
    examples: Sequence[Artifact], view: Artifact | Choice | None, *, own_parts: bool = False
) -> tuple[Held, Reading]:
    """The same, with a lease."""
    reading = read(examples, view, own_parts=own_parts)
    connection = examples[0]._connection
    kept = hold(connection, connection.opening, reading.artifacts)
    return Held(list(reading.paths), kept), reading


def held_view(view: Artifact, paths: Any) -> tuple[Held, str]:
    """Any input, with a lease on the view through which it is read, and the file of the view."""
    if view.type != "DataView":
        raise argument_error(
            f"view is {view.reference}, of type {view.type}", "expected a DataView"
        )
    now = artifact_of(view._connection, view.id)
    if now.state != "live" or not now.paths:
        raise argument_error(f"the view {view.reference} is {now.state}", "expected a live one")
    kept = hold(view._connection, view._connection.opening, (view.id,))
    return Held(paths, kept), now.paths[0]


def _one_store(all_of_them: Sequence[Artifact]) -> Connection:
    first = all_of_them[0]._connection
    for one in all_of_them:
        if one._connection.path != first.path:
            raise argument_error(
                f"{all_of_them[0].reference} is in the store {first.path}, but {one.reference} "
                f"is in {one._connection.path}",
                "read artifacts of different stores separately",
            )
    return first


def _splits(examples: Sequence[Artifact], given: Iterable[str] | None) -> tuple[str, ...] | None:
    """The splits to read: the given ones, or those chosen from every artifact."""
    if given is not None:
        return (given,) if isinstance(given, str) else tuple(given)
    chosen = {one.splits for one in examples}
    if len(chosen) > 1:
        raise argument_error(
            "different splits are chosen from the artifacts",
            "choose the same splits of all artifacts",
        )
    return chosen.pop()


def _message_value(name: str, text: str) -> bool | int | str:
    """The value of one option for messages; in a store, each of them is an option of its own."""
    usual = OPTIONS[name]
    if isinstance(usual, bool):
        return text == "true"
    return int(text) if isinstance(usual, int) else text


def value_of(name: str, text: str) -> Any:
    """The value of an option of `columnstone.open`, from its text in a store."""
    if name in KINDS:
        return Option(name, KINDS[name]).from_text(text)
    kind = _core.SOURCE_OPTIONS[name][0] if name in _core.SOURCE_OPTIONS else "text"
    if kind in ("switch", "number", "names"):
        return Option(name, kind).from_text(text)
    return text
