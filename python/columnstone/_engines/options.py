"""Options that an engine hands on to its workers."""

from __future__ import annotations

from typing import Any

from .._message.options import message_of
from .._schema.schema import Schema


def self_contained(options: dict[str, Any]) -> dict[str, Any]:
    """The same options for workers, which have neither the driver's files nor its generated
    classes: schemas and message types are in them. It pickles. (Files of views are still files.)"""
    settled = dict(options)
    if settled.get("schema") is not None:
        settled["schema"] = Schema(settled["schema"])
    named = settled.get("message") is not None or settled.get("descriptors") is not None
    if named and settled.get("view") is None:
        found, name = message_of(settled.get("message"), settled.get("descriptors"))
        settled.update(message=name, descriptors=found)
    return settled
