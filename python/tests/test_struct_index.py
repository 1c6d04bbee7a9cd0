"""Indexing of structured tensors, and choosing elements: one rule each. Generated data is compared
with numpy and with the reference in test_nested_index.py."""

from __future__ import annotations

import array
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone import _core, struct

ROWS = [
    [{"x": 1, "y": [1.0, 2.0, 3.0]}, {"x": 2, "y": [4.0]}],
    [],
    None,
    [{"x": 3, "y": None}, None, {"x": 5, "y": []}],
]
X = [[1, 2], [], None, [3, None, 5]]


@pytest.fixture
def st() -> Any:
    return cst.StructuredTensor.from_arrow(pa.array(ROWS))


@pytest.fixture
def x(st: Any) -> Any:
    return st["x"]


def test_names_project_at_any_rank(st: Any) -> None:
    assert st["x"].to_py() == X
    assert st[3]["x"].to_py() == [3, None, 5]
    assert st[0, 1]["x"].to_py() == 2
    assert st["y"].shape == (4, None, None)


def test_names_are_looked_up_before_the_items(st: Any) -> None:
    assert st[0, "x", 1].to_py() == st["x", 0, 1].to_py() == 2
    assert st["y", 0, :, 0].to_py() == [1.0, 4.0]


def test_an_item_stands_for_dimensions_that_are_there_before_the_name(st: Any) -> None:
    with pytest.raises(IndexError, match="before 'y'"):
        st[0, 0, 0, "y"]


def test_paths() -> None:
    st = cst.StructuredTensor.from_arrow(pa.array([{"a": {"b": 1}, "c.d": 2}]))
    assert st["a.b"].to_py() == st["a", "b"].to_py() == st[("a", "b"), 0:1].to_py() == [1]
    assert st["c.d"].to_py() == [2]


def test_a_list_of_names_keeps_them_in_this_order(st: Any) -> None:
    assert st[["y", "x"]].field_names() == ("y", "x")
    assert st[0, ["x"]].to_py() == [{"x": 1}, {"x": 2}]


def test_a_list_of_paths_keeps_nested_fields() -> None:
    st = cst.StructuredTensor.from_arrow(pa.array([{"a": {"b": 1, "c": 2}, "d": 3}]))
    assert st[["a.c"]].to_py() == [{"a": {"c": 2}}]


@pytest.mark.parametrize("name", ["z", "y.z", ("x", "z"), ["z"]])
def test_unknown_names_are_key_errors(st: Any, name: Any) -> None:
    with pytest.raises(KeyError, match="field '") as caught:
        st[name]
    assert isinstance(caught.value, cst.errors.NotFoundError)


def test_an_unknown_name_tells_near_ones() -> None:
    st = cst.StructuredTensor.from_arrow(pa.array([{"price": 1}]))
    with pytest.raises(cst.errors.FieldNotFoundError, match="did you mean 'price'"):
        st["prise"]


def test_an_int_takes_one_row(st: Any) -> None:
    assert st[0].to_py() == ROWS[0]
    assert st[-1].to_py() == ROWS[-1]
    assert st[0].is_row and st[0].rank == 1
    assert st[2].to_py() is None
    assert st[np.int64(1)].to_py() == []


def test_an_int_looks_into_each_row(x: Any) -> None:
    assert x[0:4:3, 1].to_py() == [2, None]
    assert x[2:, -1].to_py() == [None, 5]


def test_an_int_out_of_range_names_the_row_and_its_length(x: Any) -> None:
    with pytest.raises(IndexError, match=r"index 0 .*row \[1\] is 0") as caught:
        x[:, 0]
    assert isinstance(caught.value, cst.errors.ArgumentError)
    assert caught.value.record == 1
    with pytest.raises(IndexError, match="index 4"):
        x[4]


@pytest.mark.parametrize("key", [2**70, -(2**70), 2**63, -(2**63)])
def test_ints_that_64_bits_do_not_hold_are_out_of_range(x: Any, key: int) -> None:
    with pytest.raises(IndexError):
        x[key]
    assert x[key : key + 1].to_py() == []


@pytest.mark.parametrize(
    "key", [slice(1), slice(None, None, 2), slice(None, None, -1), slice(-2, None), slice(5, 2)]
)
def test_slices_are_pythons_in_every_row(x: Any, key: slice) -> None:
    assert x[key].to_py() == X[key]
    assert x[:, key].to_py() == [row if row is None else row[key] for row in X]


def test_a_step_of_zero_is_an_error(x: Any) -> None:
    with pytest.raises(ValueError, match="zero"):
        x[::0]


def test_an_ellipsis_stands_for_the_other_dimensions(st: Any) -> None:
    assert st["y", ..., ::2].to_py()[0] == [[1.0, 3.0], [4.0]]
    assert st["y", 0, ..., 0].to_py() == [1.0, 4.0]
    with pytest.raises(IndexError, match="both"):
        st[..., ...]


def test_none_is_a_new_dimension(x: Any) -> None:
    assert x[None].shape == (1, 4, None)
    assert x[0, :, None].to_py() == [[1], [2]]
    assert x[0, 0, None].to_py() == [1]


def test_too_many_items(x: Any) -> None:
    with pytest.raises(IndexError, match="too many indices: item 2, a slice"):
        x[0, 0, :]
    with pytest.raises(IndexError, match="too many"):
        x[0, 0][0]


def test_rows_and_slices_share_buffers(x: Any) -> None:
    def address(tensor: Any) -> int:
        return int(pa.array(tensor._array).values.buffers()[1].address)

    assert address(x) == address(x[3]) == address(x[1:]) == address(x[1:3][0])


def test_arrays_are_numpys() -> None:
    values = np.arange(24).reshape(2, 3, 4)
    t = struct.constant(values.tolist())
    keys: list[Any] = [
        [1, 0],
        np.array([[1], [0]]),
        (slice(None), [0, 2], [1, 3]),
        (0, slice(None), [1, 3]),
        ([0, 1], slice(None), [1, 3]),
        (np.array([True, False]), 0),
        values > 12,
        values[:, :, 0] > 4,
        (slice(None), values[0] > 5),
        True,
        np.False_,
        (slice(None), np.array(1)),
        (..., np.array([[0, 1]], np.uint8)),
        array.array("i", [1]),
    ]
    for key in keys:
        chosen = values[tuple(key) if isinstance(key, tuple) else key]
        assert t[key].to_py() == chosen.tolist()
        assert t[key].shape == chosen.shape or chosen.size == 0


def test_strided_and_read_only_arrays() -> None:
    t = struct.constant([10, 11, 12, 13])
    assert t[np.arange(8)[::2][:2]].to_py() == [10, 12]
    fixed = np.array([3, 0])
    fixed.setflags(write=False)
    assert t[fixed].to_py() == [13, 10]


def test_arrays_that_do_not_broadcast() -> None:
    with pytest.raises(IndexError, match=r"\(2,\) and \(3,\)"):
        struct.constant([[1, 2]])[[0, 0], [0, 1, 0]]


def test_a_mask_has_the_length_of_the_rows(x: Any) -> None:
    with pytest.raises(IndexError, match="not 3"):
        x[[True, False, True]]
    assert x[[True, False, True, False]].to_py() == [[1, 2], None]


def test_nulls_in_arrays(x: Any) -> None:
    assert x[pa.array([0, None])].to_py() == [[1, 2], None]
    assert x[pa.array([True, None, False, None])].to_py() == [[1, 2]]


@pytest.mark.parametrize("key", [1.5, np.array([1.5]), object(), b"x", {"x"}])
def test_what_is_no_index(x: Any, key: Any) -> None:
    with pytest.raises((TypeError, cst.Error)):
        x[key]


def test_ragged_lists_are_no_index(x: Any) -> None:
    with pytest.raises(IndexError, match=r"struct\.constant"):
        x[[[0], [0, 1]]]


def test_a_tensor_of_rank_2_goes_row_by_row(st: Any, x: Any) -> None:
    mask = struct.constant([[True, False], [], None, [False, True, True]])
    assert x[mask].to_py() == [[1], [], None, [None, 5]]
    assert st[mask].to_py() == [ROWS[0][:1], [], None, ROWS[3][1:]]  # type: ignore[index]
    places = struct.constant([[1, 1, -1], [], [], [None, 2]])
    assert x[places].to_py() == [[2, 2, 2], [], None, [None, 5]]


def test_rows_of_a_tensor_as_index_have_to_fit(x: Any) -> None:
    with pytest.raises(IndexError, match=r"row \[0\]"):
        x[struct.constant([[True], [], None, [False, True, True]])]
    with pytest.raises(IndexError, match=r"row \[1\] is 0"):
        x[struct.constant([[0], [0], None, [0]])]


def test_a_structured_tensor_is_no_index(st: Any, x: Any) -> None:
    with pytest.raises(TypeError, match="structs"):
        x[st]


def test_dimensions_of_fixed_size_stay_so() -> None:
    t = _core.structured(cst.array(pa.array([], pa.list_(pa.int8(), 4))), False)
    assert t.shape == (0, 4)
    assert t[:, ::3].shape == (0, 2)
    assert t[:, [0, 1, 2]].shape == (0, 3)
    assert t[:, 0].shape == (0,)


def test_rows_are_iterated(x: Any) -> None:
    assert [row.to_py() for row in x] == X


# ---- choosing ----


def test_gather_keeps_null_rows(x: Any) -> None:
    assert struct.gather(x[2:], 0, axis=1).to_py() == [None, 3]
    assert struct.gather(x, [0, None]).to_py() == [[1, 2], None]
    chosen = struct.gather(x, [[1, -1], [], [], [0]], batch_dims=1)
    assert chosen.to_py() == [[2, 2], [], None, [3]]


def test_gather_takes_the_place_of_a_dimension() -> None:
    values = np.arange(24).reshape(2, 3, 4)
    at = np.array([[2, 0], [1, 1]])
    assert struct.gather(values, at, axis=1).to_py() == np.take(values, at, axis=1).tolist()
    assert struct.gather(values, 1, axis=-1).to_py() == values[..., 1].tolist()


def test_gather_says_what_does_not_fit(x: Any) -> None:
    with pytest.raises(IndexError, match=r"index 1 .*row \[1\] is 0"):
        struct.gather(x, 1, axis=1)
    with pytest.raises(cst.errors.ArgumentError, match="axis 2"):
        struct.gather(x, 0, axis=2)
    with pytest.raises(cst.errors.ArgumentError, match="batch_dims is 2"):
        struct.gather(x, [0], axis=1, batch_dims=2)
    with pytest.raises(cst.errors.ArgumentError, match="boolean_mask"):
        struct.gather(x, [True])


def test_gather_nd_takes_whole_parts(x: Any) -> None:
    assert struct.gather_nd(x, [[0], [3]]).to_py() == [[1, 2], [3, None, 5]]
    assert struct.gather_nd(x, [[2, 0], [3, -1]]).to_py() == [None, 5]
    with pytest.raises(cst.errors.ArgumentError, match="3 dimensions"):
        struct.gather_nd(x, [[0, 0, 0]])
    with pytest.raises(cst.errors.ArgumentError, match="differ"):
        struct.gather_nd(x, [[0], [0, 0]])


def test_boolean_mask_joins_the_dimensions_of_the_mask(x: Any) -> None:
    assert struct.boolean_mask(x, [[True, False], [], None, [False, True, True]]).to_py() == [
        1,
        None,
        5,
    ]
    assert struct.boolean_mask(x[:1], [False, True], axis=1).to_py() == [[2]]
    with pytest.raises(IndexError, match=r"row \[0\]"):
        struct.boolean_mask(x, [[True], [], [], []])
    with pytest.raises(cst.errors.ArgumentError, match="booleans"):
        struct.boolean_mask(x, [1, 0, 1, 0])


def test_reverse_takes_several_dimensions(x: Any) -> None:
    assert struct.reverse(x, [0, -1]).to_py() == [[5, None, 3], None, [], [2, 1]]


def test_choosing_is_there_as_methods(x: Any) -> None:
    assert x.gather([3]).to_py() == x.boolean_mask([False, False, False, True]).to_py() == X[3:]
    assert x.reverse(1)[0].to_py() == [2, 1]


def test_where_chooses_whole_parts() -> None:
    chosen = struct.where([True, None, False], [[1], [2], [3]], [[4], [5], None])
    assert chosen.to_py() == [[1], None, None]
    assert struct.where([True, False], {"a": 1}, {"a": 2}).to_py() == [{"a": 1}, {"a": 2}]
    assert struct.where(True, [1, 2], [3]).to_py() == [1, 2]


def test_where_gives_a_number_the_type_of_the_other() -> None:
    prices = struct.constant([1.5, None, 3.0])
    assert struct.where([True, False, False], prices, 0).to_py() == [1.5, 0.0, 0.0]
    small = struct.constant(np.arange(2, dtype=np.int16))
    assert struct.where([True, False], -1, small).arrow_type == "int16"
    assert struct.where([True, False], small, 2**20).to_py() == [0, 2**20]
    assert struct.where([True, False], 1, 2.5).to_py() == [1.0, 2.5]
    assert struct.where([True, False], struct.constant([1, 2]), 2.5).to_py() == [1.0, 2.5]
    with pytest.raises(
        cst.errors.SchemaError, match="no type holds both the integer 9007199254740993"
    ):
        struct.where([True, False], struct.constant([2**53 + 1, 2]), 2.5)


def test_where_says_what_does_not_fit() -> None:
    with pytest.raises(IndexError, match=r"row \[1\]"):
        struct.where([[True], [True]], [[1], []], 0)
    with pytest.raises(cst.errors.SchemaError, match="no type holds both"):
        struct.where([True], ["a"], [1])
    with pytest.raises(cst.errors.ArgumentError, match="both x and y"):
        struct.where([True], [1])
    with pytest.raises(cst.errors.ArgumentError, match="dimensions"):
        struct.where([True], [[1]], [1])


def test_where_without_choices_gives_coordinates() -> None:
    assert struct.where([[True, None], None, [False, True]]).to_py() == [[0, 0], [2, 1]]
    assert struct.where([]).shape == (0, 1)
    assert struct.where(True).shape == (1, 0)


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ((0, 5), r"dimension 1: the length of row \[0\] is 2"),
        ((-1, 0, 4), r"dimension 2: the length of row \[1\]\[0\] is 1"),
        ((slice(1, None), 1), r"dimension 1: the length of row \[1\] is 1"),
        ((1, np.array([7])), r"dimension 1: the length of row \[1\] is 1"),
        ((9,), r"dimension 0: the length of it is 2"),
    ],
)
def test_the_row_of_an_error_is_that_of_the_tensor(key: tuple[Any, ...], place: str) -> None:
    tensor = cst.struct.constant([[[1, 2], [4]], [[3]]])
    with pytest.raises(cst.errors.IndexingError, match=place) as caught:
        tensor[key]
    assert caught.value.record == (None if len(key) == 1 else 0 if key[0] == 0 else 1)


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 63, 64, 65, 200])
def test_masks_of_numpy_of_every_length(length: int) -> None:
    values = np.random.default_rng(length).integers(0, 4, length, np.uint8)
    values[values == 2] = 0x80  # any byte that is not 0 is true
    rows = cst.struct.from_arrow(pa.array(range(length), pa.int64()))
    wanted = [i for i in range(length) if values[i] != 0]
    for mask in (values != 0, values.view(np.bool_), np.repeat(values != 0, 2)[::2]):
        assert rows[mask].to_py() == wanted


@pytest.mark.parametrize("kind", ["int8", "int16", "float32", "int64", "bytes"])
@pytest.mark.parametrize("most", [3, 40, 160, 700])
def test_stretches_of_every_length_are_copied(kind: str, most: int) -> None:
    rng = np.random.default_rng(most)
    lengths = rng.integers(0, most, 60)
    rows: list[list[Any]] = []
    for at, length in enumerate(lengths):
        numbers = [(at * 31 + i) % 120 for i in range(length)]
        rows.append([b"%d" % n for n in numbers] if kind == "bytes" else numbers)
    of_values = pa.binary() if kind == "bytes" else pa.type_for_alias(kind)
    st = cst.StructuredTensor.from_arrow(
        pa.array([{"x": row} for row in rows], pa.struct([("x", pa.large_list(of_values))]))
    )
    for mask in (rng.random(60) < 0.5, np.arange(60) % 7 > 0, np.arange(60) == 59):
        wanted = [row for row, keep in zip(rows, mask, strict=True) if keep]
        assert st[mask]["x"].to_py() == wanted
    cut = st["x"][:, 1 : most // 2]
    assert cut.to_py() == [row[1 : most // 2] for row in rows]
