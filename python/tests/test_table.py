"""Rows, columns and lists: the table operations, compared with pyarrow's."""

import decimal
import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import columnstone as cst
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# ---- generated data ----

_SCALARS = {
    pa.int8(): st.integers(-128, 127),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint16(): st.integers(0, 65535),
    pa.float32(): st.floats(width=32, allow_nan=False),
    pa.float64(): st.floats(allow_nan=False),
    pa.bool_(): st.booleans(),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.string(): st.text(max_size=20),
    pa.large_string(): st.text(max_size=20),
    pa.large_binary(): st.binary(max_size=20),
    pa.string_view(): st.text(max_size=20),
    pa.binary(2): st.binary(min_size=2, max_size=2),
    pa.null(): st.none(),
}


def _types(max_leaves: int = 4) -> st.SearchStrategy:
    return st.recursive(
        st.sampled_from(list(_SCALARS)),
        lambda inner: st.one_of(
            inner.map(pa.list_),
            inner.map(pa.large_list),
            inner.map(lambda t: pa.list_(t, 2)),
            st.lists(inner, min_size=1, max_size=2).map(
                lambda ts: pa.struct([(f"f{i}", t) for i, t in enumerate(ts)])
            ),
        ),
        max_leaves=max_leaves,
    )


def _values(type: pa.DataType) -> st.SearchStrategy:
    if pa.types.is_struct(type):
        values = st.fixed_dictionaries({f.name: _values(f.type) for f in type})
    elif pa.types.is_fixed_size_list(type):
        values = st.lists(_values(type.value_type), min_size=2, max_size=2)
    elif pa.types.is_list(type) or pa.types.is_large_list(type):
        values = st.lists(_values(type.value_type), max_size=3)
    else:
        return st.one_of(st.none(), _SCALARS[type])
    return st.one_of(st.none(), values)


@st.composite
def arrays(draw, types=None) -> pa.Array:
    """An array of any type, most of the time a slice of a longer one."""
    type = draw(types if types is not None else _types())
    values = draw(st.lists(_values(type), max_size=12))
    whole = pa.array(values, type)
    begin = draw(st.integers(0, len(values)))
    return whole.slice(begin, draw(st.integers(0, len(values) - begin)))


def lists() -> st.SearchStrategy:
    return arrays(
        _types().flatmap(lambda t: st.sampled_from([pa.list_(t), pa.large_list(t), pa.list_(t, 2)]))
    )


def batch_of(columns: dict) -> cst.RecordBatch:
    return cst.record_batch(pa.record_batch(columns))


# ---- rows ----


@given(arrays(), st.data())
def test_take_is_that_of_pyarrow(array, data):
    rows = data.draw(
        st.lists(st.one_of(st.none(), st.integers(0, len(array) - 1)), max_size=12)
        if len(array)
        else st.lists(st.none(), max_size=3)
    )
    expected = [None if r is None else array[r].as_py() for r in rows]
    taken = cst.array(array).take(rows)
    assert taken.to_pylist() == expected
    pa.array(taken).validate(full=True)
    assert pa.array(taken).type == array.type
    batch = batch_of({"a": array, "b": pa.array(range(len(array)))}).take(rows)
    assert batch.to_pydict() == {"a": expected, "b": rows}


@pytest.mark.parametrize("values", [[], [{"x": 1}], [{"x": 1}, None]])
def test_a_struct_that_is_not_there_is_null(values):
    structs = pa.array(values, pa.struct([("x", pa.int8())]))
    assert cst.array(structs).take([None, *range(len(values))]).to_pylist() == [None, *values]
    batch = cst.record_batch(pa.record_batch({"x": pa.array([5], pa.int8())}))
    assert batch.take([None, 0]).to_pydict() == {"x": [None, 5]}


@given(arrays(), st.data())
def test_filter_is_that_of_pyarrow(array, data):
    mask = data.draw(
        st.lists(st.sampled_from([True, False, None]), min_size=len(array), max_size=len(array))
    )
    expected = [v for v, keep in zip(array.to_pylist(), mask, strict=True) if keep]
    assert cst.array(array).filter(mask).to_pylist() == expected
    assert cst.array(array).filter(pa.array(mask, pa.bool_())).to_pylist() == expected
    flags = np.array([bool(m) for m in mask], bool)
    batch = batch_of({"a": array}).filter(flags)
    assert batch.to_pydict() == {"a": expected}
    pa.record_batch(batch).validate(full=True)


@given(arrays(), st.integers(0, 12), st.integers(0, 12))
def test_slices(array, begin, length):
    ours = cst.array(array)
    begin = min(begin, len(array))
    assert ours.slice(begin, length).to_pylist() == array.slice(begin, length).to_pylist()
    assert ours.slice(begin).to_pylist() == array.slice(begin).to_pylist()
    batch = batch_of({"a": array})
    assert batch[begin : begin + length].to_pydict() == {
        "a": array.slice(begin, length).to_pylist()
    }
    assert ours.slice(begin, length).null_count == array.slice(begin, length).null_count
    out = pa.array(ours.slice(begin, length))
    out.validate(full=True)
    assert out.null_count == array.slice(begin, length).null_count


def test_row_numbers_of_every_kind():
    batch = batch_of({"a": [10, 11, 12, 13]})
    kinds = [
        [3, 0, 3],
        (3, 0, 3),
        range(3, -1, -3),
        np.array([3, 0, 3]),
        np.array([3, 0, 3], np.int8),
        np.array([3, 9, 0, 9, 3], np.uint64)[::2],
        pa.array([3, 0, 3], pa.int32()),
        pa.array([9, 3, 0, 3])[1:],
        cst.array(np.array([3, 0, 3])),
        (np.int64(i) for i in (3, 0, 3)),
    ]
    for rows in kinds:
        expected = [13, 10] if isinstance(rows, range) else [13, 10, 13]
        assert batch.take(rows).to_pydict()["a"] == expected
    assert batch.take([]).to_pydict() == {"a": []}
    assert batch.take(np.array([])).num_rows == 0
    assert batch.take(pa.array([1, None])).to_pydict()["a"] == [11, None]
    assert batch.take(pa.array([None, 2], pa.uint8())).to_pydict()["a"] == [None, 12]
    assert batch.take([None, 1]).to_pydict()["a"] == [None, 11]


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([4], cst.errors.ArgumentError),
        ([-1], cst.errors.ArgumentError),
        ([-2], cst.errors.ArgumentError),
        ([None, -1], cst.errors.ArgumentError),
        (np.array([0, -1]), cst.errors.ArgumentError),
        (pa.array([None, -1]), cst.errors.ArgumentError),
        (pa.array([-1], pa.int8()), cst.errors.ArgumentError),
        ([2**70], cst.errors.ArgumentError),
        (np.array([2**64 - 1], np.uint64), cst.errors.ArgumentError),
        ([0.5], TypeError),
        ([True, False], TypeError),
        (np.array([0.5]), TypeError),
        (np.array([True, False]), TypeError),
        (np.array([[1]]), TypeError),
        (pa.array(["x"]), TypeError),
        ("12", TypeError),
        (3, TypeError),
    ],
)
def test_rows_that_there_are_not(rows, error):
    with pytest.raises(error):
        batch_of({"a": [10, 11, 12, 13]}).take(rows)


@pytest.mark.parametrize(
    ("mask", "error"),
    [
        ([True], cst.errors.ArgumentError),
        ([1, 0], TypeError),
        (np.array([1, 0]), TypeError),
        (pa.array([1, 0]), TypeError),
        ("ab", TypeError),
    ],
)
def test_masks_that_are_none(mask, error):
    with pytest.raises(error):
        batch_of({"a": [10, 11]}).filter(mask)


def test_masks_of_every_kind():
    batch = batch_of({"a": [10, None, 12]})
    assert batch.filter(np.array([True, False, True], object)).num_rows == 2
    assert batch.filter([np.True_, np.False_, None]).num_rows == 1
    assert batch.filter(batch["a"].null_mask()).to_pydict() == {"a": [None]}
    assert batch.filter(pa.array([False, True, None, True])[1:]).to_pydict() == {"a": [10, 12]}
    assert batch.filter(np.array([1, 0, 1, 0, 1], bool)[::2]).num_rows == 3


def test_slices_of_batches():
    batch = batch_of({"a": [1, 2, 3]})
    assert batch[-2:].to_pydict() == {"a": [2, 3]}
    assert batch[1:99].num_rows == 2
    assert batch.slice(3).num_rows == 0
    with pytest.raises(ValueError, match="step"):
        batch[::2]
    with pytest.raises(cst.errors.ArgumentError):
        batch.slice(4)
    with pytest.raises(cst.errors.ArgumentError):
        batch.slice(-1)


# ---- concatenation ----


@given(st.lists(arrays(st.just(pa.large_list(pa.large_string()))), min_size=1, max_size=4))
def test_concat_of_one_type(parts):
    batch = cst.concat([batch_of({"a": part}) for part in parts])
    assert pa.record_batch(batch)["a"].equals(pa.concat_arrays(parts))


@settings(max_examples=50)
@given(arrays(), arrays())
def test_concat_unites_columns(a, b):
    one = pa.record_batch({"x": a, "y": pa.array([1] * len(a), pa.int8())})
    two = pa.record_batch({"y": pa.array([2.5] * len(b)), "z": b})
    batch = cst.concat([one, cst.record_batch(two)])
    assert batch.column_names == ["x", "y", "z"]
    assert batch.to_pydict() == {
        "x": a.to_pylist() + [None] * len(b),
        "y": [1.0] * len(a) + [2.5] * len(b),
        "z": [None] * len(a) + b.to_pylist(),
    }


def test_concat_promotes_as_pyarrow_does():
    kinds = [pa.null(), pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.int64(), pa.float64()]
    for a in kinds:
        for b in kinds:
            tables = [pa.table({"v": pa.array([None], t)}) for t in (a, b)]
            expected = pa.concat_tables(tables, promote_options="permissive").schema
            batch = cst.concat([t.to_batches()[0] for t in tables])
            if {a, b} == {pa.int8(), pa.uint8()}:
                assert pa.schema(batch.schema).field("v").type == pa.int16()
            else:
                assert pa.schema(batch.schema) == expected, (a, b)


def test_concat_of_arrays_and_of_nothing():
    joined = cst.concat(
        [cst.array(pa.array([1], pa.int8())), cst.array(pa.array([300], pa.int16()))]
    )
    assert joined.type == "int16"
    assert joined.to_pylist() == [1, 300]
    assert len(cst.concat([])) == 0
    assert cst.concat([]).column_names == []
    with pytest.raises(cst.errors.SchemaError, match="a"):
        cst.concat([batch_of({"a": [1]}), batch_of({"a": ["x"]})])
    with pytest.raises(TypeError):
        cst.concat([1])


# ---- columns ----

_NESTED = pa.array(
    [
        {"x": 1, "l": [{"v": "a"}, None, {"v": None}]},
        None,
        {"x": None, "l": []},
        {"x": 4, "l": None},
        {"x": 5, "l": [{"v": "b"}]},
    ],
    pa.struct([("x", pa.int32()), ("l", pa.list_(pa.struct([("v", pa.string())])))]),
)


def test_columns_by_path():
    batch = batch_of({"s": _NESTED, "a.b": [0, 1, 2, 3, 4]})
    assert batch.column("s.x").to_pylist() == [1, None, None, 4, 5]
    assert batch[("s", "x")].type == "int32"
    assert batch["a.b"].to_pylist() == [0, 1, 2, 3, 4]
    values, rows = batch.column_with_rows("s.l.v")
    assert values.to_pylist() == ["a", None, None, "b"]
    assert rows.to_pylist() == [0, 0, 0, 4]
    assert batch[1:].column_with_rows(("s", "l", "v"))[1].to_pylist() == [3]
    assert batch.column_with_rows("s.x")[1].to_pylist() == [0, 1, 2, 3, 4]


def _reach(type: pa.DataType, values: list, steps: tuple) -> list:
    """(row, value) of all that a path comes to."""
    for step in steps:
        while not pa.types.is_struct(type):
            values = [(row, item) for row, v in values if v is not None for item in v]
            type = type.value_type
        values = [(row, None if v is None else v[step]) for row, v in values]
        type = type.field(step).type
    return values


def _structs() -> st.SearchStrategy:
    def wrap(inner: st.SearchStrategy) -> st.SearchStrategy:
        structs = inner.map(lambda t: pa.struct([("x", t), ("y", pa.int8())]))
        lists = st.sampled_from([pa.list_, pa.large_list, lambda t: pa.list_(t, 2)])
        return st.one_of(structs, st.tuples(lists, structs).map(lambda p: p[0](p[1])))

    return wrap(wrap(st.one_of(_types(2), wrap(_types(2)))))


@given(arrays(_structs()), st.data())
def test_columns_of_any_type(array, data):
    steps: list[str] = []
    type = array.type
    while True:
        while not pa.types.is_struct(type) and type.num_fields > 0:
            type = type.value_type
        if type.num_fields == 0 or (steps and data.draw(st.booleans())):
            break
        steps.append(
            data.draw(st.sampled_from([type.field(i).name for i in range(type.num_fields)]))
        )
        type = type.field(steps[-1]).type
    found = _reach(array.type, list(enumerate(array.to_pylist())), tuple(steps))
    batch = batch_of({"c": array})
    values, rows = batch.column_with_rows(("c", *steps))
    assert list(zip(rows.to_pylist(), values.to_pylist(), strict=True)) == found
    pa.array(values).validate(full=True)


def test_many_threads_use_one_batch():
    batch = batch_of({"l": [[1, 2], None, [3]] * 500, "k": ["a", "b", "c"] * 500})

    def work(i: int) -> tuple:
        rows = batch.take([i, None]).to_pydict()["k"][0]
        return rows, batch["l"].flatten().to_pylist()[:3], len(batch.group_by(["k"]))

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(300)))
    assert results == [("abc"[i % 3], [1, 2, 3], 3) for i in range(300)]


@pytest.mark.parametrize("path", ["q", "s.q", "s.x.y", ("a", "b"), ("s", "x\0")])
def test_columns_that_there_are_not(path):
    with pytest.raises(KeyError):
        batch_of({"s": _NESTED, "a.b": range(5)}).column(path)


def test_a_column_that_is_missing_names_the_nearest():
    with pytest.raises(KeyError, match="'count'"):
        batch_of({"s": pa.array([{"count": 1}])}).column("s.cuont")
    with pytest.raises(TypeError):
        batch_of({"a": [1]}).column(1.5)


def test_select():
    batch = batch_of({"a": [1, 2, 3, 4, 5], "s": _NESTED, "t": list("pqrst")})
    some = batch.select(["t", "s.x", 0, ("s", "x")])
    assert some.column_names == ["t", "s.x", "a", "s.x"]
    with pytest.raises(cst.errors.ArgumentError, match=r"two fields are named 's\.x'"):
        some.to_pydict()
    assert batch.select(["t", "s.x", 0]).to_pydict() == {
        "t": list("pqrst"),
        "s.x": [1, None, None, 4, 5],
        "a": [1, 2, 3, 4, 5],
    }
    assert pa.record_batch(some).column(0).buffers()[2] is not None
    assert len(batch.select([])) == 5
    assert batch[2:4].select(["t"]).to_pydict() == {"t": ["r", "s"]}
    with pytest.raises(KeyError):
        batch.select(["z"])
    with pytest.raises(TypeError):
        batch.select("t")
    with pytest.raises(cst.errors.ArgumentError, match="lists"):
        batch.select(["s.l.v"])


def test_select_keeps_types_and_metadata():
    schema = pa.schema(
        [pa.field("a", pa.int8(), False, {"k": "v"}), pa.field("b", pa.string())], {"m": "n"}
    )
    batch = cst.record_batch(pa.record_batch([[1], ["x"]], schema=schema)).select(["a"])
    assert pa.schema(batch.schema).equals(pa.schema([schema.field("a")], {"m": "n"}), True)


def test_columns_in_the_order_of_their_names():
    schema = pa.schema([("b", pa.int64()), ("a", pa.string()), ("B", pa.int8())], {"m": "n"})
    batch = cst.record_batch(pa.record_batch([[1], ["x"], [2]], schema=schema))
    made = batch.sort_columns()
    wanted = pa.schema([schema.field(i) for i in (2, 1, 0)], {"m": "n"})
    assert pa.schema(made.schema).equals(wanted, True)
    assert list(made.to_pydict().items()) == [("B", [2]), ("a", ["x"]), ("b", [1])]
    assert made.sort_columns() is made
    assert cst.record_batch({}).sort_columns().num_columns == 0


def test_fields_of_structs():
    structs = cst.array(pa.array([{"x": 1, "y": ["p"]}, None, {"x": None, "y": None}]))
    assert structs.field("x").to_pylist() == [1, None, None]
    assert structs.field("y").to_pylist() == structs.field(-1).to_pylist() == [["p"], None, None]
    assert structs[1:].field(0).to_pylist() == [None, None]
    hidden = pa.StructArray.from_arrays([[1, 2]], ["x"], mask=pa.array([False, True]))
    assert cst.array(hidden).field("x").to_pylist() == [1, None]
    with pytest.raises(KeyError, match="no field 'z': the struct has x, y"):
        structs.field("z")
    with pytest.raises(IndexError, match="field 2 of a struct of 2: x, y"):
        structs.field(2)
    with pytest.raises(TypeError, match="Array of int64 has no fields"):
        cst.array([1]).field("x")


# ---- groups ----


@given(st.lists(st.tuples(st.sampled_from([None, "a", "b"]), st.sampled_from([None, 1, 2]))))
def test_groups_are_those_of_pyarrow(rows):
    keys = {
        "k": pa.array([r[0] for r in rows], pa.string()),
        "n": pa.array([r[1] for r in rows], pa.int8()),
    }
    batch = batch_of({**keys, "row": pa.array(range(len(rows)), pa.int64())})
    groups = batch.group_by(["k", "n"])
    expected = pa.table(pa.record_batch(batch)).group_by(["k", "n"]).aggregate([("row", "list")])
    wanted = {(e["k"], e["n"]): e["row_list"] for e in expected.to_pylist()}
    found = {(key["k"], key["n"]): rows.column("row").to_pylist() for key, rows in groups}
    assert found == wanted
    assert len(groups) == len(wanted)
    assert groups.keys.num_rows == len(groups)
    assert [groups.rows_of(i).to_pylist() for i in range(len(groups))] == groups.rows.to_pylist()


def test_groups_by_lists():
    batch = batch_of({"tags": [["a", "b", "a"], None, [], ["b"]], "v": [1, 2, 3, 4]})
    groups = batch.group_by("tags")
    assert [(key["tags"], g.to_pydict()["v"]) for key, g in groups] == [
        ("a", [1]),
        ("b", [1, 4]),
        (None, [2, 3]),
    ]
    assert groups[-1][0] == {"tags": None}
    assert "3 by tags" in repr(groups)
    with pytest.raises(IndexError):
        groups[3]
    with pytest.raises(KeyError):
        batch.group_by(["nothing"])
    assert len(batch.group_by([])) == 1


# ---- lists ----


@given(lists())
def test_flatten_and_parents_are_those_of_pyarrow(array):
    values, parents = cst.array(array).flatten_with_parents()
    assert pa.array(values).equals(array.flatten())
    indices = pc.list_parent_indices(array)
    valid = [i for i, v in zip(indices.to_pylist(), _all_slots(array), strict=True) if v]
    assert parents.to_pylist() == valid
    assert cst.array(array).flatten().to_pylist() == array.flatten().to_pylist()
    pa.array(values).validate(full=True)


def _all_slots(array: pa.Array) -> list[bool]:
    """Of each item that pyarrow's parent indices count: whether its list is there."""
    counts = Counter(pc.list_parent_indices(array).to_pylist())
    return [array[i].is_valid for i in sorted(counts) for _ in range(counts[i])]


@given(lists())
def test_lengths_are_those_of_pyarrow(array):
    expected = pc.list_value_length(array).cast(pa.int64())
    assert pa.array(cst.array(array).lengths()).equals(expected)


@given(lists(), st.booleans())
def test_from_parents_is_the_inverse(array, as_null):
    values, parents = cst.array(array).flatten_with_parents()
    again = cst.arrow.Array.from_parents(values, parents, len(array), as_null)
    empty = None if as_null else []
    assert again.to_pylist() == [v or empty for v in array.to_pylist()]
    pa.array(again).validate(full=True)


@given(arrays())
def test_flatten_of_all_levels(array):
    def leaves(value, row):
        if isinstance(value, list):
            return [leaf for item in value for leaf in leaves(item, row)]
        return [(value, row)]

    is_list = not pa.types.is_struct(array.type) and array.type.num_fields > 0
    expected = [
        leaf
        for row, value in enumerate(array.to_pylist())
        if value is not None or not is_list
        for leaf in leaves(value, row)
    ]
    depth, type = 0, array.type
    while type.num_fields > 0 and not pa.types.is_struct(type):
        depth, type = depth + 1, type.value_type
    if depth < 2:  # of deeper ones a null on the way is no leaf
        values, parents = cst.array(array).flatten_with_parents(-1)
        assert list(zip(values.to_pylist(), parents.to_pylist(), strict=True)) == expected
    step = cst.array(array)
    for _ in range(depth):
        step = step.flatten()
    assert cst.array(array).flatten(-1).to_pylist() == step.to_pylist()


@given(lists())
def test_coordinates_find_every_value(array):
    ours = cst.array(array)
    coordinates, shape = ours.coordinates()
    values = ours.flatten(-1).to_pylist()
    places = coordinates.numpy()
    assert places.shape == (len(values), len(shape))
    assert shape[0] == len(array)
    rows = array.to_pylist()
    for place, value in zip(places.tolist(), values, strict=True):
        item = rows
        for i in place:
            item = item[i]
        assert item == value
    for dim in range(1, len(shape)):
        assert shape[dim] >= (places[:, dim].max(initial=-1) + 1)


@pytest.mark.parametrize(
    ("parents", "record"),
    [([1, 0, 2], 1), ([-1, 0, 2], 0), ([0, 1, 3], 2), (np.array([0, 0]), None)],
)
def test_parents_that_are_wrong(parents, record):
    with pytest.raises(cst.errors.ArgumentError) as caught:
        cst.arrow.Array.from_parents(pa.array([1, 2, 3]), parents, 3)
    assert caught.value.record == record


def test_list_views():
    array = pa.ListViewArray.from_arrays([2, 0, 0, 1], [2, 0, 2, 2], pa.array([1, 2, 3, 4]))
    ours = cst.array(array)
    assert ours.to_pylist() == [[3, 4], [], [1, 2], [2, 3]]
    assert ours.flatten().to_pylist() == [3, 4, 1, 2, 2, 3]
    assert ours[2:].flatten().to_pylist() == [1, 2, 2, 3]
    assert ours.take([3, None, 0]).to_pylist() == [[2, 3], None, [3, 4]]


# ---- nulls and sizes ----


@given(arrays())
def test_null_masks(array):
    assert cst.array(array).null_mask().to_pylist() == [int(not v.is_valid) for v in array]
    assert cst.array(array).null_count == sum(not v.is_valid for v in array)


@given(
    arrays(st.sampled_from([pa.int8(), pa.float64(), pa.bool_(), pa.string(), pa.large_binary()]))
)
def test_filled_nulls_are_those_of_pyarrow(array):
    fill = {"int8": 7, "double": 0.5, "bool": True, "string": "xyz", "large_binary": b"xyz"}
    value = fill[str(array.type)]
    filled = cst.array(array).fill_null(value)
    assert pa.array(filled).equals(array.fill_null(value))
    assert filled.null_count == 0


@given(
    arrays(
        st.sampled_from([pa.list_(pa.int32()), pa.large_list(pa.int32()), pa.list_(pa.int32(), 2)])
    )
)
def test_filled_lists(array):
    expected = [[7, 8] if v is None else v for v in array.to_pylist()]
    assert cst.array(array).fill_null([7, 8]).to_pylist() == expected
    assert cst.array(array).fill_null(pa.array([7, 8], pa.int32())).to_pylist() == expected


def test_fills_that_do_not_fit():
    ints = cst.array(pa.array([1, None], pa.int8()))
    with pytest.raises(cst.errors.ArgumentError):
        ints.fill_null(1000)
    with pytest.raises(cst.errors.ArgumentError):
        ints.fill_null("x")
    with pytest.raises(cst.errors.SchemaError):
        ints.fill_null(pa.array([1]))
    with pytest.raises(cst.errors.UnsupportedError):
        cst.array(pa.array([{"a": 1}, None])).fill_null({"a": 2})


def test_sizes():
    assert cst.array(pa.array([1, 2, 3], pa.int32())).nbytes == 12
    assert cst.array(pa.array([1, None, 3], pa.int32())).nbytes == 13
    assert cst.array(pa.array(["abc", "d"])[1:]).nbytes == 9
    batch = batch_of({"a": [1, 2, 3], "b": [[1], [2, 3], []]})
    assert batch.nbytes == sum(batch.column(i).nbytes for i in range(2))
    assert batch[:1].nbytes < batch.nbytes


@given(st.lists(st.one_of(st.none(), st.binary(max_size=6))))
def test_invalid_utf8(values):
    def is_text(value):
        try:
            return bool(value.decode() is not None)
        except UnicodeDecodeError:
            return False

    expected = sum(v is not None and not is_text(v) for v in values)
    assert cst.array(pa.array(values, pa.binary())).count_invalid_utf8() == expected


# ---- numpy ----


def test_numpy_without_a_copy():
    values = np.arange(5, dtype=np.float32)
    array = cst.array(pa.array(values))
    out = array[1:].numpy()
    assert out.tolist() == [1, 2, 3, 4]
    assert out.dtype == np.float32
    assert not out.flags.writeable
    assert np.shares_memory(out, values)
    assert np.shares_memory(np.asarray(array), values)
    assert memoryview(array).format == "f"


def test_numpy_of_every_number():
    for kind in "bhilBHILefd":
        values = np.array([1, 2, 3], kind)
        assert cst.array(values).numpy().dtype == values.dtype
        assert cst.array(values).numpy().tolist() == [1, 2, 3]
    assert cst.array(np.array([True, False])).numpy().tolist() == [True, False]
    assert cst.array(pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2))).numpy().tolist() == [
        [1, 2],
        [3, 4],
    ]
    assert cst.array(np.array([1, 2], ">i4")).numpy().tolist() == [1, 2]
    assert cst.array(np.arange(6)[::2]).to_pylist() == [0, 2, 4]
    assert cst.array(pa.array([], pa.int8())).numpy().tolist() == []


def test_numpy_of_what_is_no_buffer():
    with pytest.raises(BufferError, match="fill_null"):
        cst.array(pa.array([1, None])).numpy()
    with pytest.raises(BufferError):
        cst.array(pa.array(["a"])).numpy()
    with pytest.raises(BufferError):
        cst.array(pa.array([True, None])).numpy()
    with pytest.raises(cst.errors.UnsupportedError):
        cst.array(np.array([1j]))
    with pytest.raises(cst.errors.ArgumentError):
        cst.array(np.zeros(()))


# ---- making ----


def test_record_batches_of_anything():
    ours = cst.record_batch({"a": np.array([1, 2]), "b": pa.array(["x", None])})
    assert ours.to_pydict() == {"a": [1, 2], "b": ["x", None]}
    assert cst.record_batch(ours) is ours
    assert cst.record_batch({}).num_rows == 0
    with pytest.raises(cst.errors.ArgumentError, match="feature 'b': 1 values, expected 2"):
        cst.record_batch({"a": np.array([1, 2]), "b": pa.array(["x"])})
    with pytest.raises(cst.errors.SchemaError):
        cst.record_batch(pa.array([1]))
    with pytest.raises(cst.errors.ArgumentError, match="null"):
        cst.record_batch(pa.array([{"a": 1}, None]))
    table = pa.table({"a": pa.chunked_array([[1], [2, 3]])})
    assert cst.record_batch(table).to_pydict() == {"a": [1, 2, 3]}
    assert cst.record_batch(table[:0]).to_pydict() == {"a": []}
    with pytest.raises(cst.errors.SchemaError, match="found int, expected dict"):
        cst.record_batch([1])
    with pytest.raises(TypeError):
        cst.record_batch(1)
    with pytest.raises(TypeError):
        cst.array({1})


def test_dictionaries_become_plain():
    column = pa.array(["a", "b", "a", None]).dictionary_encode()
    ours = batch_of({"d": column})
    assert ours["d"].type == "string"
    assert ours.to_pydict() == {"d": ["a", "b", "a", None]}


def test_foreign_data_is_validated():
    offsets = np.array([0, 5, 2], np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"abcde")]
    broken = pa.Array.from_buffers(pa.binary(), 2, buffers)
    with pytest.raises(cst.errors.CorruptError):
        cst.array(broken)


def test_results_outlive_what_they_are_made_of():
    batch = batch_of({"l": [[1, 2], [3]] * 1000})
    values = batch["l"][1:].flatten()
    del batch
    assert values.to_pylist()[:4] == [3, 1, 2, 3]


# ---- pickling ----


@given(arrays())
def test_pickling(array):
    ours = cst.array(array)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(ours, protocol))
        assert again.to_pylist() == ours.to_pylist()
        assert again.schema == ours.schema


def test_pickling_of_every_layout():
    half = decimal.Decimal("1.5")
    arrays = [
        *(
            pa.array([1, None, 3], t)
            for t in (pa.timestamp("us", "UTC"), pa.date32(), pa.time64("us"))
        ),
        *(pa.array([1, None, 3], t) for t in (pa.time32("s"), pa.duration("s"), pa.float16())),
        *(
            pa.array([half, None, half], t(5, 1))
            for t in (pa.decimal32, pa.decimal128, pa.decimal256)
        ),
        pa.array([(1, 2, 3), None, (4, 5, 6)], pa.month_day_nano_interval()),
        pa.array([[1], None, [2, 3]], pa.list_view(pa.int8())),
        pa.array([["x" * 20], None, []], pa.large_list_view(pa.string_view())),
        pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int8())),
    ]
    for array in arrays:
        for part in (array, array[1:], array[3:]):
            for protocol in (2, 5):
                again = pa.array(pickle.loads(pickle.dumps(cst.array(part), protocol)))
                again.validate(full=True)
                assert again.equals(part)
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], [1, 2])
    with pytest.raises(cst.errors.UnsupportedError):
        pickle.dumps(cst.array(runs))


def test_batches_pickle_their_own_rows():
    batch = batch_of({"a": range(10000), "s": ["x"] * 10000})
    data = pickle.dumps(batch[:10])
    assert len(data) < 2000
    again = pickle.loads(data)
    assert again.to_pydict() == batch[:10].to_pydict()
    assert again.schema == batch.schema
    nested = cst.array([[{"a": i}] for i in range(10000)])
    for part in (batch[-10:], batch[5000:5010], nested[:10], nested[-10:]):
        data = pickle.dumps(part)
        assert len(data) < 2000
        assert pa.array(pickle.loads(data)).equals(pa.array(part))
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(batch, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 2000
    assert pickle.loads(data, buffers=buffers).to_pydict() == batch.to_pydict()
    assert len(pickle.loads(pickle.dumps(batch.select([])))) == 10000
