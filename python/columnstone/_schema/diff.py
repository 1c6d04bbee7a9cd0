"""SchemaChange: one difference between two schemas."""

from __future__ import annotations

from dataclasses import dataclass

from .._base.public import public_in


@public_in("columnstone.schema")
@dataclass(frozen=True, slots=True)
class SchemaChange:
    """A change that leads from one schema to another; `str(change)` is a readable line.

    kind: "added", "removed" or "changed".
    path: the feature ("a.b" in a struct); "group/tensor" of a tensor representation; the name of a
        sparse or weighted feature, or of a domain of the schema; "" for the schema itself.
    what: "" if the whole feature was added or removed; otherwise the field, such as "type",
        "shape", "presence", "value_count", "int_domain", "tensor_representation", "sparse_feature",
        "sparse_feature.is_sorted", "schema.string_domain", "unknown fields".
    before, after: as words or one line of protobuf text; None if not set.
    breaks: data that fits the first schema may not fit the second, or may give other tensors.
    """

    kind: str
    path: str
    what: str
    before: str | None
    after: str | None
    breaks: bool

    def __str__(self) -> str:
        place = ": ".join(part for part in (self.path, self.what) if part)
        if self.kind == "changed":
            values = f"{self.before or '(not set)'} -> {self.after or '(not set)'}"
        else:
            values = self.after or self.before or ""
        return f"{self.kind} {place}: {values}{' (breaks)' if self.breaks else ''}"
