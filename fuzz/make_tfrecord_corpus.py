#!/usr/bin/env python3
"""Writes the corpus of fuzz_tfrecord: corpus/tfrecord/, one small file per case.

The same files come out of every run. zstd is taken from the system's libzstd.
"""

import ctypes
import ctypes.util
import gzip
import pathlib
import random
import struct
import zlib

FOLDER = pathlib.Path(__file__).parent / "corpus" / "tfrecord"


def crc_table():
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


TABLE = crc_table()


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def header(length):
    packed = struct.pack("<Q", length)
    return packed + struct.pack("<I", masked_crc(packed))


def record(payload):
    return header(len(payload)) + payload + struct.pack("<I", masked_crc(payload))


def gz(data, level=6):
    return gzip.compress(data, level, mtime=0)


def zstd(data, level=3):
    lib = ctypes.CDLL(ctypes.util.find_library("zstd"))
    lib.ZSTD_compressBound.restype = ctypes.c_size_t
    lib.ZSTD_compress.restype = ctypes.c_size_t
    room = lib.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    out = ctypes.create_string_buffer(room)
    size = lib.ZSTD_compress(
        out, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), ctypes.c_int(level)
    )
    return out.raw[:size]


def zstd_raw(data, checksum=None):
    """A frame of one raw block, written by hand."""
    flags = 0x20 if checksum is None else 0x24
    frame = b"\x28\xb5\x2f\xfd" + bytes([flags, len(data)])
    frame += struct.pack("<I", len(data) << 3 | 1)[:3] + data
    return frame if checksum is None else frame + struct.pack("<I", checksum)


CODECS = {"gzip": gz, "zlib": zlib.compress, "zstd": zstd}


def cases():
    rng = random.Random(20261121)
    three = record(b"first") + record(b"") + record(b"the third record")
    sizes = record(rng.randbytes(1000)) + record(b"x" * 300) + record(rng.randbytes(63))
    many = b"".join(record(rng.randbytes(rng.randrange(20))) for _ in range(100))
    streams = {"three": three, "sizes": sizes, "many": many, "empty": b""}
    for name, data in streams.items():
        yield f"{name}.plain", data
        for codec, compress in CODECS.items():
            yield f"{name}.{codec}", compress(data)
    for size in range(1, len(three)):
        yield f"cut-{size:02}.plain", three[:size]
    for codec, compress in CODECS.items():
        packed = compress(three)
        for size in range(1, len(packed), 3):
            yield f"cut-{size:03}.{codec}", packed[:size]
    for at in range(0, len(three), 4):
        yield f"flip-{at:02}.plain", three[:at] + bytes([three[at] ^ 16]) + three[at + 1 :]
    for codec, compress in CODECS.items():
        packed = compress(many)
        for at in range(2, len(packed), len(packed) // 12):
            yield f"flip-{at:04}.{codec}", packed[:at] + bytes([packed[at] ^ 4]) + packed[at + 1 :]
        yield f"tail-garbage.{codec}", packed + b"garbage"
        yield f"tail-zeros.{codec}", packed + bytes(100)
        yield f"twice.{codec}", packed + packed
        yield f"inside-itself.{codec}", compress(packed)
        yield f"bomb.{codec}", compress(bytes(3 << 20))
    yield "members.gzip", gz(b"") + b"".join(gz(many[i : i + 50]) for i in range(0, 500, 50))
    yield "members-cut.gzip", (gz(three[:30]) + gz(three[30:]))[:-1]
    yield "stored.gzip", gz(three, 0)
    yield (
        "fields.gzip",
        b"\x1f\x8b\x08\x1c" + gz(three)[4:10] + b"\x02\x00abname\0note\0" + gz(three)[10:],
    )
    yield "reserved-flags.gzip", b"\x1f\x8b\x08\xe0" + gz(three)[4:]
    yield "method.gzip", b"\x1f\x8b\x07" + gz(three)[3:]
    yield "dictionary.zlib", b"\x78\xbb" + bytes(10)
    yield "window.zlib", b"\x18\x19" + zlib.compress(three)[2:]
    skippable = struct.pack("<II", 0x184D2A53, 5) + b"hello"
    yield "skippable.zstd", skippable + zstd(three) + skippable
    yield "skippable-only.zstd", skippable
    yield "skippable-huge.zstd", struct.pack("<II", 0x184D2A50, 0xFFFFFFFF) + b"x"
    yield "raw-block.zstd", zstd_raw(three)
    yield "raw-checksum.zstd", zstd_raw(three, 12345)
    yield "huge-window.zstd", b"\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00"
    yield "huge-content.zstd", b"\x28\xb5\x2f\xfd\xe0" + b"\xff" * 8 + b"\x01\x00\x00"
    for power in (17, 18, 19, 28, 31, 32, 47, 62, 63):
        yield f"length-{power}.plain", header(1 << power) + b"x" * 20
    yield "length-most.plain", header((1 << 64) - 1)
    yield "length-wraps.plain", header((1 << 64) - 16) + bytes(32)
    yield "looks-like-gzip.plain", record(b"x" * 0x8B1F)[:600]
    yield "zeros.plain", bytes(100)
    yield "zeros-behind.plain", three + bytes(64)
    yield "swapped.plain", struct.pack(">Q", 5) + three[8:]
    yield "unmasked.plain", struct.pack("<QI", 5, zlib.crc32(b"12345")) + b"12345" + bytes(4)
    texts = {
        "lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
        "html": b"<!DOCTYPE html><html><body>404</body></html>",
        "xml": b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
        "json": b'{"a": [1, 2, 3]}\n{"a": []}\n',
        "csv": b"a,b,c\n1,2,3\n",
        "text": b"x^2 + y^2\n",
        "parquet": b"PAR1" + bytes(20) + b"PAR1",
        "arrow": b"ARROW1\0\0" + bytes(20),
        "arrows": b"\xff\xff\xff\xff" + bytes(20),
        "zip": b"PK\x03\x04" + bytes(30),
        "bzip2": b"BZh91AY&SY" + bytes(30),
        "xz": b"\xfd7zXZ\0" + bytes(30),
        "example": b"\x0a\x0f\x0a\x0d\x0a\x01a\x12\x08\x1a\x06\x0a\x04\x01\x02\x03\x04",
        "pbtxt": b'features {\n  feature {\n    key: "a"\n  }\n}\n',
        "utf16": "a,b\n".encode("utf-16"),
    }
    for name, data in texts.items():
        yield f"{name}.other", data


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, data in cases():
        (FOLDER / name).write_bytes(data)
        count += 1
    print(f"{count} files in {FOLDER}")


if __name__ == "__main__":
    main()
