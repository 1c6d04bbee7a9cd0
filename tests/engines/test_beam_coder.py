"""Record batches and tables between Beam's workers: whole, and as keys."""

from __future__ import annotations

import random
import subprocess
import sys

import apache_beam as beam
import columnstone as cst
import nested_data as nd
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.testing.util import assert_that, equal_to

VALUES = [[1, 2], None, [], [3, None]]
KINDS = nd.Shape(3, True, tuple(nd.MORE_KINDS))
MORE = {
    "dictionary": pa.array(["a", None, "b", "a"]).dictionary_encode(),
    "run ends": pa.RunEndEncodedArray.from_arrays([2, 4], pa.array([7, None])),
    "views": pa.array(["a", None, "more than twelve bytes", ""], pa.string_view()),
    "times": pa.array([1, None, 3, 4], pa.timestamp("ns", "UTC")),
    "decimals": pa.array([1, None, 3, 4], pa.decimal128(10, 2)),
    "half": pa.array([1, None, 3, 4], pa.float16()),
    "fixed": pa.array([b"ab", None, b"cd", b"ef"], pa.binary(2)),
    "uuids": pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([b"a" * 16, None, b"b" * 16, b"c" * 16], pa.binary(16))
    ),
    "null": pa.nulls(4),
    "map": pa.array([[("a", 1)], None, [], [("b", None)]], pa.map_(pa.string(), pa.int64())),
}


def key(batch: pa.RecordBatch) -> bytes:
    coder = cst.beam.RecordBatchCoder().as_deterministic_coder("step")
    assert coder.is_deterministic()
    encoded: bytes = coder.encode(batch)
    back = coder.decode(encoded)
    back.validate(full=True)
    assert back.equals(batch, check_metadata=True)
    return encoded


@pytest.mark.parametrize("seed", range(10))
def test_equal_batches_are_equal_keys_in_every_layout(seed: int) -> None:
    coder = cst.beam.RecordBatchCoder()
    assert not coder.is_deterministic()
    for i in range(30):
        r = random.Random(100 * seed + i)
        made = nd.random_array(r, nd.random_type(r, KINDS), r.randrange(6))
        anew = pa.array(made.array.to_pylist(), made.array.type)
        batch = pa.record_batch({"a": made.array})
        assert coder.decode(coder.encode(batch)).equals(batch)
        assert key(batch) == key(pa.record_batch({"a": anew})), (made.array.type, made.values)


@pytest.mark.parametrize("name", MORE)
def test_slices_are_keys_as_what_they_hold(name: str) -> None:
    array = MORE[name]
    cut = pa.record_batch({"a": pa.concat_arrays([array, array])}).slice(4, 4)
    assert key(cut) == key(pa.record_batch({"a": array}))
    assert key(cut.slice(1)) == key(pa.record_batch({"a": array.slice(1)}))
    assert key(cut) != key(cut.slice(1))


def test_what_lies_below_nulls_and_after_the_end_does_not_count() -> None:
    def numbers(values: list[int], bits: int) -> pa.RecordBatch:
        held = pa.py_buffer(np.array(values, np.int32))
        array = pa.Array.from_buffers(pa.int32(), 3, [pa.py_buffer(bytes([bits])), held])
        return pa.record_batch({"a": array})

    assert key(numbers([1, 9, 3], 0b00000101)) == key(numbers([1, 7, 3], 0b11111101))
    all_valid = pa.record_batch({"a": pa.array([1, 2, 3], pa.int32())})
    assert key(numbers([1, 2, 3], 0b111)) == key(all_valid)
    assert key(numbers([1, 2, 3], 0b101)) != key(all_valid)


def test_what_lies_below_nulls_in_runs_does_not_count() -> None:
    """pyarrow's kernel leaves there what the memory held."""
    batch = pa.record_batch({"a": MORE["run ends"]})
    keys = set()
    for byte in (0, 255):
        held = [pa.allocate_buffer(16) for _ in range(100)]
        for memory in held:
            np.frombuffer(memory, np.uint8)[:] = byte
        del held, memory
        keys.add(key(batch))
    assert len(keys) == 1


def test_nulls_of_a_slice_are_one_run_each_time() -> None:
    array = MORE["run ends"]
    keys = set()
    for _ in range(300):
        cut = pa.record_batch({"a": pa.concat_arrays([array, array])}).slice(4, 4)
        keys |= {key(cut.slice(1)), key(pa.record_batch({"a": array.slice(1)}))}
    assert len(keys) == 1


def test_rows_without_columns_names_types_and_metadata_are_kept() -> None:
    batch = pa.record_batch({"a": [1]}).replace_schema_metadata({"who": "me"})
    rows = pa.table({"a": [1, 2]}).select([]).to_batches()
    assert [b.num_rows for b in rows] == [2]
    keys = [key(b) for b in [*rows, batch, batch.replace_schema_metadata(None)]]
    keys += [key(pa.record_batch({"b": [1]})), key(pa.record_batch({"a": [1.0]}))]
    assert len(set(keys)) == len(keys)


def test_a_union_is_no_key() -> None:
    types, ints = pa.array([0, 1], pa.int8()), pa.array([1, 2])
    batch = pa.record_batch({"a": pa.UnionArray.from_sparse(types, [ints, ints])})
    coder = cst.beam.RecordBatchCoder()
    assert coder.decode(coder.encode(batch)).equals(batch)
    with pytest.raises(cst.errors.UnsupportedError, match="union"):
        key(batch)


def test_tables_are_keys_in_whatever_chunks() -> None:
    coder = cst.beam.TableCoder(is_key=True)
    whole = pa.table({"a": VALUES})
    parts = pa.concat_tables([whole.slice(0, 1), whole.slice(1)])
    assert parts.column("a").num_chunks == 2
    assert coder.encode(whole) == coder.encode(parts)
    assert coder.decode(coder.encode(parts)).equals(whole)
    assert cst.beam.TableCoder().decode(cst.beam.TableCoder().encode(parts)).equals(whole)
    empty = whole.slice(0, 0)
    assert coder.decode(coder.encode(empty)).equals(empty)


def test_batches_are_grouped_by() -> None:
    """By key, and as values; in types that Beam finds out itself."""
    one = pa.record_batch({"a": VALUES})
    same = pa.record_batch({"a": pa.concat_arrays([pa.array([[9]]), pa.array(VALUES)])}).slice(1)
    other = one.slice(1)
    with beam.Pipeline("FnApiRunner") as p:
        keys = p | beam.Create([one, same, other]).with_output_types(pa.RecordBatch)
        groups = keys | beam.Map(lambda b: (b, 1)).with_output_types(
            beam.typehints.KV[pa.RecordBatch, int]
        )
        counts = groups | "by batch" >> beam.GroupByKey()
        counts |= beam.MapTuple(lambda b, ones: (b.num_rows, len(list(ones))))
        assert_that(counts, equal_to([(4, 2), (3, 1)]))
        joined = keys | beam.WithKeys(lambda _: 1) | beam.GroupByKey()
        sizes = joined | beam.MapTuple(lambda _, found: sorted(b.num_rows for b in found))
        assert_that(sizes, equal_to([[3, 4, 4]]), "values")
        coder = beam.coders.registry.get_coder(keys.element_type)
        assert isinstance(coder, cst.beam.RecordBatchCoder)


def test_coders_of_others_stay() -> None:
    """A coder that was registered before is not replaced."""
    code = (
        "import apache_beam as beam, pyarrow as pa, columnstone\n"
        "class Own(beam.coders.PickleCoder):\n    pass\n"
        "beam.coders.registry.register_coder(pa.Table, Own)\n"
        "columnstone.beam.RecordBatchCoder\n"
        "kinds = [type(beam.coders.registry.get_coder(t)) for t in (pa.RecordBatch, pa.Table)]\n"
        "assert kinds == [columnstone.beam.RecordBatchCoder, Own], kinds\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
