"""MessageEncoder: record batches to serialized messages of any type."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.public import public_in
from .options import core_message, message_of
from .plain import PlainData

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._arrow.objects import Plain
    from .._core import ArrowArrayExportable, ArrowStreamExportable
    from .descriptors import Descriptors, DescriptorsLike
    from .options import Form, MessageLike


@public_in("columnstone.codec")
class MessageEncoder:
    """Encodes record batches as serialized protobuf messages of one type, in protobuf's
    deterministic form: fields by number, maps by key, unknown fields last. It pickles.

    Columns and fields of structs are fields of the messages by name, extensions as "(full.name)".
    What MessageDecoder gives is taken, with whatever options it was made, and so is every Arrow
    type that holds the same values. Null is an absent field.

    message, descriptors, form: as for MessageDecoder.
    unknown_fields: name of the binary fields that hold fields in bytes, as MessageDecoder makes
        them.
    lossy: round what a field cannot hold exactly, instead of raising.
    """

    __slots__ = ("_core", "_descriptors", "_name", "_options", "_plain")

    def __init__(
        self,
        message: MessageLike | None = None,
        *,
        descriptors: DescriptorsLike | None = None,
        form: Form = "binary",
        unknown_fields: str | None = None,
        lossy: bool = False,
    ) -> None:
        options = {"form": form, "unknown_fields": unknown_fields}
        self._descriptors, self._name = message_of(message, descriptors)
        core = core_message(self._name, self._descriptors, options)
        self._core = _core.Encoder(
            "message", None, _core.ENCODE_LOSSY if lossy else 0, core, ()
        )
        self._plain = PlainData(core)
        self._options: dict[str, Any] = {**options, "lossy": bool(lossy)}

    def encode(self, batch: ArrowArrayExportable | ArrowStreamExportable | Plain) -> _core.Array:
        """Encodes a batch into an Array of large_binary, one record per row; inputs as for
        `ExampleEncoder.encode`. In rows and columns of Python's own, a map is a dict.

        Raises UnsupportedError with row and path for a value that the field cannot hold, and
        NotFoundError for a column that the message does not have.
        """
        return self._core.encode(self._plain.prepared(batch))

    @property
    def message(self) -> str:
        """The full name of the message."""
        return self._name

    @property
    def descriptors(self) -> Descriptors:
        """The set of message types."""
        return self._descriptors

    def __reduce__(self) -> tuple[Callable[..., MessageEncoder], tuple[Any, ...]]:
        given = {**self._options, "descriptors": self._descriptors}
        return functools.partial(MessageEncoder, **given), (self._name,)

    def __repr__(self) -> str:
        return f"<columnstone.codec.MessageEncoder: {self._name}>"
