"""MessageDecoder: serialized messages of any type to record batches."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.public import public_in
from .._schema.schema import as_column_flags, as_columns
from .options import core_message, message_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .._core import ArrowArrayExportable, ArrowStreamExportable, Buffer
    from .descriptors import Descriptors, DescriptorsLike
    from .options import Enums, Form, MessageLike, TimeUnit


@public_in("columnstone.codec")
class MessageDecoder:
    """Decodes serialized protobuf messages of one type into record batches. It pickles.

    message: a generated class, a message, its DESCRIPTOR; or a full name such as "shop.Session",
        and then the descriptors. None is the only message of these that no other one holds.
    columns: the wanted fields in the wanted order, as paths: "id", "event.query" (of all events),
        "labels.key" and "labels.value" of a map, "(shop.extra)" for an extension,
        "payload.(shop.Event).id" for what an Any holds if it is of that type. All else is skipped.
    descriptors: anything that `Descriptors` takes; beside a class, what has its extensions and the
        types of its Any fields.
    form: what a record holds: "binary", the wire format; "text" and "json", protobuf's own; or
        "confluent", the wire format after the prefix of Confluent's schema registry
        ("confluent_plain": a prefix without the place of the message in its schema).
    enums: "dictionary" of names, names as "text" or "binary", or "int32".
    defaults: an absent optional field has its default value, instead of null.
    nullable_lists: repeated fields and maps without values are null, instead of empty.
    nullable_items: items of lists and values of maps are declared nullable.
    plain_types: google.protobuf.Timestamp and the other well-known types are the structs that their
        files declare.
    binary_strings: strings are binary columns, and need not be UTF-8.
    maps_as_lists: maps are lists of structs.
    ignore_unknown: of form "json": fields that the message does not have, and names that an enum
        does not have, are passed over, as protobuf's `ignore_unknown_fields` has it.
    timestamp_unit, duration_unit, time_unit: "ns", "us", "ms" or "s", of Timestamp, Duration and
        google.type.TimeOfDay; finer parts are cut off.
    time_zone: of timestamps; None: none.
    recursion: how often a message may stand within one of its own type; below, it is its bytes.
    unknown_fields: name of one more binary field, the last one of every message, with the bytes of
        the fields that its type does not have.
    list_item, map_key, map_value: names within lists and maps.
    field_number_key: of metadata that each field gets, with its number: "PARQUET:field_id" is that
        of Parquet and Iceberg.
    offsets: 64 for large_list, large_utf8 and large_binary, 32 for list, utf8 and binary.
    binary_views: strings and bytes as string_view and binary_view; without a copy when the input is
        an Arrow binary array, which then stays alive as long as the batch.

    What each type of field becomes stands in docs/messages.md. Raises NotFoundError for a message
    or a path that does not exist.
    """

    __slots__ = ("_core", "_descriptors", "_name", "_options")

    def __init__(
        self,
        message: MessageLike | None = None,
        columns: Iterable[str] | None = None,
        *,
        descriptors: DescriptorsLike | None = None,
        form: Form = "binary",
        enums: Enums = "dictionary",
        defaults: bool = False,
        nullable_lists: bool = False,
        nullable_items: bool = False,
        plain_types: bool = False,
        binary_strings: bool = False,
        maps_as_lists: bool = False,
        ignore_unknown: bool = False,
        timestamp_unit: TimeUnit = "ns",
        time_zone: str | None = "UTC",
        duration_unit: TimeUnit = "ns",
        time_unit: TimeUnit = "ns",
        recursion: int = 2,
        unknown_fields: str | None = None,
        list_item: str = "item",
        map_key: str = "key",
        map_value: str = "value",
        field_number_key: str | None = None,
        offsets: int = 64,
        binary_views: bool = False,
    ) -> None:
        options = {
            "form": form,
            "enums": enums,
            "defaults": bool(defaults),
            "nullable_lists": bool(nullable_lists),
            "nullable_items": bool(nullable_items),
            "plain_types": bool(plain_types),
            "binary_strings": bool(binary_strings),
            "maps_as_lists": bool(maps_as_lists),
            "ignore_unknown": bool(ignore_unknown),
            "timestamp_unit": timestamp_unit,
            "time_zone": time_zone,
            "duration_unit": duration_unit,
            "time_unit": time_unit,
            "recursion": recursion,
            "unknown_fields": unknown_fields,
            "list_item": list_item,
            "map_key": map_key,
            "map_value": map_value,
            "field_number_key": field_number_key,
        }
        self._descriptors, self._name = message_of(message, descriptors)
        core = core_message(self._name, self._descriptors, options)
        names = as_columns(columns)
        flags = as_column_flags(offsets, binary_views, False)
        self._core = _core.Decoder("message", None, names, flags, core, ())
        layout = {"columns": names, "offsets": offsets, "binary_views": bool(binary_views)}
        self._options: dict[str, Any] = {**options, **layout}

    def decode(
        self,
        records: Sequence[Buffer] | Iterable[Buffer] | ArrowArrayExportable | ArrowStreamExportable,
    ) -> _core.RecordBatch:
        """Decodes the records into one batch, one row each; everything as for
        `ExampleDecoder.decode`. Errors have the record's number, the byte in it, and the path of
        the field."""
        return self._core.decode(records)

    @property
    def message(self) -> str:
        """The full name of the message."""
        return self._name

    @property
    def descriptors(self) -> Descriptors:
        """The set of message types."""
        return self._descriptors

    @property
    def arrow_schema(self) -> _core.ArrowSchema:
        """The schema of the batches."""
        schema = self._core.arrow_schema
        assert schema is not None  # messages have one without data
        return schema

    def __reduce__(self) -> tuple[Callable[..., MessageDecoder], tuple[Any, ...]]:
        given = {**self._options, "descriptors": self._descriptors}
        return functools.partial(MessageDecoder, **given), (self._name,)

    def __repr__(self) -> str:
        return f"<columnstone.codec.MessageDecoder: {self._name}, {self.arrow_schema!r}>"
