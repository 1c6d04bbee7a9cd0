"""Saved sketches that say something else than was saved, with a checksum that fits: they are
refused, or can be used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import columnstone as cst
import pytest
from columnstone import sketch

TABLE = [0] * 256
for byte in range(256):
    value = byte
    for _ in range(8):
        value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    TABLE[byte] = value


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def sketches() -> list[Any]:
    made: list[Any] = [
        sketch.Quantiles(0.1),
        sketch.QuantileSummary(0.5, 4),
        sketch.Distinct(4),
        sketch.HeavyHitters(2),
        sketch.Kmv(4),
        sketch.MisraGries(4, invalid_text="?"),
        sketch.Moments(),
        sketch.Histogram(0, 10, 3),
    ]
    for one in made:
        one.add([5, 1, 5, 9])
    weighted = sketch.Quantiles(0.1)
    weighted.add([1.5, 2.5], weights=[0.25, 3])
    texts = sketch.HeavyHitters(2)
    texts.add(["a", "a text that is longer"])
    counted = sketch.MisraGries(2, longest=22, long_text="long")
    counted.add(["a", "a text that is longer", "b"])
    floats = sketch.MisraGries(2)
    floats.add([0.1, -2, 0.1, 3])
    pairs = [sketch.Correlation(), sketch.MutualInformation(2)]
    for pair in pairs:
        pair.add([1, 2, 3], [3, 2, 2])
    return [*made, weighted, texts, counted, floats, *pairs]


USES: dict[type, Callable[[Any], object]] = {
    sketch.Quantiles: lambda s: (s.quantiles([0, 0.5, 1]), s.rank(3), s.weight),
    sketch.QuantileSummary: lambda s: (s.cuts(3), s.compact()),
    sketch.Distinct: lambda s: s.bounds(2),
    sketch.HeavyHitters: lambda s: s.top(10),
    sketch.Kmv: lambda s: s.estimate,
    sketch.MisraGries: lambda s: (s.top(10), s.to_tfx_bsl()),
    sketch.Moments: lambda s: (s.found(), s.min, s.max),
    sketch.Histogram: lambda s: (s.counts, s.weights),
    sketch.Correlation: lambda s: s.found(),
    sketch.MutualInformation: lambda s: s.found(),
}


@pytest.mark.parametrize("made", sketches(), ids=lambda made: type(made).__name__)
def test_bytes_that_say_something_else(made: Any) -> None:
    saved = bytes(made)
    loaded = 0
    for at in range(4, len(saved) - 4):
        for change in (1, 2, 128, 255):
            forged = bytearray(saved[:-4])
            forged[at] ^= change
            forged += crc32c(bytes(forged)).to_bytes(4, "little")
            try:
                other = type(made).from_bytes(bytes(forged))
            except cst.Error:
                continue
            loaded += 1
            USES[type(made)](other)
            assert bytes(type(made).from_bytes(bytes(other))) == bytes(other)
    assert loaded > 0 or isinstance(made, sketch.Distinct)
