"""Schemas of Avro: the canonical form and fingerprints, as fastavro has them."""

from __future__ import annotations

import json
from typing import Any

import avro_files as avro
import columnstone as cst
import fastavro.schema
import pytest
from hypothesis import given
from hypothesis import strategies as st


def dressed(draw: st.DrawFn, kind: Any) -> Any:
    """A type, or an object of it with what the canonical form leaves out."""
    if not isinstance(kind, str) or draw(st.booleans()):
        return kind
    return {"type": kind, "doc": draw(st.text(max_size=5)), "logicalType": "date"}


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3) -> Any:
    """Random ones: the maker's, with namespaces, aliases, docs and defaults beside."""
    maker = avro.Maker(draw(st.integers(0, 2**32)))
    made = maker.schema(depth)

    def dress(kind: Any) -> Any:
        if isinstance(kind, list):
            return [dress(branch) for branch in kind]
        if isinstance(kind, str):
            return dressed(draw, kind)
        kind = dict(kind)
        if "name" in kind:
            kind["aliases"] = ["old"]
            kind["doc"] = "é"
            if draw(st.booleans()):
                kind["namespace"] = draw(st.sampled_from(["a", "a.b", ""]))
        for key in ("items", "values"):
            if key in kind:
                kind[key] = dress(kind[key])
        if "fields" in kind:
            kind["fields"] = [
                {**field, "type": dress(field["type"]), "order": "ignore"}
                for field in kind["fields"]
            ]
        keys = draw(st.permutations(list(kind)))
        return {key: kind[key] for key in keys}

    return dress(made)


@given(schemas())
def test_as_fastavro(schema: Any) -> None:
    text = json.dumps(schema)
    expected = fastavro.schema.to_parsing_canonical_form(schema)
    either = text if isinstance(schema, str) else schema
    assert cst.avro.canonical(text) == cst.avro.canonical(either) == expected
    assert cst.avro.canonical(expected) == expected
    for name, theirs in [("rabin", "CRC-64-AVRO"), ("md5", "MD5"), ("sha256", "SHA-256")]:
        made = cst.avro.fingerprint(text, name).hex()  # type: ignore[arg-type]
        assert made == fastavro.schema.fingerprint(expected, theirs)


def test_errors() -> None:
    with pytest.raises(cst.errors.SchemaError, match="unknown type 'Lost'") as caught:
        cst.avro.canonical('{"type": "array", "items": "Lost"}')
    assert caught.value.path == "items"
    with pytest.raises(cst.errors.ArgumentError, match="md5"):
        cst.avro.fingerprint('"int"', "crc")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a str, not int"):
        cst.avro.canonical(7)  # type: ignore[arg-type]


def test_hostile() -> None:
    deep = '{"type":"array","items":' * 100_000 + '"int"' + "}" * 100_000
    for text in [deep, "[" * 100_000, "[" * 100_000 + "]" * 100_000]:
        with pytest.raises((cst.errors.LimitError, cst.errors.SchemaError)):
            cst.avro.canonical(text)
    fields = [{"name": f"f{i}", "type": "string", "aliases": [f"f{i + 1}"]} for i in range(20_000)]
    large = {"type": "record", "name": "Large", "aliases": ["Large"], "fields": fields}
    assert len(json.dumps(large)) > 1 << 20
    assert cst.avro.canonical(large) == fastavro.schema.to_parsing_canonical_form(large)
