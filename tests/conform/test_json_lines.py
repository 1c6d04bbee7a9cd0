"""JSON lines: a printed line, read back with the schema, gives the same values as Arrow does.

COLUMNSTONE_BUILD names the Meson build folder (default: build/release).
"""

import base64
import json
import math
import os
import pathlib
import random
import struct
import subprocess
from typing import Any

import pyarrow as pa
import pytest
from tfrecords import field, varint, write_tfrecords

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("COLUMNSTONE_BUILD", TOP / "build/release")).resolve()
ROWS = 300


def convert(folder: pathlib.Path, to: str) -> bytes:
    command = [BUILD / "cli/columnstone", "convert", folder / "x.tfrecord", "-", "--to", to]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def unquoted(value: Any, kind: pa.DataType) -> Any:
    """The value that a JSON value stands for, given its Arrow type."""
    if value is None:
        return None
    if pa.types.is_large_list(kind):
        return [unquoted(item, kind.value_type) for item in value]
    if pa.types.is_floating(kind):
        return float(value.replace("Infinity", "inf")) if isinstance(value, str) else value
    if pa.types.is_large_binary(kind):
        return base64.b64decode(value["base64"]) if isinstance(value, dict) else value.encode()
    return value


def same(a: Any, b: Any) -> bool:
    """Equal; NaN equals NaN, and -0.0 differs from 0.0."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return struct.pack("f", a) == struct.pack("f", b) or (math.isnan(a) and math.isnan(b))
    return type(a) is type(b) and a == b


def random_feature(name: str, random: random.Random) -> bytes:
    count = random.randrange(4)
    if name == "ints":
        values = (random.getrandbits(random.choice((3, 20, 64))) for _ in range(count))
        return field(3, field(1, b"".join(map(varint, values))))
    if name == "floats":
        return field(2, field(1, random.randbytes(4 * count)))
    texts = (
        random.choice((b"plain", '\u00fc\U0001f600\x00"\\'.encode(), random.randbytes(5)))
        for _ in range(count)
    )
    return field(1, b"".join(field(1, text) for text in texts))


def random_example(random: random.Random) -> bytes:
    names = [name for name in ("ints", "floats", "texts") if random.random() < 0.8]
    entries = (field(1, name.encode()) + field(2, random_feature(name, random)) for name in names)
    return field(1, b"".join(field(1, entry) for entry in entries))


@pytest.mark.parametrize("seed", range(4))
def test_lines_give_the_values_back(tmp_path, seed):
    rng = random.Random(seed)
    write_tfrecords(tmp_path / "x.tfrecord", (random_example(rng) for _ in range(ROWS)))
    table = pa.ipc.open_stream(convert(tmp_path, "arrows")).read_all()
    lines = convert(tmp_path, "json").decode("utf-8").splitlines()
    assert len(lines) == table.num_rows == ROWS
    for line, row in zip(lines, table.to_pylist(), strict=True):
        found = json.loads(line)
        assert list(found) == table.column_names
        for name, value in row.items():
            assert same(unquoted(found[name], table.schema.field(name).type), value), (name, line)
