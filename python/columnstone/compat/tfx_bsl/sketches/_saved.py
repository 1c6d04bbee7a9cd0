"""The common part of sketches that are saved as tfx_bsl's messages."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

    from ...._sketch.tfx import TfxSketch


class SavedSketch(abc.ABC):
    """Pickles as the result of Serialize()."""

    _sketch: TfxSketch

    def Serialize(self) -> bytes:
        """The message in tfx_bsl's format."""
        return self._sketch.to_tfx_bsl()

    @classmethod
    def Deserialize(cls, message: bytes | str, /) -> Self:
        """Loads a sketch from tfx_bsl's message; RuntimeError for other bytes."""
        made = cls.__new__(cls)
        made.__setstate__(message)
        return made

    @abc.abstractmethod
    def _load(self, message: bytes) -> None:
        """Takes over the content of the message."""

    def __getstate__(self) -> bytes:
        return self.Serialize()

    def __setstate__(self, message: bytes | str) -> None:
        self._load(message.encode() if isinstance(message, str) else message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).Deserialize, (self.Serialize(),)
