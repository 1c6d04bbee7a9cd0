"""Collects the descriptor files of any object that has some: sets as bytes, and classes and modules
of Python's protobuf, which is not imported for this."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .._base.errors import FileError, NotFoundError
from .._base.files import path_bytes
from .compile import compile_protos

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FILE = 0x0A  # the tag of a file in a FileDescriptorSet; of the name in a FileDescriptorProto


def set_bytes(source: Any, include: Sequence[str]) -> bytes:
    """The bytes of a FileDescriptorSet with everything that the source describes. If several items
    of a list contain the same file, the first one is used."""
    items = list(_items(source))
    if len(items) == 1 and isinstance(items[0], bytes | bytearray | memoryview):
        return bytes(items[0])
    files = _Files()
    protos: list[str] = []
    for item in items:
        _add(item, files, protos)
    if protos:
        files.add_set(compile_protos(protos, include))
    return files.to_bytes()


class _Files:
    """FileDescriptorProtos as bytes, by name."""

    def __init__(self) -> None:
        self._by_name: dict[bytes, bytes] = {}
        self._rest = b""

    def add(self, file: bytes) -> None:
        """Adds a file unless there is one with its name."""
        self._by_name.setdefault(_name_of(file), file)

    def add_set(self, data: bytes) -> None:
        """Adds a set or a single file. Damaged bytes go to the end, so that the library reports the
        error."""
        fields, rest = _fields(data)
        if not fields or fields[0][:1] != bytes([_FILE]):  # a file begins with its name
            self.add(data)
            return
        for file in fields:
            self.add(file)
        self._rest += rest

    def add_described(self, file: Any) -> None:
        """Adds a FileDescriptor of Python's protobuf after the files that it imports."""
        if file.name.encode() not in self._by_name:
            for imported in file.dependencies:
                self.add_described(imported)
            self.add(file.serialized_pb)

    def to_bytes(self) -> bytes:
        files = self._by_name.values()
        whole = b"".join(bytes([_FILE]) + _varint(len(file)) + file for file in files)
        return whole + self._rest


def _items(source: Any) -> Iterator[Any]:
    """The items of the source; lists contain others."""
    if isinstance(source, list | tuple | set | frozenset):
        for item in source:
            yield from _items(item)
    else:
        yield source


def _add(item: Any, files: _Files, protos: list[str]) -> None:
    if isinstance(item, bytes | bytearray | memoryview):
        files.add_set(bytes(item))
    elif isinstance(item, str | os.PathLike):
        path = os.fsdecode(item)
        if path.endswith(".proto"):
            protos.append(path)
        else:
            files.add_set(_read(path))
    elif _is_set(item):
        files.add_set(item.SerializeToString())
    else:
        files.add_described(_file_of(item))


def _read(path: str) -> bytes:
    try:
        with open(path_bytes(path), "rb") as file:
            return file.read()
    except FileNotFoundError:
        hint = "check the path; to name a message, use `message`"
        raise NotFoundError(
            f"{path}: there is no such file ({hint})", file=path, hint=hint
        ) from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}", file=path) from error


def described(item: Any) -> Any:
    """The descriptor of a generated class or of a message, or the descriptor itself. None for
    anything else."""
    found = getattr(item, "DESCRIPTOR", item)
    return found if hasattr(found, "full_name") and hasattr(found, "fields") else None


def _file_of(item: Any) -> Any:
    """The FileDescriptor of a module, a class, a message or a descriptor of any kind."""
    found = getattr(item, "DESCRIPTOR", item)
    found = getattr(found, "file", found)
    if hasattr(found, "serialized_pb") and hasattr(found, "dependencies"):
        return found
    if hasattr(item, "FindMessageTypeByName"):
        raise TypeError("a pool does not list its messages: name the message, or give its modules")
    raise TypeError(
        "expected the path or the bytes of a FileDescriptorSet, .proto files, or classes "
        f"or modules of protobuf, not {type(item).__name__}"
    )


def _is_set(item: Any) -> bool:
    """Descriptors, or a FileDescriptorSet or FileDescriptorProto of Python's protobuf."""
    if isinstance(item, type) or not hasattr(item, "SerializeToString"):
        return False
    descriptor = getattr(item, "DESCRIPTOR", None)
    return descriptor is None or descriptor.full_name in (
        "google.protobuf.FileDescriptorSet",
        "google.protobuf.FileDescriptorProto",
    )


# The wire format, as far as needed to distinguish files.


def _name_of(file: bytes) -> bytes:
    fields, _ = _fields(file)
    return fields[0] if fields else b""


def _fields(data: bytes) -> tuple[list[bytes], bytes]:
    """The values of the leading fields with number 1, and the rest."""
    values = []
    at = 0
    while at < len(data) and data[at] == _FILE:
        size, begin = _read_varint(data, at + 1)
        if begin + size > len(data):
            break
        values.append(data[begin : begin + size])
        at = begin + size
    return values, data[at:]


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            break
    return value, at


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
