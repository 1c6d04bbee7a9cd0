"""Schemas, proposals and validations are the same for every number of threads, and so are their
failures: generated records, damaged ones and such as do not parse among them.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence

import columnstone as cst
import wire
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = ("a", "a_lengths", "p_index", "p_value", "s")
VALUES: st.SearchStrategy[wire.Values] = st.one_of(
    st.none(),
    st.lists(st.integers(-3, 3), max_size=3),
    st.lists(st.sampled_from([0.5, 2.0, math.nan, -1.0]), min_size=1, max_size=2),
    st.lists(st.sampled_from([b"x", b"yy", b"\xff", b"z"]), min_size=1, max_size=3),
)
ROWS = st.lists(st.dictionaries(st.sampled_from(NAMES), VALUES), min_size=1, max_size=3)
SCHEMA = """
feature { name: "a" type: INT int_domain { min: 0 max: 2 } value_count { min: 1 max: 2 } }
feature { name: "s" type: BYTES string_domain { value: "x" } presence { min_fraction: 0.9 } }
feature { name: "p_index" type: INT } feature { name: "p_value" type: FLOAT }
tensor_representation_group { key: "" value { tensor_representation { key: "t" value {
  dense_tensor { column_name: "a" shape { dim { size: 1 } } } } } } }
"""
THREADS = (1, 2, 7)


def file_of(rows: Sequence[bytes], odd: dict[int, bytes], damaged: set[int]) -> bytes:
    """5000 records that take turns, but for odd ones; some have a damaged byte."""
    out = io.BytesIO()
    ends: list[int] = []
    with cst.codec.TFRecordWriter(out) as writer:
        for i in range(5000):
            record = odd.get(i, rows[i // 700 % len(rows)])
            writer.write(record)
            ends.append((ends[-1] if ends else 0) + 16 + len(record))
    blob = bytearray(out.getvalue())
    for i in damaged:
        blob[ends[i] - 1] ^= 1
    return bytes(blob)


def outcome(work: Callable[[], object]) -> str:
    try:
        return str(work())
    except cst.Error as error:
        return f"{error} {error.code} {error.path} {error.record} {error.offset}"


def same(work: Callable[[int], object]) -> None:
    first, *others = [outcome(lambda n=threads: work(n)) for threads in THREADS]  # type: ignore[misc]
    assert others == [first] * len(others)


@settings(max_examples=20)
@given(
    ROWS,
    st.dictionaries(st.integers(0, 4999), st.dictionaries(st.sampled_from(NAMES), VALUES)),
    st.sets(st.integers(0, 4999), max_size=3),
    st.booleans(),
)
def test_any_number_of_threads(
    rows: list[dict[str, wire.Values]],
    odd: dict[int, dict[str, wire.Values]],
    damaged: set[int],
    broken: bool,
) -> None:
    others = {i: wire.example(row) for i, row in odd.items()}
    if broken:
        others[1234] = b"\x0a\xff"
    data = file_of([wire.example(row) for row in rows], others, damaged)

    def reader() -> io.BytesIO:
        return io.BytesIO(data)

    same(lambda n: cst.infer_schema(reader(), "example", threads=n).to_text())
    same(lambda n: cst.infer_schema(reader(), "example", propose=True, threads=n).to_text())
    same(lambda n: cst.open(reader(), "example", threads=n).validate(SCHEMA, places=3))
