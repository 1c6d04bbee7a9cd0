"""Files of a wide schema: what an engine sends with each task of them is small all the same."""

from __future__ import annotations

import pathlib
import random

import columnstone as cst

#: Bytes of a task that says its splits, and not how they are read: columns alone are some 100 kB.
MOST = 2000


def write(folder: pathlib.Path) -> tuple[str, str]:
    """Two files of 1,000 features, whose names do not compress: a glob, and their schema."""
    names = [f"{random.Random(i).getrandbits(128):032x}" for i in range(1000)]
    for i in range(2):
        cst.write([{name: [0.5] for name in names}] * 4, folder / f"wide-{i}.tfrecord")
    one = "type: FLOAT shape { } presence { min_fraction: 1 }"
    return str(folder / "wide-*"), "".join(f'feature {{ name: "{n}" {one} }}\n' for n in names)
