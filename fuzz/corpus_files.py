"""What the makers of corpora share: noise, and writing every case once."""

import pathlib
import random
import struct


def noise(count, seed):
    """Names and bytes of inputs that mean nothing."""
    source = random.Random(seed)
    for i in range(count):
        yield f"noise-{i}", bytes(source.randrange(256) for _ in range(source.randrange(4, 200)))


def write(folder: pathlib.Path, *groups):
    """One file for each (name, bytes) of the groups, those left out that are there already."""
    folder.mkdir(parents=True, exist_ok=True)
    seen = set()
    for cases in groups:
        for name, data in cases:
            if data not in seen:
                seen.add(data)
                (folder / name).write_bytes(data)
    print(len(seen), "files in", folder)


def u64(value: int) -> bytes:
    """A number as src/base/archive.h writes it."""
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def data(value: bytes | str) -> bytes:
    """Bytes behind their number, likewise."""
    value = value.encode() if isinstance(value, str) else value
    return u64(len(value)) + value


def sql_value(given: int | float | str | bytes | None) -> bytes:
    """A column as sql_rows.h reads it."""
    if given is None:
        return b"\x00"
    if isinstance(given, int) and 0 <= given < 256:
        return bytes([1, given])
    if isinstance(given, int):
        return b"\x02" + struct.pack("<q", given)
    if isinstance(given, float):
        return b"\x03" + struct.pack("<d", given)
    text = given.encode("utf-8", "surrogateescape") if isinstance(given, str) else given
    return bytes([4 if isinstance(given, str) else 5, len(text)]) + text


def damaged(cases, count):
    """Some of the (name, bytes), with three bytes that are others."""
    whole = [data for _, data in cases if data]
    for i in range(count):
        source = random.Random(i)
        changed = bytearray(source.choice(whole))
        for _ in range(3):
            changed[source.randrange(len(changed))] = source.randrange(256)
        yield f"damaged-{i}", bytes(changed)
