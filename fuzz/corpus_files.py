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
