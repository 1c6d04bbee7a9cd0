"""The features of a schema as a table, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .diff import SchemaChange
    from .spec import Feature

_TYPES = {"bytes": "BYTES", "int64": "INT", "float32": "FLOAT", "struct": "STRUCT"}
_COLUMNS = ("presence", "value_count", "domain")


def overview(
    features: Sequence[Feature], changes_from: Callable[[str], Sequence[SchemaChange]]
) -> list[tuple[str, ...]]:
    """A row for each feature, including those in structs: its path, type, shape, presence, number
    of values, domain, and other properties. changes_from: the changes that lead from another
    schema, given as text, to this one."""
    told: dict[str, dict[str, list[str]]] = {}
    for change in changes_from("\n".join(map(_bare, features))):
        if change.kind == "changed" and change.what not in ("", "shape"):
            name, said = change.what, change.after or ""
            place = next((column for column in _COLUMNS if name.endswith(column)), "else")
            told.setdefault(change.path, {}).setdefault(place, []).append(
                said if place != "else" else f"{name}: {said}"
            )
    rows: list[tuple[str, ...]] = []
    for path, feature in _walk(features, ""):
        own = told.get(path, {})
        cells = ("; ".join(own.get(column, ())) for column in (*_COLUMNS, "else"))
        shape = "" if feature.shape is None else str(list(feature.shape))
        rows.append((path, feature.type, shape, *cells))
    return rows


def _walk(features: Sequence[Feature], prefix: str) -> Iterator[tuple[str, Feature]]:
    for feature in features:
        path = prefix + feature.name
        yield path, feature
        yield from _walk(feature.children, f"{path}.")


def _bare(feature: Feature) -> str:
    """A feature with only a name and a type, as protobuf text."""
    name = "".join(f"\\{byte:03o}" for byte in feature.name.encode("utf-8", "surrogateescape"))
    kind = _TYPES.get(feature.type)
    parts = [f'name: "{name}"', *([f"type: {kind}"] if kind else [])]
    if feature.children:
        parts.append(f"struct_domain {{ {' '.join(map(_bare, feature.children))} }}")
    return f"feature {{ {' '.join(parts)} }}"
