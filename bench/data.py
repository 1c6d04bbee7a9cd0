"""Makes the benchmark's data: seeded tf.Example records, kept as TFRecord files in a cache folder.

Each data set is a `Dataset`: its name, its features (the order of the columns) and its records.
The records are written by a few lines of protobuf encoding, so that no peer has a hand in them; the
files are framed by TensorFlow's own writer, so that their checksums are not ours either.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import struct
from collections.abc import Callable, Iterator

import numpy as np

SEED = 20240607
Field = tuple[str, str]  # name and kind: "INT", "FLOAT" or "BYTES"


@dataclasses.dataclass(frozen=True)
class Dataset:
    """One shape of data: `fields` in column order and the file that holds the records."""

    name: str
    fields: list[Field]
    path: pathlib.Path

    def records(self) -> list[bytes]:
        return list(read_framed(self.path))

    def schema_text(self, columns: list[str] | None = None) -> str:
        return schema_text([f for f in self.fields if columns is None or f[0] in columns])


def schema_text(fields: list[Field]) -> str:
    return "".join(f'feature {{ name: "{name}" type: {kind} }}\n' for name, kind in fields)


# Protobuf by hand: just what a tf.Example needs.


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def delimited(field: int, payload: bytes) -> bytes:
    return bytes([field << 3 | 2]) + varint(len(payload)) + payload


def entry(name: str, kind: str, values: list | np.ndarray) -> bytes:
    """One feature of the map: the key, and the values as protobuf writers pack them."""
    if kind == "BYTES":
        lists = delimited(1, b"".join(delimited(1, v) for v in values))
    elif kind == "FLOAT":
        lists = delimited(2, delimited(1, np.asarray(values, "<f4").tobytes()))
    else:
        lists = delimited(3, delimited(1, b"".join(varint(int(v)) for v in values)))
    return delimited(1, delimited(1, name.encode()) + delimited(2, lists))


def example(entries: list[bytes]) -> bytes:
    return delimited(1, b"".join(entries))


# The shapes. Each maker yields one list of entries per record, in the order of the fields.

CLICK_FIELDS: list[Field] = (
    [("label", "INT")]
    + [(f"int_{i}", "INT") for i in range(1, 14)]
    + [(f"cat_{i}", "BYTES") for i in range(1, 27)]
)


def click_log(rows: int, rng: np.random.Generator) -> Iterator[list[bytes]]:
    """1 label, 13 counts with a long tail, 26 hashed categories of 8 bytes; 10 % are missing."""
    ints = np.minimum(rng.lognormal(2.5, 2.0, (rows, 14)), 5e6).astype(np.int64)
    ints[:, 0] = rng.random(rows) < 0.25
    cats = rng.zipf(1.2, (rows, 26)) * np.arange(1, 27) * 2654435761 % (1 << 32)
    present = rng.random((rows, 40)) >= 0.1
    present[:, 0] = True
    hexes = [[b"%08x" % v for v in row] for row in cats.tolist()]
    for row in range(rows):
        values = [[v] for v in ints[row].tolist()] + [[v] for v in hexes[row]]
        yield [entry(*CLICK_FIELDS[i], values[i]) for i in np.flatnonzero(present[row]).tolist()]


WIDE_KINDS = ("INT", "FLOAT", "BYTES")
WIDE_FIELDS: list[Field] = [
    (f"{'sparse' if i % 3 == 2 else 'user'}_feature_{i}", WIDE_KINDS[i // 3 % 3])
    for i in range(300)
]


def wide(rows: int, rng: np.random.Generator) -> Iterator[list[bytes]]:
    """300 features: two in five hold one value, others 4 or 0 to 12; a third is mostly absent."""
    chance = rng.choice([0.98, 0.7, 0.15], 300)
    shape = rng.choice(["one", "four", "many"], 300, p=[0.4, 0.3, 0.3])
    for _ in range(rows):
        entries = []
        for i in np.flatnonzero(rng.random(300) < chance).tolist():
            name, kind = WIDE_FIELDS[i]
            count = {"one": 1, "four": 4, "many": int(rng.integers(0, 13))}[shape[i]]
            if kind == "INT":
                values: list | np.ndarray = rng.integers(0, 10 ** int(rng.integers(1, 8)), count)
            elif kind == "FLOAT":
                values = rng.standard_normal(count, dtype=np.float32)
            else:
                values = [rng.bytes(int(n)) for n in rng.integers(3, 20, count)]
            entries.append(entry(name, kind, values))
        yield entries


EMBED_FIELDS: list[Field] = [("id", "INT"), ("embedding", "FLOAT")]


def embeddings(rows: int, rng: np.random.Generator) -> Iterator[list[bytes]]:
    for row in range(rows):
        values = rng.standard_normal(1024, dtype=np.float32)
        yield [entry("id", "INT", [row]), entry("embedding", "FLOAT", values)]


IMAGE_FIELDS: list[Field] = [("label", "INT"), ("image", "BYTES")]


def images(rows: int, rng: np.random.Generator) -> Iterator[list[bytes]]:
    for _ in range(rows):
        image = rng.bytes(int(rng.integers(90_000, 110_000)))
        yield [
            entry("label", "INT", [int(rng.integers(0, 1000))]),
            entry("image", "BYTES", [image]),
        ]


Maker = Callable[[int, np.random.Generator], Iterator[list[bytes]]]
SHAPES: dict[str, tuple[Maker, list[Field], int, bool]] = {
    "click": (click_log, CLICK_FIELDS, 100_000, False),
    "click_random": (click_log, CLICK_FIELDS, 100_000, True),
    "wide": (wide, WIDE_FIELDS, 5_000, False),
    "wide_random": (wide, WIDE_FIELDS, 5_000, True),
    "embed": (embeddings, EMBED_FIELDS, 10_000, False),
    "image": (images, IMAGE_FIELDS, 1_000, False),
}
WIDE_WANTED = [WIDE_FIELDS[i][0] for i in (12, 157, 291)]


def make(name: str, folder: pathlib.Path) -> Dataset:
    """The data set of that name, generated at the first call and read from `folder` later."""
    maker, fields, rows, shuffled = SHAPES[name]
    path = folder / f"{name}.tfrecord"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(SEED)
        order = np.random.default_rng(SEED + 1)
        write_framed(path, (_record(e, order if shuffled else None) for e in maker(rows, rng)))
        path.with_suffix(".pbtxt").write_text(Dataset(name, fields, path).schema_text())
    return Dataset(name, fields, path)


def _record(entries: list[bytes], order: np.random.Generator | None) -> bytes:
    if order is not None:
        entries = [entries[i] for i in order.permutation(len(entries)).tolist()]
    return example(entries)


def grow(source: pathlib.Path, target: pathlib.Path, size: int) -> pathlib.Path:
    """A plain TFRecord file of about `size` bytes: `source` over and over."""
    if not target.exists():
        blob = source.read_bytes()
        part = target.with_suffix(".part")
        with part.open("wb") as out:
            for _ in range(max(1, round(size / len(blob)))):
                out.write(blob)
        part.rename(target)
    return target


def write_framed(path: pathlib.Path, records: Iterator[bytes], compression: str = "") -> None:
    import tensorflow as tf

    part = path.with_name(path.name + ".part")
    with tf.io.TFRecordWriter(os.fspath(part), compression or None) as out:
        for record in records:
            out.write(record)
    part.rename(path)


def read_framed(path: pathlib.Path) -> Iterator[bytes]:
    """The records of a plain TFRecord file that we wrote (checksums are not looked at)."""
    blob = path.read_bytes()
    at = 0
    while at < len(blob):
        (length,) = struct.unpack_from("<Q", blob, at)
        yield blob[at + 12 : at + 12 + length]
        at += length + 16


def main() -> None:
    parser = argparse.ArgumentParser(description="Generate the benchmark's data.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", default=list(SHAPES))
    args = parser.parse_args()
    for name in args.names:
        data = make(name, args.folder)
        print(f"{name}: {data.path.stat().st_size / 1e6:.1f} MB, {len(data.fields)} features")


if __name__ == "__main__":
    main()
