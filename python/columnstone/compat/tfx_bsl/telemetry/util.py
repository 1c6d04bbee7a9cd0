"""Names of Beam's metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def MakeTfxNamespace(descriptors: Sequence[str]) -> str:
    """The namespace of metrics that these words name below "tfx", with dots between them."""
    return AppendToNamespace("tfx", descriptors)


def AppendToNamespace(namespace: str, descriptors_to_append: Sequence[str]) -> str:
    """The namespace below another one that these words name."""
    return ".".join([namespace, *descriptors_to_append])
