"""plan: the splits of files, which engines hand to their workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from .._base.arguments import positive, text
from .._base.errors import UnsupportedError
from .._base.files import as_inputs
from .._base.public import public
from .._source.inputs import expand, is_remote, written_format
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
    target = positive("target_bytes", target_bytes)
    name, framing = text("format", format), text("container", container)
    if filesystem is not None or is_remote(paths):
        with open(paths, name or "raw", container=framing, filesystem=filesystem) as source:
            return [Split(file, 0, 2**63 - 1, False, i) for i, file in enumerate(source.files)]
    local, files = as_inputs(paths)
    if local is None or files is not None:
        raise UnsupportedError("file objects have no splits: workers open files by their names")
    cut = _core.SPLIT_CUT_BY_BYTES
    written = written_format(local, name)
    if written is not None:
        local, name, framing = expand(local), None, None
        by_place = written.name == "parquet"
        cut = _core.SPLIT_CUT_BY_NAME if by_place else _core.SPLIT_CUT_NONE
    return list(map(Split._make, _core.plan_splits(local, None, target, name, framing, cut)))
