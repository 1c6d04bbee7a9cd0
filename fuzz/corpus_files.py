"""What the makers of corpora share: noise, and writing every case once."""

import pathlib
import random


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
