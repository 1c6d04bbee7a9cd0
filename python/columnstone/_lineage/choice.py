"""The parts that functions with artifact arguments need before any artifact exists: this module
loads nothing else."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .lease import Hold


class ArtifactBase:
    """The base of Artifact."""


def has_artifacts(what: object) -> bool:
    """Whether it is an artifact, or a list that contains one."""
    if isinstance(what, list | tuple):
        return any(isinstance(item, ArtifactBase) for item in what)
    return isinstance(what, ArtifactBase)


class Choice(enum.Enum):
    """The default of `view`. (None means "without a view".)"""

    AS_BOUND = "as bound"

    def __repr__(self) -> str:
        return "<as bound>"


AS_BOUND = Choice.AS_BOUND


class Held:
    """Paths of artifacts, or any other input of `columnstone.open`, and the lease on them."""

    __slots__ = ("hold", "paths")

    def __init__(self, paths: Any, hold: Hold) -> None:
        self.paths = paths
        self.hold = hold

    def __repr__(self) -> str:
        return repr(self.paths)
