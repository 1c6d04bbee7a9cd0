"""The canonical form of Avro schemas, and fingerprints of it."""

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
    """The JSON of a schema, which a str is already."""
    if isinstance(schema, str):
        return schema
    if not isinstance(schema, dict | list):
        raise TypeError(f"an Avro schema is its JSON as a str, not {type(schema).__name__}")
    return json.dumps(schema)


@public_in("columnstone.avro")
def canonical(schema: AvroSchema) -> str:
    """The Parsing Canonical Form of a schema: the same text for all that read the same values.

    schema: its JSON, or what json.loads makes of that.

    Raises SchemaError, with the place in the schema, for what Avro's specification forbids.
    """
    return _core.avro_canonical(schema_text(schema))


@public_in("columnstone.avro")
def fingerprint(
    schema: AvroSchema, algorithm: Literal["rabin", "md5", "sha256"] = "rabin"
) -> bytes:
    """The fingerprint of a schema's canonical form.

    schema: as of `canonical`.
    algorithm: "rabin" is CRC-64-AVRO, its 8 bytes in the order in which records of single-object
        encoding have them (little-endian); "md5" and "sha256".
    """
    if algorithm == "rabin":
        return _core.avro_fingerprint(schema_text(schema)).to_bytes(8, "little")
    if algorithm not in ("md5", "sha256"):
        raise argument_error(
            f"there is no fingerprint {algorithm!r}", "known are rabin, md5 and sha256"
        )
    digest = hashlib.new(algorithm, canonical(schema).encode(), usedforsecurity=False)
    return digest.digest()
