"""What sketches have in common that are saved as the messages of tfx_bsl."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

    from ...._sketch.tfx import TfxSketch


class SavedSketch(abc.ABC):
    """Pickled as what Serialize() gives."""

    _sketch: TfxSketch

    def Serialize(self) -> bytes:
        """The message that tfx_bsl writes."""
        return self._sketch.to_tfx_bsl()

    @classmethod
    def Deserialize(cls, message: bytes | str, /) -> Self:
        """A sketch from the message that tfx_bsl writes; RuntimeError for other bytes."""
        made = cls.__new__(cls)
        made.__setstate__(message)
        return made

    @abc.abstractmethod
    def _load(self, message: bytes) -> None:
        """Becomes what the message has."""

    def __getstate__(self) -> bytes:
        return self.Serialize()

    def __setstate__(self, message: bytes | str) -> None:
        self._load(message.encode() if isinstance(message, str) else message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).Deserialize, (self.Serialize(),)
