"""Merging parts of anything that merges in a tree that hypothesis chooses."""

from __future__ import annotations

import pickle
from typing import Any

from hypothesis import strategies as st


def merged(parts: list[Any], data: st.DataObject) -> Any:
    """All of the parts in one of them, which are taken out of the list; those that are merged have
    been pickled."""
    while len(parts) > 1:
        taken = parts.pop(data.draw(st.integers(0, len(parts) - 1)))
        into = parts[data.draw(st.integers(0, len(parts) - 1))]
        into.merge(pickle.loads(pickle.dumps(taken)))
    return parts[0]
