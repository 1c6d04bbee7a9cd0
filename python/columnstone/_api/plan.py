"""plan: the splits of files, which engines hand to their workers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.arguments import positive, text
from .._base.errors import UnsupportedError
from .._base.files import as_inputs, is_file
from .._base.public import public
from .._io.listing import listed
from .._io.rules import rule
from .._lineage.choice import Held, has_artifacts
from .._source.inputs import check_names, expand, is_remote, written_format
from .._source.split import Split, splits_of
from .artifacts import settled

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
    schemes: Iterable[str] | None = None,
    hosts: Iterable[str] | None = None,
) -> list[Split]:
    """Divides files into splits, which workers can read independently.

    paths, format, container, filesystem, schemes, hosts: as for `open`. Artifacts are divided by
        their files: `Store.reading` returns the other options, and the caller holds the `lease`.
    target_bytes: the intended size of a split, and of the splits of a task together.

    >>> splits = cst.plan("trips.tfrecord", target_bytes=150)
    >>> [(split.begin, split.end) for split in splits]
    [(0, 146), (146, 292)]
    >>> sum(len(batch) for split in splits for batch in cst.open(split))
    4
    """
    if has_artifacts(paths):
        paths, said = settled(paths, {"view": None})
        format = format if format is not None else said.get("format")
        container = container if container is not None else said.get("container")
    target = positive("target_bytes", target_bytes)
    name, framing = text("format", format), text("container", container)
    sizes: tuple[int | None, ...] | None = None
    given: Any = paths.paths if isinstance(paths, Held) else paths
    what = list(given) if isinstance(given, Iterator) and not is_file(given) else given
    allowed = rule(schemes, hosts)
    check_names(what, allowed, filesystem)
    if filesystem is not None or is_remote(what):
        found = listed(what, filesystem, allowed)
        local = tuple(os.fsencode(file) for file, _ in found)
        sizes = tuple(size for _, size in found)
        cut = _core.SPLIT_CUT_BY_NAME
    else:
        local = _local_files(what)
        written = written_format(local, name)
        cut = _core.SPLIT_CUT_BY_BYTES
        if written is not None:
            local, name, framing = expand(local), None, None
            divides = "split" in written.takes
            cut = _core.SPLIT_CUT_BY_NAME if divides else _core.SPLIT_CUT_NONE
    batch, _ = _core.plan_splits(local, sizes, target, name, framing, cut)
    return splits_of(batch)


def _local_files(paths: object) -> tuple[bytes, ...]:
    local, _ = as_inputs(paths)
    if local is None:
        raise UnsupportedError("file objects cannot be split: workers open files by name")
    return local
