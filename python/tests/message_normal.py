"""The message that is left of one when it has gone through columns and back."""

from __future__ import annotations

from typing import Any

import message_reference as ref
from message_wire import is_map

TIMES = ("google.protobuf.Timestamp", "google.protobuf.Duration")
VALUES = (*TIMES, *ref.JSON_VALUES, *ref.WRAPPERS, "google.type.Date", "google.type.TimeOfDay")


def normal(message: Any, options: ref.Options) -> Any:
    """In place: without unknown fields that have no column, times and JSON values in one form."""
    if options.unknown_fields is None:
        message.DiscardUnknownFields()
    normalise(message, options)
    return message


def normalise(message: Any, options: ref.Options) -> None:
    name = "" if options.plain_types else message.DESCRIPTOR.full_name
    if name in VALUES:
        message.DiscardUnknownFields()
    if name in TIMES:
        normalise_time(message, name)
    elif name == "google.protobuf.Value" and message.WhichOneof("kind") in (None, "null_value"):
        message.null_value = 0
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if is_map(field):
            if field.message_type.fields_by_name["value"].message_type is not None:
                for key in value:
                    normalise(value[key], options)
        else:
            for one in value if field.is_repeated else [value]:
                normalise(one, options)


def normalise_time(message: Any, name: str) -> None:
    """A timestamp's nanoseconds count forward; a duration's have the sign of its seconds."""
    total = message.seconds * 10**9 + message.nanos
    seconds, nanos = divmod(total, 10**9)
    if name.endswith("Duration") and seconds < 0 and nanos > 0:
        seconds, nanos = seconds + 1, nanos - 10**9
    message.seconds, message.nanos = seconds, nanos
