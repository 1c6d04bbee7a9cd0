"""Files that are divided at any bytes, and read piece by piece."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import columnstone as cst


def splits_at(file: str, places: list[int], end: int) -> list[cst.source.Split]:
    cuts = [0, *sorted(place for place in places if 0 < place < end), end]
    return [cst.source.Split(file, a, b) for a, b in itertools.pairwise(cuts)]


def read_each(
    read: Callable[..., tuple[list[Any], list[Any]]],
    splits: list[cst.source.Split],
    **options: Any,
) -> tuple[list[Any], list[Any]]:
    """The rows of all, and what was dropped, as `read` gives those of one."""
    rows, dropped = [], []
    for split in splits:
        more, drops = read(split, **options)
        rows += more
        dropped += drops
    return rows, dropped
