#!/usr/bin/env python3
"""Writes the corpus of fuzz_index: corpus/index/, one small file per case.

The same files come out of every run. The first byte is the kind of the input (see fuzz_index.c):
an index file as it is, one that gets the right head and checksum, a text.
"""

import pathlib
import struct

FOLDER = pathlib.Path(__file__).parent / "corpus" / "index"
SIZES = [0, 1, 10, 300, 3]
AS_IS, MENDED, TEXT = b"\0", b"\1", b"\2"


def offsets(sizes=SIZES):
    out = [0]
    for size in sizes:
        out.append(out[-1] + size + 16)
    return out


def index(starts, version=1, size=None, count=None, magic=b"CSTINDEX", end=b"\0\0\0\0"):
    head = struct.pack(
        "<8sIIQQ",
        magic,
        version,
        0,
        offsets()[-1] if size is None else size,
        len(starts) if count is None else count,
    )
    return head + b"".join(struct.pack("<Q", at) for at in starts) + end


def lines(sizes=SIZES, end="\n", form="{} {}"):
    starts = offsets(sizes)
    return "".join(
        form.format(at, size + 16) + end for at, size in zip(starts[:-1], sizes, strict=True)
    ).encode()


def cases():
    starts = offsets()[:-1]
    whole = index(starts)
    for kind, name in (AS_IS, "as_is"), (MENDED, "mended"):
        yield name, kind + whole
        for size in 0, 1, 8, 31, 32, 35, 36, 37, 43, 44, len(whole) - 1:
            yield f"{name}_cut_{size}", kind + whole[:size]
        yield f"{name}_longer", kind + whole + b"\0"
        yield f"{name}_much_longer", kind + whole + bytes(8)
        yield f"{name}_no_records", kind + index([])
        yield f"{name}_one", kind + index([0])
        yield f"{name}_not_from_zero", kind + index([16, 33])
        yield f"{name}_descending", kind + index([0, 33, 16])
        yield f"{name}_beyond", kind + index([0, 1 << 40])
        yield f"{name}_huge", kind + index([0, (1 << 64) - 1])
        yield f"{name}_sign", kind + index([0, 1 << 63])
        yield f"{name}_too_near", kind + index([0, 15])
        yield f"{name}_inside", kind + index([0, 17, 40])
        yield f"{name}_last_near_end", kind + index([0, offsets()[-1] - 16])
        yield f"{name}_end", kind + index([0, offsets()[-1]])
    yield "count_too_large", AS_IS + index(starts, count=1 << 61)
    yield "count_largest", AS_IS + index(starts, count=(1 << 64) - 1)
    yield "version", AS_IS + index(starts, version=2)
    yield "magic", AS_IS + index(starts, magic=b"CSTINDEY")
    yield "other_size", AS_IS + index(starts, size=1)
    text = lines()
    yield "text", TEXT + text
    yield "text_crlf", TEXT + lines(end="\r\n")
    yield "text_cr", TEXT + lines(end="\r")
    yield "text_no_last_end", TEXT + text[:-1]
    yield "text_blank_end", TEXT + text + b"\n"
    yield "text_empty", TEXT
    yield "text_newline", TEXT + b"\n"
    yield "text_tab", TEXT + lines(form="{}\t{}")
    yield "text_zeros", TEXT + lines(form="{} 0{}")
    yield "text_sign", TEXT + lines(form="+{} {}")
    yield "text_nul", TEXT + lines(form="{} {}\0junk")
    yield "text_space_end", TEXT + lines(form="{} {} ")
    yield "text_payload_lengths", TEXT + text.replace(b" 16\n", b" 0\n")
    yield "text_fewer", TEXT + lines(SIZES[:4])
    yield "text_more", TEXT + lines([*SIZES, 0])
    yield "text_long_line", TEXT + b"0" * 63 + b" 16\n"
    yield "text_digits", TEXT + b"0 18446744073709551632\n"
    yield "text_of_binary", TEXT + whole


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for name, data in cases():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
