"""tfx_bsl.arrow.path: the path of a column, as the names of the fields on the way to it."""

from __future__ import annotations

from functools import total_ordering
from typing import TYPE_CHECKING

from tensorflow_metadata.proto.v0 import path_pb2

if TYPE_CHECKING:
    from collections.abc import Iterable


@total_ordering
class ColumnPath:
    """The steps to a column; a str is a path with one step. Immutable; paths are hashable and
    compare like their steps."""

    __slots__ = ("_steps",)

    def __init__(self, steps: Iterable[str] | str) -> None:
        self._steps = (steps,) if isinstance(steps, str) else tuple(steps)

    @staticmethod
    def from_proto(path_proto: path_pb2.Path) -> ColumnPath:
        """The path in a message."""
        return ColumnPath(path_proto.step)

    def to_proto(self) -> path_pb2.Path:
        """The path as a message."""
        return path_pb2.Path(step=self._steps)

    def steps(self) -> tuple[str, ...]:
        """The names, outermost first."""
        return self._steps

    def initial_step(self) -> str:
        """The first name. Raises ValueError for an empty path."""
        if not self._steps:
            raise ValueError("This ColumnPath does not have any steps.")
        return self._steps[0]

    def suffix(self, starting_index: int) -> ColumnPath:
        """The path without the steps before this one."""
        return ColumnPath(self._steps[starting_index:])

    def prefix(self, ending_index: int) -> ColumnPath:
        """The path before that step."""
        return ColumnPath(self._steps[:ending_index])

    def parent(self) -> ColumnPath:
        """The path without its last step. Raises ValueError for an empty path."""
        if not self._steps:
            raise ValueError("Root does not have parent.")
        return ColumnPath(self._steps[:-1])

    def child(self, child_step: str) -> ColumnPath:
        """The path with one more step."""
        return ColumnPath((*self._steps, child_step))

    def __str__(self) -> str:
        return ".".join(self._steps)

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnPath) and self._steps == other._steps

    def __lt__(self, other: ColumnPath) -> bool:
        return self._steps < other._steps

    def __hash__(self) -> int:
        return hash(self._steps)

    def __len__(self) -> int:
        return len(self._steps)

    def __bool__(self) -> bool:
        return bool(self._steps)
