"""More than 2^31 bytes in one column of one batch: written and read without an overflow, and
refused where offsets have 32 bits. It needs memory, 3 GB of disk, and minutes, and is run by
`./dev test --long python`.
"""

from __future__ import annotations

import gc
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest

ROWS, SIZE = 2200, 1_000_000
NEEDED = 16 << 30
SCHEMA = 'feature { name: "v" type: BYTES }'
TYPES = pa.schema([("v", pa.large_binary())])
SMALL_TYPES = pa.schema([("v", pa.binary())])


def available_memory() -> int:
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 0


pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("COLUMNSTONE_LONG"), reason="for ./dev test --long: it takes minutes"
    ),
    pytest.mark.skipif(
        available_memory() < NEEDED,
        reason=f"{available_memory() >> 30} of {NEEDED >> 30} GiB of memory are available",
    ),
]


@pytest.fixture(scope="module")
def values() -> Iterator[list[pa.Array]]:
    """The column, in a list to be emptied: small letters, another row of them each time."""
    assert ROWS * SIZE > 2**31
    data = np.random.default_rng(1).integers(97, 123, SIZE + ROWS, np.uint8)
    rows = np.lib.stride_tricks.sliding_window_view(data, SIZE)[:ROWS]
    buffer = pa.py_buffer(np.ascontiguousarray(rows))
    offsets = pa.py_buffer(np.arange(0, (ROWS + 1) * SIZE, SIZE, np.int64))
    held = [pa.Array.from_buffers(pa.large_binary(), ROWS, [None, offsets, buffer])]
    del rows, buffer
    yield held
    held.clear()
    gc.collect()


@pytest.fixture
def path(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A file that does not stay on the disk."""
    path = tmp_path / "big"
    yield path
    path.unlink(missing_ok=True)


def in_lists(column: pa.Array) -> pa.Array:
    """As tf.Example has them: each row a list of one value."""
    return pa.LargeListArray.from_arrays(pa.array(range(ROWS + 1), pa.int64()), column)


def one_batch(source: cst.Source) -> pa.Array:
    (batch,) = source
    column = pa.record_batch(batch).column(0)
    return column.flatten() if pa.types.is_large_list(column.type) else column


# format: whether its column has lists, how it is read, and how with 32-bit offsets
FORMATS: dict[str, tuple[bool, dict[str, Any], dict[str, Any] | None]] = {
    "example": (True, {"schema": SCHEMA}, {"schema": SCHEMA, "offsets": 32}),
    "raw": (False, {"binary_views": True}, None),
    "csv": (False, {"types": TYPES}, {"types": SMALL_TYPES}),
    "json": (False, {"types": TYPES}, {"types": SMALL_TYPES}),
    "arrow": (False, {}, None),
    "parquet": (False, {}, None),
}


@pytest.mark.parametrize("format", FORMATS)
def test_a_batch(format: str, values: list[pa.Array], path: pathlib.Path) -> None:
    lists, wide, narrow = FORMATS[format]
    column = in_lists(values[0]) if lists else values[0]
    assert cst.write(pa.record_batch({"v": column}), path, format) == ROWS
    found = one_batch(cst.open(path, format, batch_size=ROWS, **wide))
    if found.type == pa.binary_view():  # they count with 32 bits, but in several buffers
        assert all(found[i].as_py() == values[0][i].as_py() for i in (0, 1, 2146, 2147, 2148, -1))
    else:
        assert found.type == pa.large_binary()
        assert found.equals(values[0])
    del found
    if narrow is not None:
        with pytest.raises(cst.errors.LimitError) as caught:
            one_batch(cst.open(path, format, batch_size=ROWS, **narrow))
        assert caught.value.path == "v"
        assert caught.value.hint == "use smaller batches or 64-bit offsets"
