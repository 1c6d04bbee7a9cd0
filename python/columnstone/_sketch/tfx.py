"""Sketches that tfx_bsl has, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from .sketch import Sketch

if TYPE_CHECKING:
    from typing import Self


class TfxSketch(Sketch):
    """A sketch that is read and written as tfx_bsl serialises its own."""

    __slots__ = ()

    @classmethod
    def from_tfx_bsl(cls, message: bytes) -> Self:
        """A sketch from what the Serialize() of tfx_bsl's sketch gave. How many values there were
        is not known: `count` begins at 0. Raises CorruptError for bytes that are no such message.
        """
        made = object.__new__(cls)
        made._handle = _core.sketch_from_tfx_bsl(cls._kind, bytes(message))
        return made

    def to_tfx_bsl(self) -> bytes:
        """What the Deserialize() of tfx_bsl's sketch takes."""
        return _core.sketch_to_tfx_bsl(self._handle)
