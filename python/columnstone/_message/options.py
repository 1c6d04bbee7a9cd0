"""The options of messages: a message type and how it becomes columns, as the compiled part takes
them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.arguments import integer, text
from .._base.errors import argument_error
from .descriptors import Descriptors
from .files import described

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from .descriptors import Described, DescriptorsLike

    MessageLike: TypeAlias = "str | type[Any] | Described"
    Form: TypeAlias = Literal["binary", "text", "json", "confluent", "confluent_plain"]
    Enums: TypeAlias = Literal["dictionary", "text", "int32", "binary"]
    TimeUnit: TypeAlias = Literal["ns", "us", "ms", "s"]
    # (set, message, flags, form, enums, timestamp_unit, time_zone, duration_unit, time_unit,
    # recursion, unknown_fields, list_item, map_key, map_value, field_number_key)
    CoreMessage: TypeAlias = tuple[
        _core.Descriptors | None,
        str | None,
        int,
        int,
        int,
        int,
        str,
        int,
        int,
        int,
        str | None,
        str,
        str,
        str,
        str | None,
    ]

_FORMS = {
    "binary": _core.MESSAGE_BINARY,
    "text": _core.MESSAGE_TEXT,
    "json": _core.MESSAGE_JSON,
    "confluent": _core.MESSAGE_CONFLUENT,
    "confluent_plain": _core.MESSAGE_CONFLUENT_PLAIN,
}
_ENUMS = {
    "dictionary": _core.ENUMS_DICTIONARY,
    "text": _core.ENUMS_TEXT,
    "int32": _core.ENUMS_NUMBER,
    "binary": _core.ENUMS_BINARY,
}
_UNITS = {
    "ns": _core.TIME_NANOSECOND,
    "us": _core.TIME_MICROSECOND,
    "ms": _core.TIME_MILLISECOND,
    "s": _core.TIME_SECOND,
}
# What there is besides the columns, with the usual values.
OPTIONS: dict[str, Any] = {
    "form": "binary",
    "enums": "dictionary",
    "defaults": False,
    "nullable_lists": False,
    "nullable_items": False,
    "plain_types": False,
    "binary_strings": False,
    "maps_as_lists": False,
    "timestamp_unit": "ns",
    "time_zone": "UTC",
    "duration_unit": "ns",
    "time_unit": "ns",
    "recursion": 2,
    "unknown_fields": None,
    "list_item": "item",
    "map_key": "key",
    "map_value": "value",
    "field_number_key": None,
}
ENCODING = ("form", "unknown_fields")  # those of an encoder


def message_of(
    message: MessageLike | None, descriptors: DescriptorsLike | None
) -> tuple[Descriptors, str]:
    """The set that a message type is in, and its full name."""
    if message is None or isinstance(message, str):
        if descriptors is None:
            raise argument_error(
                "a message is named, and its descriptors are not given",
                "descriptors=: a FileDescriptorSet, a .proto file, or generated classes",
            )
        found_set = _set_of(message, descriptors)
        return found_set, found_set._core.find(message)
    found = described(message)
    if found is None:
        raise TypeError(
            "message is a generated class, its DESCRIPTOR or a full name, not "
            f"{type(message).__name__}"
        )
    beside: Any = [] if descriptors is None else [descriptors]
    full_name: str = found.full_name
    return Descriptors([found, *beside]), full_name


def _set_of(message: str | None, descriptors: Any) -> Descriptors:
    if isinstance(descriptors, Descriptors):
        return descriptors
    if hasattr(descriptors, "FindMessageTypeByName"):
        return _of_pool(message, descriptors)
    return Descriptors(descriptors)


def _of_pool(message: str | None, pool: Any) -> Descriptors:
    """A pool is asked for one message, and for the extensions of all that this may hold."""
    if message is None:
        raise argument_error("a pool does not tell what it holds", "name the message")
    try:
        root = pool.FindMessageTypeByName(message.removeprefix("."))
    except KeyError:
        raise argument_error(f"the pool has no message {ascii(message)[:80]}") from None
    files = [root.file]
    seen = set()
    wanted = [root]
    while wanted:
        found = wanted.pop()
        if found.full_name not in seen:
            seen.add(found.full_name)
            fields = [*found.fields, *pool.FindAllExtensions(found)]
            files += [field.file for field in fields]
            wanted += [field.message_type for field in fields if field.message_type is not None]
    return Descriptors(files)


def core_message(
    message: MessageLike | None, descriptors: DescriptorsLike | None, options: dict[str, Any]
) -> CoreMessage:
    """A message type and some of OPTIONS; the others are the usual ones."""
    for name in options:
        if name not in OPTIONS:
            raise argument_error(
                f"messages have no option {ascii(name)[:40]}", "one of " + ", ".join(OPTIONS)
            )
    return named_message(*message_of(message, descriptors), options)


def named_message(
    found: Descriptors | None, full_name: str | None, options: dict[str, Any]
) -> CoreMessage:
    """The same, of a set and a name, each None where a view has its own."""
    given = {**OPTIONS, **options}
    zone = text("time_zone", given["time_zone"])
    return (
        None if found is None else found._core,
        full_name,
        _flags(given),
        _choice("form", given["form"], _FORMS),
        _choice("enums", given["enums"], _ENUMS),
        _choice("timestamp_unit", given["timestamp_unit"], _UNITS),
        "" if zone is None else zone,
        _choice("duration_unit", given["duration_unit"], _UNITS),
        _choice("time_unit", given["time_unit"], _UNITS),
        _recursion(given["recursion"]),
        text("unknown_fields", given["unknown_fields"]),
        _name("list_item", given["list_item"]),
        _name("map_key", given["map_key"]),
        _name("map_value", given["map_value"]),
        text("field_number_key", given["field_number_key"]),
    )


def encoding_message(
    message: MessageLike | None, descriptors: DescriptorsLike | None, options: dict[str, Any]
) -> CoreMessage:
    """The same for an encoder, which has few options."""
    for name in options.keys() & OPTIONS.keys() - set(ENCODING):
        raise argument_error(
            f"{name} is an option of decoders", "encoders take form and unknown_fields"
        )
    return core_message(message, descriptors, options)


def _flags(given: dict[str, Any]) -> int:
    return (
        (_core.MESSAGE_DEFAULTS if given["defaults"] else 0)
        | (_core.MESSAGE_NULLABLE_LISTS if given["nullable_lists"] else 0)
        | (_core.MESSAGE_NULLABLE_ITEMS if given["nullable_items"] else 0)
        | (_core.MESSAGE_PLAIN_TYPES if given["plain_types"] else 0)
        | (_core.MESSAGE_BINARY_STRINGS if given["binary_strings"] else 0)
        | (_core.MESSAGE_MAPS_AS_LISTS if given["maps_as_lists"] else 0)
    )


def _choice(name: str, value: object, choices: dict[str, int]) -> int:
    if not isinstance(value, str) or value not in choices:
        raise argument_error(
            f"{name} is {ascii(value)[:40]}, and must be one of {', '.join(choices)}"
        )
    return choices[value]


def _recursion(value: int) -> int:
    """The library's 0 is the usual number, and -1 none."""
    number = integer("recursion", value)
    if not 0 <= number < 2**31:
        raise argument_error(f"recursion is {number}, and must be from 0 to {2**31 - 1}")
    return number if number > 0 else -1


def _name(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is a str, not {type(value).__name__}")
    return value
