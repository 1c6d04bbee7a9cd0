"""plan: the splits of files, which engines hand to their workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base.arguments import positive
from .._base.public import public
from .._source.split import Split
from .open import open

if TYPE_CHECKING:
    from .open import AnyInput


@public
def plan(
    paths: AnyInput,
    format: str | None = None,
    *,
    target_bytes: int = 64 << 20,
    container: str | None = None,
    filesystem: object | None = None,
) -> list[Split]:
    """The splits of files, for workers that read them independently of each other.

    paths, format, container, filesystem: as those of `open`.
    target_bytes: that a split should have, and the splits of a task together.
    """
    positive("target_bytes", target_bytes)
    with open(paths, format or "raw", container=container, filesystem=filesystem) as source:
        return [Split(file, 0, 2**63 - 1, False, i) for i, file in enumerate(source.files)]
