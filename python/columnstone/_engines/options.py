"""Options that an engine passes on to its workers."""

from __future__ import annotations

from typing import Any

from .._base.errors import Error, NotFoundError
from .._base.files import in_memory
from .._base.optional import need
from .._message.options import message_of
from .._schema.schema import Schema
from .._sink.writer import Writer


def self_contained(options: dict[str, Any]) -> dict[str, Any]:
    """The same options for workers, which do not have the driver's files or generated classes:
    schemas and message types are included. It pickles. (Files of views remain files.)"""
    settled = dict(options)
    if settled.get("schema") is not None:
        settled["schema"] = Schema(settled["schema"])
    named = settled.get("message") is not None or settled.get("descriptors") is not None
    if named and settled.get("view") is None:
        found, name = message_of(settled.get("message"), settled.get("descriptors"))
        settled.update(message=name, descriptors=found)
    return settled


def check_writing(
    output: str, format: str, options: dict[str, Any], arrow_schema: Any = None
) -> None:
    """Raises on the driver what `Writer` would raise on each worker: for an unknown format, wrong
    options, and columns that the format cannot hold, if these are known."""
    with Writer(in_memory(output), format, **options) as writer:
        try:
            writer.begin(arrow_schema or need("pyarrow", "an engine").schema([]))
        except Error as error:  # of a format that needs columns
            if arrow_schema is not None or isinstance(error, NotFoundError):
                raise
        writer.abort()
