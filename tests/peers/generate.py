"""Hypothesis strategies for batches of Examples with every state that a cell can have."""

from __future__ import annotations

import dataclasses
import struct

from hypothesis import strategies as st
from wire import UNKNOWN_FIELDS, Feature, Form, Value, example

NAMES = ["a", "ab", "b", "feature_with_a_long_name", "sixteen_bytes_16", "ünï/cöde", "z" * 40]
KINDS = ["INT", "FLOAT", "BYTES"]

int64s = st.one_of(
    st.integers(-3, 300),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0, 127, 128, 16383, 16384, 2**31, -(2**63), 2**63 - 1]),
)
float32s = st.one_of(
    st.floats(width=32, allow_nan=False), st.sampled_from([0.0, -0.0, float("inf"), 2.0**-149])
)
byte_strings = st.one_of(st.binary(max_size=20), st.binary(min_size=120, max_size=300))
VALUES: dict[str, st.SearchStrategy[Value]] = {
    "INT": int64s,
    "FLOAT": float32s,
    "BYTES": byte_strings,
}

PLAIN = Form()
forms = st.builds(
    Form,
    runs=st.lists(st.booleans(), min_size=1, max_size=3).map(tuple),
    split_lists=st.booleans(),
    value_first=st.booleans(),
    unknown=st.integers(0, len(UNKNOWN_FIELDS) - 1),
    loose_varints=st.booleans(),
)


@dataclasses.dataclass(frozen=True)
class Batch:
    """Records, and what is in them: `kinds` by name, and per record the features as written."""

    kinds: dict[str, str]
    rows: list[list[Feature]]
    records: list[bytes]

    def schema_text(self) -> str:
        return "".join(f'feature {{ name: "{n}" type: {k} }}\n' for n, k in self.kinds.items())


def cells(
    name: str, kind: str, form: st.SearchStrategy[Form], max_size: int = 6
) -> st.SearchStrategy[Feature | None]:
    """None: the key is absent."""
    values = st.lists(VALUES[kind], max_size=max_size).map(tuple)
    return st.one_of(
        st.none(),
        st.builds(Feature, st.just(name), st.none(), st.just(()), form),
        st.builds(Feature, st.just(name), st.just(kind), values, form),
        st.builds(Feature, st.just(name), st.just(kind), values, form),
    )


@st.composite
def batches(draw: st.DrawFn, odd: bool = True, max_rows: int = 6) -> Batch:
    """`odd`: also the forms that no ordinary writer produces, and features written twice."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    kinds = {name: draw(st.sampled_from(KINDS)) for name in names}
    form = forms if odd else st.just(PLAIN)
    rows = []
    for _ in range(draw(st.integers(0, max_rows))):
        row = [draw(cells(name, kinds[name], form)) for name in draw(st.permutations(names))]
        if odd and draw(st.booleans()):
            again = draw(st.sampled_from(names))
            row.append(draw(cells(again, kinds[again], form)))
        rows.append([f for f in row if f is not None])
    split = odd and draw(st.booleans())
    return Batch(kinds, rows, [example(row, split) for row in rows])


def float32(value: float) -> float:
    return struct.unpack("<f", struct.pack("<f", value))[0]
