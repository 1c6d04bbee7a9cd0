"""Schemas of Apache Avro: their canonical form and fingerprints. Files and records of Avro are read
and written by `columnstone.open`, `write`, `decoder` and `encoder`, as those of every format."""

from __future__ import annotations

from ._schema.avro_schema import canonical, fingerprint

__all__ = ["canonical", "fingerprint"]
