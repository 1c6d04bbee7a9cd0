"""Avro in plain Python, for tests: random schemas and values, the bytes that these are in a
container file, and what they are as rows. Written from the specification, and slow."""

from __future__ import annotations

import bz2
import json
import lzma
import random
import struct
import zlib
from typing import Any

import pyarrow as pa

Schema = Any
SYNC = bytes(range(16))

# ---- bytes ----


def long(value: int) -> bytes:
    rest = (value << 1) ^ (value >> 63)
    out = bytearray()
    while rest >= 0x80:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def sized(data: bytes) -> bytes:
    return long(len(data)) + data


def kind_of(schema: Schema) -> str:
    if isinstance(schema, list):
        return "union"
    return schema["type"] if isinstance(schema, dict) else schema


class Branch:
    """A value of a union, and the number of its type."""

    def __init__(self, index: int, value: Any) -> None:
        self.index, self.value = index, value


def encode(schema: Schema, value: Any, sized_blocks: bool = False) -> bytes:
    """The bytes of a value: records are dicts, unions Branch, enums numbers, maps dicts."""
    kind = kind_of(schema)
    match kind:
        case "null":
            return b""
        case "boolean":
            return bytes([value])
        case "int" | "long" | "enum":
            return long(value)
        case "float":
            return struct.pack("<f", value)
        case "double":
            return struct.pack("<d", value)
        case "bytes":
            return sized(value)
        case "string":
            return sized(value.encode())
        case "fixed":
            return value
        case "record":
            return b"".join(
                encode(field["type"], value[field["name"]], sized_blocks)
                for field in schema["fields"]
            )
        case "union":
            return long(value.index) + encode(schema[value.index], value.value, sized_blocks)
    if kind == "array":
        items = [encode(schema["items"], item, sized_blocks) for item in value]
    else:
        items = [
            sized(key.encode()) + encode(schema["values"], item, sized_blocks)
            for key, item in value.items()
        ]
    out = b""
    for begin in range(0, len(items), 3):
        block = b"".join(items[begin : begin + 3])
        count = len(items[begin : begin + 3])
        out += long(-count) + long(len(block)) if sized_blocks else long(count)
        out += block
    return out + long(0)


def compress(codec: str, data: bytes) -> bytes:
    match codec:
        case "null":
            return data
        case "deflate":
            made = zlib.compressobj(wbits=-15)
            return made.compress(data) + made.flush()
        case "zstandard":
            return pa.Codec("zstd").compress(data, asbytes=True)
        case "snappy":
            checksum = struct.pack(">I", zlib.crc32(data))
            return pa.Codec("snappy").compress(data, asbytes=True) + checksum
        case "bzip2":
            return bz2.compress(data)
        case "xz":
            return lzma.compress(data)
    raise ValueError(codec)


def decompress(codec: str, data: bytes) -> bytes:
    match codec:
        case "deflate":
            return zlib.decompress(data, wbits=-15)
        case "zstandard":
            return pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()  # type: ignore[no-any-return]
        case "snappy":
            size, shift = 0, 0
            for byte in data:
                size |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80:
                    break
            plain: bytes = pa.Codec("snappy").decompress(data[:-4], size, asbytes=True)
            assert zlib.crc32(plain) == struct.unpack(">I", data[-4:])[0]
            return plain
        case "bzip2":
            return bz2.decompress(data)
        case "xz":
            return lzma.decompress(data)
    raise ValueError(codec)


def header(schema: str | bytes, codec: str | None = None) -> bytes:
    text = schema.encode() if isinstance(schema, str) else schema
    pairs = [("avro.schema", text)] + ([("avro.codec", codec.encode())] if codec else [])
    made = b"".join(sized(key.encode()) + sized(value) for key, value in pairs)
    return b"Obj\x01" + long(len(pairs)) + made + long(0) + SYNC


def block(count: int, data: bytes, codec: str = "null") -> bytes:
    return long(count) + sized(compress(codec, data)) + SYNC


def container(
    schema: Schema,
    values: list[Any],
    codec: str = "null",
    block_rows: int = 7,
    sized_blocks: bool = False,
) -> bytes:
    out = header(json.dumps(schema), codec)
    for begin in range(0, len(values), block_rows):
        part = values[begin : begin + block_rows]
        out += block(
            len(part), b"".join(encode(schema, value, sized_blocks) for value in part), codec
        )
    return out


# ---- random ones ----


class Maker:
    """Random schemas, and random values of them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = 0

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def schema(self, depth: int = 3) -> Schema:
        plain = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]
        nested = ["array", "map", "record", "union", "union"]
        kind = self.random.choice(plain + ["enum", "fixed"] + (nested if depth > 0 else []))
        match kind:
            case "array":
                return {"type": "array", "items": self.schema(depth - 1)}
            case "map":
                return {"type": "map", "values": self.schema(depth - 1)}
            case "record":
                return self.record(depth - 1)
            case "enum":
                symbols = [f"s{i}" for i in range(self.random.randint(1, 5))]
                return {"type": "enum", "name": self.name("E"), "symbols": symbols}
            case "fixed":
                size = self.random.randint(1, 20)
                return {"type": "fixed", "name": self.name("F"), "size": size}
            case "union":
                return self.union(depth - 1)
        return kind

    def record(self, depth: int, fields: int | None = None) -> Schema:
        count = self.random.randint(0, 4) if fields is None else fields
        return {
            "type": "record",
            "name": self.name("R"),
            "fields": [{"name": f"f{i}", "type": self.schema(depth)} for i in range(count)],
        }

    def union(self, depth: int) -> Schema:
        found: dict[str, Schema] = {}
        for _ in range(self.random.randint(1, 4)):
            branch = "null" if self.random.random() < 0.3 else self.schema(depth)
            kind = kind_of(branch)
            if kind != "union":
                found.setdefault(branch_name(branch), branch)
        return list(found.values()) or ["null", "long"]

    def value(self, schema: Schema) -> Any:
        r = self.random
        kind = kind_of(schema)
        match kind:
            case "null":
                return None
            case "boolean":
                return r.random() < 0.5
            case "int":
                return r.choice([0, -1, 2**31 - 1, -(2**31), r.randint(-200, 200)])
            case "long":
                return r.choice([0, 2**63 - 1, -(2**63), r.getrandbits(r.randint(1, 63))])
            case "float" | "double":
                return r.choice([0.0, -0.5, 1.5, 2.0**20])
            case "bytes":
                return r.randbytes(r.choice([0, 1, 3, 20]))
            case "string":
                return r.choice(["", "tea", "ü€😀", "x" * 100])
            case "fixed":
                return r.randbytes(schema["size"])
            case "enum":
                return r.randrange(len(schema["symbols"]))
            case "array":
                return [self.value(schema["items"]) for _ in range(r.choice([0, 1, 2, 7]))]
            case "map":
                count = r.choice([0, 1, 2, 5])
                return {f"k{i}": self.value(schema["values"]) for i in range(count)}
            case "record":
                return {field["name"]: self.value(field["type"]) for field in schema["fields"]}
        index = r.randrange(len(schema))
        return Branch(index, self.value(schema[index]))


# ---- what they are as rows ----


def branch_name(schema: Schema) -> str:
    return schema["name"] if isinstance(schema, dict) and "name" in schema else kind_of(schema)


def plain(schema: Schema, value: Any) -> Any:
    """As pyarrow's to_pylist has it."""
    kind = kind_of(schema)
    match kind:
        case "enum":
            return schema["symbols"][value]
        case "array":
            return [plain(schema["items"], item) for item in value]
        case "map":
            return [(key, plain(schema["values"], item)) for key, item in value.items()]
        case "record":
            return {
                field["name"]: plain(field["type"], value[field["name"]])
                for field in schema["fields"]
            }
        case "union":
            others = [branch for branch in schema if kind_of(branch) != "null"]
            chosen = schema[value.index]
            made = plain(chosen, value.value)
            if len(others) <= 1 or kind_of(chosen) == "null":
                return made
            return {branch_name(branch): made if branch is chosen else None for branch in others}
    return value


def as_peers(schema: Any, value: Any) -> Any:
    """As fastavro reads it, and as Apache's writer takes it, which finds the type of a union."""
    match kind_of(schema):
        case "union":
            return as_peers(schema[value.index], value.value)
        case "array":
            return [as_peers(schema["items"], item) for item in value]
        case "map":
            return {key: as_peers(schema["values"], item) for key, item in value.items()}
        case "record":
            fields = schema["fields"]
            return {f["name"]: as_peers(f["type"], value[f["name"]]) for f in fields}
    return plain(schema, value)
