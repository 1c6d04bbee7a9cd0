"""Names of Beam's metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def MakeTfxNamespace(descriptors: Sequence[str]) -> str:
    """The namespace of metrics: "tfx" and these words, joined with dots."""
    return AppendToNamespace("tfx", descriptors)


def AppendToNamespace(namespace: str, descriptors_to_append: Sequence[str]) -> str:
    """The namespace below another one, with these words added."""
    return ".".join([namespace, *descriptors_to_append])
