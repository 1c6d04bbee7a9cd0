"""The options of messages: a message type, and how it becomes columns, for the compiled part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from .. import _core
from .._base.arguments import integer, text
from .._base.errors import argument_error
from .descriptors import Descriptors
from .files import described

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal, TypeAlias

    from .descriptors import Described, DescriptorsLike

    MessageLike: TypeAlias = "str | type[Any] | Described"
    Form: TypeAlias = Literal["binary", "text", "json", "confluent", "confluent_plain"]
    Enums: TypeAlias = Literal["dictionary", "text", "int32", "binary"]
    TimeUnit: TypeAlias = Literal["ns", "us", "ms", "s"]
    # (set, message, ((name of an option, its value as a text), ...))
    CoreMessage: TypeAlias = tuple[
        _core.Descriptors | None, str | None, tuple[tuple[str, str], ...]
    ]


class MessageOptions(TypedDict, total=False):
    """The options of messages, besides the type and the layout of the columns."""

    form: Form
    enums: Enums
    defaults: bool
    nullable_lists: bool
    nullable_items: bool
    plain_types: bool
    binary_strings: bool
    maps_as_lists: bool
    ignore_unknown: bool
    timestamp_unit: TimeUnit
    time_zone: str | None
    duration_unit: TimeUnit
    time_unit: TimeUnit
    recursion: int
    unknown_fields: str | None
    list_item: str
    map_key: str
    map_value: str
    field_number_key: str | None


# The same with default values.
OPTIONS: dict[str, Any] = {
    "form": "binary",
    "enums": "dictionary",
    "defaults": False,
    "nullable_lists": False,
    "nullable_items": False,
    "plain_types": False,
    "binary_strings": False,
    "maps_as_lists": False,
    "ignore_unknown": False,
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
_NAMES = ("time_zone", "unknown_fields", "list_item", "map_key", "map_value", "field_number_key")


def message_of(
    message: MessageLike | None, descriptors: DescriptorsLike | None
) -> tuple[Descriptors, str]:
    """The descriptor set of a message type, and its full name."""
    if message is None or isinstance(message, str):
        if descriptors is None:
            named = (
                "message is missing"
                if message is None
                else "the descriptors of the message are missing"
            )
            raise argument_error(
                named,
                "descriptors=: a FileDescriptorSet, a .proto file, or generated classes",
            )
        found_set = _set_of(message, descriptors)
        return found_set, found_set._core.find(message)
    found = described(message)
    if found is None:
        raise TypeError(
            "message must be a generated class, its DESCRIPTOR or a full name, not "
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
    """A pool is asked for one message, and for the extensions of every message that it may
    contain."""
    if message is None:
        raise argument_error("a pool does not list its messages", "name the message")
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
    """A message type and some of OPTIONS; the others have their defaults."""
    check_names(options)
    return named_message(*message_of(message, descriptors), options)


def check_names(options: Iterable[str]) -> None:
    """ArgumentError for a name that is not one of OPTIONS."""
    for name in options:
        if name not in OPTIONS:
            raise argument_error(
                f"unknown message option {ascii(name)[:40]}", "one of " + ", ".join(OPTIONS)
            )


def named_message(
    found: Descriptors | None, full_name: str | None, options: dict[str, Any]
) -> CoreMessage:
    """The same, for a set and a name. Both are None if a view has its own."""
    texts = ((name, _as_text(name, value)) for name, value in options.items())
    given = tuple((name, value) for name, value in texts if value is not None)
    return None if found is None else found._core, full_name, given


def encoding_message(
    message: MessageLike | None, descriptors: DescriptorsLike | None, options: dict[str, Any]
) -> CoreMessage:
    """The same for an encoder, which has fewer options."""
    for name in options.keys() & OPTIONS.keys() - set(ENCODING):
        raise argument_error(
            f"{name} is an option of decoders", "encoders take only form and unknown_fields"
        )
    return core_message(message, descriptors, options)


def _as_text(name: str, value: Any) -> str | None:
    """The value for the library's table of options; None: not set."""
    usual = OPTIONS[name]
    if isinstance(usual, bool):
        return "true" if value else "false"
    if isinstance(usual, int):
        return str(integer(name, value))
    if name not in _NAMES:
        return value if isinstance(value, str) else ascii(value)
    given = text(name, value)
    if given is None and name == "time_zone":
        return ""
    if given is None and usual is not None:
        raise TypeError(f"{name} must be a str, not NoneType")
    return given
