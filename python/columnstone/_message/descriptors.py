"""Descriptors: the message types of .proto files, of sets of descriptors, of generated classes."""

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
    """What a message explains of some records; see Descriptors.guess."""

    message: str  #: the full name
    fits: bool  #: every record parses as it, and it explains every byte of them
    records: int  #: that parse as it
    bytes: int  #: of these, that it explains
    opaque_bytes: int  #: of the explained ones, in bytes fields, where anything fits
    values: int  #: of fields that it has, at any depth


@public_in("columnstone.schema")
class Descriptors:
    """The message types that protobuf's descriptors describe. Immutable; it pickles, and any number
    of threads may share it.

    Descriptors(x) takes

    - a FileDescriptorSet, as `protoc --include_imports -o FILE` and `buf build -o FILE` write it:
      its path or its bytes (or a single FileDescriptorProto);
    - a path that ends in .proto: the file is compiled by grpcio-tools or, without that, by the
      `protoc` that is found on the PATH;
    - of Python's protobuf a generated class or module, a descriptor of any kind, or a message of
      FileDescriptorSet: with all files that they import;
    - a list of these. Of several files of the same name the first one counts.

    include: of .proto files: the folders that imports begin in, as protoc's -I. After them come the
        folders of the files themselves, and the files that come with protobuf and with the package
        googleapis-common-protos.

    Raises NotFoundError if there is no such file, SchemaError for descriptors that contradict
    themselves, with the name of the type as path, and for what the compiler refuses, with file,
    line and column; CorruptError for other bytes, and UnsupportedError without a compiler.

    >>> cst.schema.Descriptors("shop.proto").messages
    ('shop.Event', 'shop.Session')
    """

    __slots__ = ("_core",)
    _core: _core.Descriptors

    def __init__(
        self, descriptors: DescriptorsLike, *, include: Iterable[str | os.PathLike[str]] = ()
    ) -> None:
        if isinstance(include, str | bytes):
            raise TypeError(f"include is a list of folders, not {type(include).__name__}")
        folders = [os.fsdecode(folder) for folder in include]
        self._core = _core.Descriptors(set_bytes(descriptors, folders))

    @property
    def messages(self) -> tuple[str, ...]:
        """The full names of the messages, in the order of the files and of their declarations, each
        before those that are declared in it."""
        return self._core.messages

    def guess(self, records: Iterable[Buffer]) -> list[MessageGuess]:
        """Which messages some serialized records (some hundred will do) may be: at most 32, those
        that explain most of their bytes first. It is a guess, because bytes do not say their type.

        Only what the writers of a message would write counts for it: fields that it has, of the
        right wire type, with numbers that the field can hold and names for enums, no required field
        missing, and UTF-8 where protobuf wants that. A message fits if it explains every byte of
        every record; where others fit as well, with the same numbers, these records do not tell
        which of them it is.
        """
        given = tuple(bytes(memoryview(record)) for record in records)
        size = sum(map(len, given))
        return [
            MessageGuess(name, (parsed, explained) == (len(given), size), parsed, explained, *rest)
            for name, parsed, explained, *rest in self._core.guess(given)
        ]

    def to_bytes(self) -> bytes:
        """The FileDescriptorSet in bytes."""
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
