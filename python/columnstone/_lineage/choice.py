"""The parts that functions with artifact arguments need before any artifact exists: this module
loads nothing else."""

from __future__ import annotations

import enum


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
