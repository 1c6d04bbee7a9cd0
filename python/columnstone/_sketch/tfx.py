"""Sketches that tfx_bsl has as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from .sketch import Sketch

if TYPE_CHECKING:
    from typing import Self


class TfxSketch(Sketch):
    """A sketch that can be read and written in tfx_bsl's own serialization."""

    __slots__ = ()

    @classmethod
    def from_tfx_bsl(cls, message: bytes) -> Self:
        """Loads a sketch from the result of Serialize() of tfx_bsl's sketch. The number of values
        is unknown: `count` begins at 0. Raises CorruptError for other bytes.
        """
        made = object.__new__(cls)
        made._handle = _core.sketch_from_tfx_bsl(cls._kind, bytes(message))
        return made

    def to_tfx_bsl(self) -> bytes:
        """The bytes for Deserialize() of tfx_bsl's sketch."""
        return _core.sketch_to_tfx_bsl(self._handle)
