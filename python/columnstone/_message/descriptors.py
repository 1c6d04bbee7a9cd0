"""Descriptors: message types from .proto files, descriptor sets, and generated classes."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.markup import or_text, table, titled
from .._base.public import public_in
from .files import set_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Protocol, TypeAlias

    from .._core import Buffer

    class Described(Protocol):
        """A generated class or module of Python's protobuf, or a message."""

        @property
        def DESCRIPTOR(self) -> Any: ...

    class FileOfDescriptors(Protocol):
        """A FileDescriptor of Python's protobuf."""

        @property
        def serialized_pb(self) -> bytes: ...

    class HasFile(Protocol):
        """Another descriptor of Python's protobuf."""

        @property
        def file(self) -> Any: ...

    _Data: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview
    _Generated: TypeAlias = type[Any] | Described | FileOfDescriptors | HasFile
    OneDescriptors: TypeAlias = "Descriptors | _Data | _Generated"
    DescriptorsLike: TypeAlias = "OneDescriptors | Sequence[OneDescriptors]"


@public_in("columnstone.schema")
@dataclasses.dataclass(frozen=True)
class MessageGuess:
    """How well a message type explains some records; see Descriptors.guess."""

    message: str  #: the full name
    fits: bool  #: every record parses as it, and it explains every byte of them
    records: int  #: that parse as it
    bytes: int  #: of these, that it explains
    opaque_bytes: int  #: of the explained ones, in bytes fields, where anything fits
    values: int  #: of fields that it has, at any depth


@public_in("columnstone.schema")
class Descriptors:
    """Message types from protobuf descriptors. Immutable; it pickles, and any number of threads can
    share it.

    Descriptors(x) accepts

    - the path or the bytes of a FileDescriptorSet, as written by `protoc --include_imports -o FILE`
      or `buf build -o FILE` (or of a single FileDescriptorProto);
    - a path that ends in .proto: the file is compiled with grpcio-tools or, without it, with the
      `protoc` on the PATH;
    - objects of Python's protobuf: a generated class or module, a descriptor of any kind, or a
      FileDescriptorSet message, including the files that they import;
    - a list of these. If several files have the same name, the first one is used.

    include: for .proto files: the folders to search for imports, like protoc's -I. The folders of
        the files themselves come next, then the files of protobuf and of the package
        googleapis-common-protos.

    Raises NotFoundError if a file does not exist; SchemaError for inconsistent descriptors, with
    the name of the type as path, and for compiler errors, with file, line and column; CorruptError
    for other bytes; and UnsupportedError if there is no compiler.

    >>> cst.schema.Descriptors("shop.proto").messages
    ('shop.Event', 'shop.Session')
    """

    __slots__ = ("_core",)
    _core: _core.Descriptors

    def __init__(
        self, descriptors: DescriptorsLike, *, include: Iterable[str | os.PathLike[str]] = ()
    ) -> None:
        if isinstance(include, str | bytes):
            raise TypeError(f"include must be a list of folders, not {type(include).__name__}")
        folders = [os.fsdecode(folder) for folder in include]
        self._core = _core.Descriptors(set_bytes(descriptors, folders))

    @property
    def messages(self) -> tuple[str, ...]:
        """The full names of the messages, in the order of the files and of the declarations; a
        message comes before the messages that are declared inside it."""
        return self._core.messages

    def guess(self, records: Iterable[Buffer]) -> list[MessageGuess]:
        """Guesses which message type some serialized records have (a few hundred are enough).
        Returns at most 32 candidates, ordered by the number of bytes that they explain. It is a
        guess, because serialized messages do not contain their type.

        A field counts only if a writer of the message could have written it: it exists in the
        message, has the right wire type, a number that fits the field, a known name for enums, and
        UTF-8 where protobuf requires it; no required field is missing. A message fits if it
        explains every byte of every record. If several messages fit with the same numbers, the
        records do not show which one it is.
        """
        given = tuple(bytes(memoryview(record)) for record in records)
        size = sum(map(len, given))
        return [
            MessageGuess(name, (parsed, explained) == (len(given), size), parsed, explained, *rest)
            for name, parsed, explained, *rest in self._core.guess(given)
        ]

    def to_bytes(self) -> bytes:
        """The FileDescriptorSet as bytes."""
        return self._core.bytes

    SerializeToString = to_bytes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Descriptors):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> tuple[Callable[..., Descriptors], tuple[Any, ...]]:
        return Descriptors, (self.to_bytes(),)

    def __repr__(self) -> str:
        names = self.messages
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        return f"<columnstone.schema.Descriptors: {shown or 'no messages'}>"

    @or_text
    def _repr_html_(self) -> str:
        names = self.messages
        return titled("Descriptors", table(("message",), [(name,) for name in names]))
