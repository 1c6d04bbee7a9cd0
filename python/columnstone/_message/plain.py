"""Plain Python rows and columns for an encoder of messages: a dict for a map becomes the list of
its entries. The encoder infers the types of everything else from the values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import _core
from .._arrow.objects import is_arrow, is_rows
from .._base.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable

    from .options import CoreMessage

    # The value for the encoder; None if no conversion is needed.
    Change = Callable[[Any], Any] | None


class PlainData:
    """The conversion of plain Python rows and columns to messages of one type."""

    def __init__(self, message: CoreMessage) -> None:
        self._message = message
        self._changes: dict[str, Change] | None = None  # by column, once they are needed

    def prepared(self, data: Any) -> Any:
        """Rows and columns with their maps as lists; everything else is unchanged."""
        if is_rows(data):
            return [_changed_fields(self._by_column(), row) for row in data]
        if isinstance(data, Mapping) and not is_arrow(data):
            changes = {name: _list_change(of) for name, of in self._by_column().items()}
            return _changed_fields(changes, data)
        if isinstance(data, list) and data and hasattr(data[0], "SerializeToString"):
            raise TypeError(
                "an encoder takes rows or columns; "
                "a message object is serialized with its own SerializeToString()"
            )
        return data

    def _by_column(self) -> dict[str, Change]:
        if self._changes is None:
            try:
                schema = _core.Decoder("message", None, None, 0, self._message, ()).arrow_schema
                assert schema is not None  # messages have one without data
                self._changes = {field.name: _change(field) for field in schema.children}
            except Error:  # of a type without columns, for their number: maps are lists there
                self._changes = {}
        return self._changes


def _change(field: _core.ArrowSchema) -> Change:
    children = field.children
    if field.format == "+m":
        key, value = children[0].children
        return _map_change(key.name, value.name, _change(value))
    if field.format == "+L":
        return _list_change(_change(children[0]))
    changes = {child.name: _change(child) for child in children}
    if not any(changes.values()):
        return None
    return lambda value: _changed_fields(changes, value)


def _map_change(key: str, value: str, of_value: Change) -> Change:
    def change(given: Any) -> Any:
        if isinstance(given, Mapping):
            given = list(given.items())
        if not isinstance(given, list | tuple) or not all(_is_entry(item) for item in given):
            return given
        return [{key: k, value: of_value(v) if of_value else v} for k, v in given]

    return change


def _is_entry(item: Any) -> bool:
    """The entries of maps in pyarrow's form."""
    return isinstance(item, tuple) and len(item) == 2


def _list_change(of: Change) -> Change:
    if of is None:
        return None
    return lambda value: [of(item) for item in value] if isinstance(value, list | tuple) else value


def _changed_fields(changes: Mapping[str, Change], row: Any) -> Any:
    if not isinstance(row, Mapping):
        return row
    found = {name: (changes.get(name), value) for name, value in row.items()}
    return {name: change(value) if change else value for name, (change, value) in found.items()}
