"""The canonical form of Avro schemas, and their fingerprints."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.errors import argument_error
from .._base.public import public_in

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    AvroSchema: TypeAlias = str | dict[str, Any] | list[Any]


def schema_text(schema: AvroSchema) -> str:
    """The schema as JSON text; a str already is one."""
    if isinstance(schema, str):
        return schema
    if not isinstance(schema, dict | list):
        raise TypeError(f"an Avro schema must be its JSON as a str, not {type(schema).__name__}")
    return json.dumps(schema)


@public_in("columnstone.avro")
def canonical(schema: AvroSchema) -> str:
    """The Parsing Canonical Form of a schema: schemas that read the same values have the same form.

    schema: its JSON text, or the result of json.loads.

    Raises SchemaError, with the position in the schema, for a schema that Avro's specification
    forbids.
    """
    return _core.avro_canonical(schema_text(schema))


@public_in("columnstone.avro")
def fingerprint(
    schema: AvroSchema, algorithm: Literal["rabin", "md5", "sha256"] = "rabin"
) -> bytes:
    """The fingerprint of a schema's canonical form.

    schema: as for `canonical`.
    algorithm: "rabin" is CRC-64-AVRO, as 8 little-endian bytes, as in records with single-object
        encoding; "md5" and "sha256".
    """
    if algorithm == "rabin":
        return _core.avro_fingerprint(schema_text(schema)).to_bytes(8, "little")
    if algorithm not in ("md5", "sha256"):
        raise argument_error(f"unknown fingerprint {algorithm!r}", "one of rabin, md5, sha256")
    digest = hashlib.new(algorithm, canonical(schema).encode(), usedforsecurity=False)
    return digest.digest()
