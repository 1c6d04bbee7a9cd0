"""Message classes from a few lines of text, without protoc.

The file is registered in protobuf's default pool under tfx_bsl's name and with tfx_bsl's content.
The pool accepts the same file twice, so that both packages can be imported, in either order, with
the same classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.internal import builder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "bool": _Field.TYPE_BOOL,
    "double": _Field.TYPE_DOUBLE,
    "int64": _Field.TYPE_INT64,
    "string": _Field.TYPE_STRING,
}


def register(
    file: str, package: str, messages: Mapping[str, Sequence[str]], module: dict[str, Any]
) -> None:
    """Adds DESCRIPTOR and the classes of these messages to a module's namespace.

    A message is a list of fields "NUMBER NAME TYPE [repeated | in ONEOF]"; the type is a scalar, a
    message of this package, or "map" for a map of strings.
    """
    described = descriptor_pb2.FileDescriptorProto(name=file, package=package)
    for name, fields in messages.items():
        message = described.message_type.add(name=name)
        for words in map(str.split, fields):
            _add_field(message, f".{package}.", words)
    described.syntax = "proto3"
    pool = descriptor_pool.Default()
    try:
        descriptor = pool.AddSerializedFile(described.SerializeToString())
    except TypeError:  # a tfx_bsl of another version has come before: its messages are taken
        descriptor = pool.FindFileByName(file)
    module["DESCRIPTOR"] = descriptor
    builder.BuildTopDescriptorsAndMessages(descriptor, module["__name__"], module)


def _add_field(message: Any, package: str, words: Sequence[str]) -> None:
    number, name, kind, *rest = words
    is_many = kind == "map" or rest == ["repeated"]
    label = _Field.LABEL_REPEATED if is_many else _Field.LABEL_OPTIONAL
    field = message.field.add(name=name, number=int(number), label=label)
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type = _Field.TYPE_MESSAGE
        field.type_name = package + kind
    if kind == "map":
        entry = "".join(word.capitalize() for word in name.split("_")) + "Entry"
        pairs = message.nested_type.add(name=entry)
        for pair in ("1 key string", "2 value string"):
            _add_field(pairs, package, pair.split())
        pairs.options.map_entry = True
        field.type_name = f"{package}{message.name}.{entry}"
    if rest[:1] == ["in"]:
        names = [one.name for one in message.oneof_decl]
        if rest[1] not in names:
            message.oneof_decl.add(name=rest[1])
            names.append(rest[1])
        field.oneof_index = names.index(rest[1])
