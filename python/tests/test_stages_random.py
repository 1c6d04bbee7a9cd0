"""Flat columns and stages for any data: what pyarrow makes of the batches without stages is what
comes out, for every number of threads, batch size and way into the source."""

from __future__ import annotations

import itertools
import pathlib
from typing import Any, NamedTuple

import columnstone as cst
import pyarrow as pa
import pyarrow.compute as pc
import wire
from hypothesis import given
from hypothesis import strategies as st

KINDS: dict[str, tuple[str, st.SearchStrategy[Any]]] = {
    "INT": ("int", st.integers(-(2**63), 2**63 - 1)),
    "FLOAT": ("float", st.floats(width=32, allow_nan=False)),
    "BYTES": ("bytes", st.sampled_from([b"", b"a", "ø".encode(), b"\xff", b"\xed\xa0\x80"])),
}
FIXED = ["", "shape {}", "value_count { min: 1 max: 1 }", "value_count { max: 1 }"]
COUNTER = itertools.count()


class Feature(NamedTuple):
    name: str
    kind: str
    fixed: str
    required: bool
    text: bool
    values: list[Any]  # lists, or None for a record that does not have it

    def rule(self) -> str:
        return (
            f"feature {{ name: '{self.name}' type: {self.kind} {self.fixed} "
            f"{'presence { min_fraction: 1 }' if self.required else ''} "
            f"{'string_domain {}' if self.text else ''} }}\n"
        )

    def fits(self, row: int) -> bool:
        values = self.values[row]
        if self.text and not all(is_text(v) for v in values or []):
            return False
        if not self.fixed:
            return True
        if values is None:
            return not self.required or "{ max" in self.fixed
        return len(values) == 1 or (not values and "{ max" in self.fixed)


class Data(NamedTuple):
    features: list[Feature]
    rows: int

    def write(self, folder: pathlib.Path) -> pathlib.Path:
        path = folder / f"{next(COUNTER)}.tfrecord"
        with cst.codec.TFRecordWriter(path) as writer:
            for row in range(self.rows):
                here = [f for f in self.features if f.values[row] is not None]
                writer.write(
                    wire.field(
                        1,
                        b"".join(
                            wire.entry(f.name, wire.feature(f.values[row], KINDS[f.kind][0]))
                            for f in here
                        ),
                    )
                )
        return path

    def rules(self) -> str:
        return "".join(f.rule() for f in self.features)


def is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


@st.composite
def data(draw: st.DrawFn) -> Data:
    rows = draw(st.integers(0, 20))
    features = []
    for i in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(list(KINDS)))
        # mostly of one value, or nothing would ever fit
        sizes = draw(st.sampled_from([(1, 1), (1, 1), (0, 1), (0, 3)]))
        lists = st.lists(KINDS[kind][1], min_size=sizes[0], max_size=sizes[1])
        if draw(st.booleans()):
            lists = st.one_of(lists, st.none())
        features.append(
            Feature(
                f"f{i}",
                kind,
                draw(st.sampled_from(FIXED)),
                draw(st.booleans()),
                kind == "BYTES" and draw(st.booleans()),
                draw(st.lists(lists, min_size=rows, max_size=rows)),
            )
        )
    return Data(features, rows)


def flat_of(lists: pa.ChunkedArray, is_one: bool, text: bool) -> pa.ChunkedArray:
    """By pyarrow alone."""
    if is_one:
        padded = [None if not v else v[0] for v in lists.to_pylist()]
        made = pa.chunked_array([pa.array(padded, lists.type.value_type)])
        return made.cast(pa.large_string()) if text else made
    return lists.cast(pa.large_list(pa.large_string())) if text else lists


def check(source: Any, expected: dict[str, pa.ChunkedArray]) -> None:
    table = pa.table(source)
    assert table.column_names == list(expected)
    for name, column in expected.items():
        assert table[name].type == column.type
        assert table[name].to_pylist() == column.to_pylist()


READING = st.fixed_dictionaries(
    {"threads": st.sampled_from([1, 2, 7]), "batch_size": st.sampled_from([1, 3, 7, 1024])}
)


@given(data(), READING)
def test_flat_of_an_inferred_schema(
    tmp_path_factory: Any, made: Data, reading: dict[str, int]
) -> None:
    path = made.write(tmp_path_factory.mktemp("flat"))
    with cst.open(path) as lists:
        table = pa.table(lists)
    expected = {}
    nullable = {}
    for name in table.column_names:
        column = table[name]
        if not pa.types.is_large_list(column.type):  # a feature without values
            expected[name] = column
            continue
        is_one = pc.max(pc.list_value_length(column)).as_py() == 1
        values = column.combine_chunks().flatten()
        text = column.type.value_type == pa.large_binary() and all(map(is_text, values.to_pylist()))
        expected[name] = flat_of(column, is_one, text)
        nullable[name] = is_one and expected[name].null_count > 0
    with cst.open(path, flat=True, **reading) as src:
        check(src, expected)
        schema = pa.schema(src.arrow_schema)
        for name in nullable:
            if not pa.types.is_large_list(schema.field(name).type):
                assert schema.field(name).nullable == nullable[name]
        if made.rows:
            assert pa.table(src[made.rows // 2 :]) == pa.table(src)[made.rows // 2 :]


@given(data(), READING)
def test_rows_that_do_not_fit_a_given_schema(
    tmp_path_factory: Any, made: Data, reading: dict[str, int]
) -> None:
    path = made.write(tmp_path_factory.mktemp("flat"))
    fits = [row for row in range(made.rows) if all(f.fits(row) for f in made.features)]
    bad = [row for row in range(made.rows) if row not in fits]
    expected = {}
    with cst.open(path, schema=made.rules()) as lists:
        table = pa.table(lists)
    for f in made.features:
        column = table[f.name].take(pa.array(fits, pa.int64()))
        expected[f.name] = flat_of(column, f.fixed != "", f.text)
    with cst.open(path, schema=made.rules(), flat=True, on_error="skip", **reading) as src:
        check(src, expected)
        assert [d.record for d in src.dropped] == bad
    in_memory = cst.open(table, schema=made.rules(), flat=True, **reading)
    for src in [cst.open(path, schema=made.rules(), flat=True, **reading), in_memory]:
        try:
            check(src, expected)
        except (cst.errors.SchemaError, pa.ArrowInvalid):
            assert bad and src.last_error.record == bad[0]
        else:
            assert not bad


@given(st.lists(st.booleans(), max_size=60), READING)
def test_filters_and_maps(tmp_path_factory: Any, mask: list[bool], reading: dict[str, int]) -> None:
    folder = tmp_path_factory.mktemp("stages")
    kept = [i for i, stays in enumerate(mask) if stays]
    path = Data([Feature("i", "INT", "", False, False, [[i] for i in range(len(mask))])], len(mask))
    numbers = pa.table({"i": pa.array(range(len(mask)), pa.int64())})
    schema = "feature { name: 'i' type: INT value_count { min: 1 max: 1 } }"
    for inputs in [path.write(folder), numbers]:
        src = cst.open(inputs, schema=schema, flat=True, **reading)
        left = src.map(lambda b: b.append_column("j", pc.add(b["i"], 1))).filter(
            lambda b: [mask[i] for i in b["i"].to_pylist()]
        )
        batches = [pa.record_batch(b) for b in left.map(lambda b: b.select(["j"]))]
        assert [j for b in batches for j in b["j"].to_pylist()] == [i + 1 for i in kept]
        assert all(b.num_rows == reading["batch_size"] for b in batches[:-1])
        assert left.num_rows == len(kept)
