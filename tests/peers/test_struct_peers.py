"""Structured tensors against TensorFlow's and Awkward's: both as partners where they are right, and
what they get wrong, each with a test of its own that shows ours right.

A fault that a new version of a peer has mended is a warning, not a failure.
"""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import awkward as ak
import columnstone as cst
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

StructuredTensor = tf.experimental.StructuredTensor
Rows = list[dict[str, Any]]

RECIPE = {
    "title": "cookies",
    "ingredients": [{"name": "flour", "steps": [1, 2]}, {"name": "sugar", "steps": [3]}],
}
RAGGED: Rows = [{"v": [1, 2], "n": 1}, {"v": [3], "n": 2}, {"v": [4, 5, 6], "n": 3}]


def has_fault(*exceptions: type[BaseException]) -> Any:
    """A peer still fails in this way within the block."""
    return _Fault(exceptions)


@dataclasses.dataclass
class _Fault:
    exceptions: tuple[type[BaseException], ...]

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        if kind is None:
            warnings.warn("the peer is mended: trust it here", stacklevel=2)
        return kind is None or issubclass(kind, self.exceptions)


def is_wrong(condition: bool) -> None:
    if not condition:
        warnings.warn("the peer is mended: trust it here", stacklevel=2)


def our(value: Any) -> Any:
    return cst.struct.constant(value)


def plain(value: Any) -> Any:
    """Of a peer: bytes as text."""
    if isinstance(value, dict):
        return {name: plain(v) for name, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value.decode() if isinstance(value, bytes) else value


def of_tf(value: Any) -> Any:
    for name in ("to_pyval", "to_list"):
        if hasattr(value, name):
            return plain(getattr(value, name)())
    found = value.numpy()
    return plain(found.tolist() if isinstance(found, np.ndarray) else found)


# Partners


@st.composite
def sessions(draw: st.DrawFn) -> Rows:
    """Rows of structs of lists; never without any row, struct and value, of which TensorFlow would
    not know the type."""
    random = Random(draw(st.integers(0, 1 << 32)))

    def event(least: int) -> dict[str, Any]:
        values = [random.randrange(100) for _ in range(random.randrange(least, 4))]
        return {"id": random.randrange(9), "flag": random.random() < 0.5, "v": values}

    rows: Rows = [{"id": 0, "event": [event(1)]}]
    for i in range(1, random.randrange(1, 6)):
        rows.append({"id": i, "event": [event(0) for _ in range(random.randrange(4))]})
    random.shuffle(rows)
    return rows


@settings(max_examples=60)
@given(sessions())
def test_the_same_paths_as_tensorflow(rows: Rows) -> None:
    theirs, ours = StructuredTensor.from_pyval(rows), our(rows)
    assert ours.to_py() == of_tf(theirs)
    assert ours["event", "id"].to_py() == of_tf(theirs[:, "event", :, "id"])
    assert ours["event", "v"].to_py() == of_tf(theirs[:, "event", :, "v"])
    assert ours[:, "event", :, "v", ::2].to_py() == of_tf(theirs[:, "event", :, "v", ::2])
    assert ours[:, "event", ::-1, "id"].to_py() == of_tf(theirs[:, "event", ::-1, "id"])
    assert ours[-1].to_py() == of_tf(theirs[-1])
    assert ours[-1, "event"].to_py() == of_tf(theirs[-1]["event"])


@settings(max_examples=60)
@given(sessions())
def test_the_same_promotions_and_updates_as_tensorflow(rows: Rows) -> None:
    theirs, ours = StructuredTensor.from_pyval(rows), our(rows)
    promoted = ours.promote("event.v", name="v")
    assert promoted.to_py() == of_tf(theirs.promote(("event", "v"), "v"))
    of_ids = ours.promote("event.id", name="ids")
    assert of_ids.to_py() == of_tf(theirs.promote(("event", "id"), "ids"))
    doubled = ours.with_updates(id=lambda old: old.numpy() * 2)
    assert doubled.to_py() == of_tf(theirs.with_updates({"id": lambda old: old * 2}))
    without = theirs.with_updates({("event", "v"): None})
    assert ours.without("event.v").to_py() == of_tf(without)


@settings(max_examples=60)
@given(sessions())
def test_the_same_dimensions_as_tensorflow(rows: Rows) -> None:
    theirs, ours = StructuredTensor.from_pyval(rows), our(rows)
    flat = theirs.field_value("event").merge_dims(0, 1)
    assert ours["event"].merge_dims(0, 1).to_py() == of_tf(flat)
    splits = [0, 1, 1, len(rows)]
    partition = tf.experimental.RowPartition.from_row_splits(splits)
    parts = ours.partition_outer_dimension(splits)
    assert parts.to_py() == of_tf(theirs.partition_outer_dimension(partition))


KEYS: list[Any] = [
    np.s_[:, 0:2],
    np.s_[:, ::-1],
    np.s_[..., ::2],
    np.s_[:, 1:, :1],
    np.s_[1:, :, -2:],
    np.s_[::-2, ..., 0:1],
    np.s_[:, None, :1],
    np.s_[..., None],
    np.s_[0],
    np.s_[-1, :, ::3],
    np.s_[:, 0],
    np.s_[0, 0],
    np.s_[:, :, 0],
    np.s_[:, -1:, 0],
]


@settings(max_examples=60)
@given(sessions(), st.sampled_from(KEYS))
def test_the_same_elements_as_awkward(rows: Rows, key: Any) -> None:
    """And where there is no such element, both say so."""
    theirs, ours = ak.Array(rows)["event", "v"], our(rows)["event", "v"]
    try:
        expected = ak.to_list(theirs[key])
    except IndexError:
        with pytest.raises(IndexError):
            ours[key]
        return
    assert ours[key].to_py() == expected


@settings(max_examples=60)
@given(sessions(), st.randoms(use_true_random=False))
def test_the_same_choices_as_awkward(rows: Rows, random: Random) -> None:
    theirs, ours = ak.Array(rows), our(rows)
    mask = np.array([random.random() < 0.5 for _ in rows])
    places = np.array([random.randrange(-len(rows), len(rows)) for _ in range(4)])
    assert ours[mask].to_py() == ak.to_list(theirs[mask])
    assert ours[places].to_py() == ak.to_list(theirs[places])
    by_field = ours["event"][ours["event", "flag"]]
    assert by_field.to_py() == ak.to_list(theirs["event"][theirs["event", "flag"]])
    ends = [[[0, -1] if e["v"] else [] for e in row["event"]] for row in rows]
    by_ours = cst.struct.from_arrow(pa.array(ends, pa.large_list(pa.large_list(pa.int64()))))
    picked = ak.to_list(theirs["event", "v"][ak.Array(ends)])
    assert ours["event", "v"][by_ours].to_py() == picked


@settings(max_examples=60)
@given(sessions())
def test_the_same_broadcasts_and_joins_as_awkward(rows: Rows) -> None:
    theirs, ours = ak.Array(rows), our(rows)
    below = ours.broadcast("id", into="event", name="row")
    assert below.to_py() == ak.to_list(ak.with_field(theirs, theirs["id"], ["event", "row"]))
    flat = ours.promote("event.v", name="v")["v"]
    assert flat.to_py() == ak.to_list(ak.flatten(theirs["event", "v"], axis=2))
    for axis in range(2):
        events = [ours["event"], ours["event"][:, ::-1]]
        of_awkward = [theirs["event"], theirs["event"][:, ::-1]]
        joined = cst.struct.concat(events, axis=axis)
        assert joined.to_py() == ak.to_list(ak.concatenate(of_awkward, axis=axis))


@settings(max_examples=60)
@given(sessions())
def test_the_same_values_as_awkward_where_lists_are_null(rows: Rows) -> None:
    lists = [None if i % 3 == 0 else row["event"] for i, row in enumerate(rows)]
    array = pa.array(lists, pa.array([row["event"] for row in rows]).type)
    ours, theirs = cst.struct.from_arrow(array), ak.from_arrow(array)
    assert ours["id"].to_py() == ak.to_list(theirs["id"])
    assert ours[:, ::-1].to_py() == ak.to_list(theirs[:, ::-1])
    assert ours["v"][..., :1].to_py() == ak.to_list(theirs["v"][..., :1])


# What TensorFlow gets wrong: part by part


def test_a_name_on_a_vector() -> None:
    with has_fault(TypeError):
        StructuredTensor.from_pyval(RECIPE)["ingredients"]["name"]
    assert our(RECIPE)["ingredients"]["name"].to_py() == ["flour", "sugar"]
    assert our(RECIPE)["ingredients", ["name"]].to_py() == [{"name": "flour"}, {"name": "sugar"}]


@pytest.mark.parametrize(("place", "expected"), [(0, [1, 3, 4]), (-1, [2, 3, 6])])
def test_a_column_of_a_ragged_dimension(place: int, expected: list[int]) -> None:
    with has_fault(ValueError):
        StructuredTensor.from_pyval(RAGGED)[:, "v", place]
    assert our(RAGGED)[:, "v", place].to_py() == expected


def test_out_of_range_in_a_ragged_dimension_names_the_row() -> None:
    with pytest.raises(IndexError) as error:
        our(RAGGED)[:, "v", 1]
    assert isinstance(error.value, cst.Error)
    assert re.search(r"\[1\]", str(error.value))  # the row
    assert "1" in str(error.value)  # its length


def test_a_new_axis() -> None:
    with has_fault(ValueError):
        StructuredTensor.from_pyval(RAGGED)[None]
    assert our(RAGGED)[None].to_py() == [RAGGED]
    assert our(RAGGED)["v"][:, None, :].to_py() == [[[1, 2]], [[3]], [[4, 5, 6]]]


def test_masks_and_lists_of_places() -> None:
    theirs = StructuredTensor.from_pyval(RAGGED)
    with has_fault(TypeError, ValueError):
        theirs[np.array([True, False, True])]
    with has_fault(TypeError, ValueError):
        theirs[[0, 2]]
    assert our(RAGGED)[np.array([True, False, True])].to_py() == [RAGGED[0], RAGGED[2]]
    assert our(RAGGED)[[0, 2]].to_py() == [RAGGED[0], RAGGED[2]]


def test_the_path_of_promote_may_be_text() -> None:
    with has_fault(TypeError):
        StructuredTensor.from_pyval(RECIPE).promote(["ingredients", "steps"], "all")
    for path in ("ingredients.steps", ("ingredients", "steps")):
        assert our(RECIPE).promote(path, name="all")["all"].to_py() == [1, 2, 3]


def test_promote_does_not_overwrite_silently() -> None:
    theirs = StructuredTensor.from_pyval(RECIPE).promote(("ingredients", "steps"), "title")
    is_wrong(of_tf(theirs)["title"] == [1, 2, 3])
    with pytest.raises(cst.Error, match="title"):
        our(RECIPE).promote("ingredients.steps", name="title")
    replaced = our(RECIPE).promote("ingredients.steps", name="title", replace=True)
    assert replaced["title"].to_py() == [1, 2, 3]


def test_promote_to_any_ancestor() -> None:
    """TensorFlow's goes to the parent of the parent, and no further."""
    value = {"a": {"b": [{"c": [{"d": 1}, {"d": 2}]}]}}
    ours = our(value)
    assert ours.promote("a.b.c.d", to="a", name="d")["a", "d"].to_py() == [1, 2]
    assert ours.promote("a.b.c.d", to="", name="d")["d"].to_py() == [1, 2]


ABSENT = ["broadcast", "apply", "promote_and_broadcast", "without", "with_only", "to_py"]


@pytest.mark.parametrize("name", ABSENT)
def test_operations_that_were_promised(name: str) -> None:
    is_wrong(not hasattr(StructuredTensor, name))
    assert callable(getattr(cst.StructuredTensor, name))


def test_updates_by_keywords() -> None:
    with has_fault(TypeError):
        StructuredTensor.from_pyval(RECIPE).with_updates(title="x")
    assert our(RECIPE).with_updates(title="x")["title"].to_py() == "x"


TWICE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Any]] = {
    "concat": (
        lambda t: tf.concat([t, t], 0),
        lambda t: cst.struct.concat([t, t]),
        RAGGED + RAGGED,
    ),
    "stack": (lambda t: tf.stack([t, t]), lambda t: cst.struct.stack([t, t]), [RAGGED, RAGGED]),
    "tile": (lambda t: tf.tile(t, [2]), lambda t: cst.struct.tile(t, [2]), RAGGED + RAGGED),
    "expand_dims": (
        lambda t: tf.expand_dims(t, 0),
        lambda t: cst.struct.expand_dims(t, 0),
        [RAGGED],
    ),
    "gather": (
        lambda t: tf.gather(t, [2, 0]),
        lambda t: cst.struct.gather(t, [2, 0]),
        [RAGGED[2], RAGGED[0]],
    ),
    "gather_nd": (
        lambda t: tf.gather_nd(t, [[1]]),
        lambda t: cst.struct.gather_nd(t, [[1]]),
        [RAGGED[1]],
    ),
    "boolean_mask": (
        lambda t: tf.boolean_mask(t, [True, False, True]),
        lambda t: cst.struct.boolean_mask(t, [True, False, True]),
        [RAGGED[0], RAGGED[2]],
    ),
    "reverse": (
        lambda t: tf.reverse(t, [0]),
        lambda t: cst.struct.reverse(t, 0),
        RAGGED[::-1],
    ),
    "where": (
        lambda t: tf.where([True, False, True], t, t),
        lambda t: cst.struct.where([True, False, True], t, t[::-1]),
        [RAGGED[0], RAGGED[1], RAGGED[2]],
    ),
    "squeeze": (
        lambda t: tf.squeeze(tf.expand_dims(t, 0)),
        lambda t: cst.struct.squeeze(cst.struct.expand_dims(t, 0)),
        RAGGED,
    ),
    "zeros_like": (
        tf.zeros_like,
        cst.struct.zeros_like,
        [{"v": [0] * len(row["v"]), "n": 0} for row in RAGGED],
    ),
}


@pytest.mark.parametrize("name", TWICE)
def test_operations_that_tensorflow_does_not_import(name: str) -> None:
    """ "object has no len()": some come with a private module, some never."""
    theirs, ours, expected = TWICE[name]
    with has_fault(ValueError, TypeError):
        theirs(StructuredTensor.from_pyval(RAGGED))
    assert ours(our(RAGGED)).to_py() == expected


def test_unstack() -> None:
    with has_fault(ValueError, TypeError):
        tf.unstack(StructuredTensor.from_pyval(RAGGED))
    assert [row.to_py() for row in cst.struct.unstack(our(RAGGED))] == RAGGED


BAD_VALUES = [
    ([{"a": 1}, {"a": "x"}], ["a", "1"]),
    ([{"a": 1}, {"a": [1]}], ["a", "1"]),
    ([{"c": {"x": 1}}, {"c": {"y": 1}}], ["c", "1", "y"]),
    ([{"x": 1, "y": 1}, {"x": 1}], ["y", "1"]),
    ([{"x": 1}, {"x": 1, "y": 1}], ["y", "1"]),
]


@pytest.mark.parametrize(("value", "parts"), BAD_VALUES)
def test_errors_of_constant_say_where(value: Rows, parts: list[str]) -> None:
    """TensorFlow's is a KeyError, or "Error parsing path", without the row."""
    with pytest.raises((ValueError, KeyError)) as theirs:
        StructuredTensor.from_pyval(value)
    is_wrong("1" not in str(theirs.value).replace("'y'", ""))
    with pytest.raises(cst.Error) as ours:
        our(value)
    for part in parts:
        assert part in str(ours.value)


def test_none_is_a_value() -> None:
    with has_fault(ValueError):
        StructuredTensor.from_pyval([{"x": 1}, {"x": None}])
    assert our([{"x": 1}, {"x": None}]).to_py() == [{"x": 1}, {"x": None}]


def test_empty_lists_are_no_float32() -> None:
    is_wrong(getattr(StructuredTensor.from_pyval([]), "dtype", None) == tf.float32)
    ours = our([])
    assert ours.to_py() == []
    assert "float" not in ours.arrow_type


def test_no_row_is_lost_where_structs_have_no_fields() -> None:
    for value in ([{}], [{}, {}, {}], [[{}, {}], [], [{}]]):
        ours = our(value)
        assert ours.to_py() == value
        assert ours.nrows() == len(value)


@pytest.mark.parametrize("name", ["_index_", "a-b", "a.b", "é", "1", "a b"])
def test_any_name(name: str) -> None:
    with has_fault(ValueError):
        StructuredTensor.from_pyval({name: 1})
    assert our([{name: 1}])[name].to_py() == [1]


def test_merge_of_one_dimension_changes_nothing() -> None:
    with has_fault(AssertionError):
        StructuredTensor.from_pyval(RAGGED).merge_dims(0, 0)
    assert our(RAGGED).merge_dims(0, 0).to_py() == RAGGED


def test_fields_of_other_lengths_are_always_refused() -> None:
    """In a graph TensorFlow builds the tensor, and `validate` says nothing."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)] * 2)
    def build(a: Any, b: Any) -> Any:
        return StructuredTensor.from_fields({"a": a, "b": b}, shape=[None], validate=False)

    with has_fault(AssertionError):
        build(tf.constant([1, 2]), tf.constant([1, 2, 3])).to_pyval()
    with pytest.raises(cst.Error) as error:
        cst.StructuredTensor.from_fields({"a": [1, 2], "b": [1, 2, 3]})
    assert "b" in str(error.value) and "3" in str(error.value)


def test_a_data_frame_keeps_its_names() -> None:
    """TensorFlow makes a matrix of one whose columns are of one type."""
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    is_wrong(not isinstance(StructuredTensor.from_pyval(frame), StructuredTensor))
    ours = cst.StructuredTensor.from_pandas(frame)
    assert ours.to_py() == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]
    assert ours.to_pandas().equals(frame)


def test_dense_is_seen_in_the_shape() -> None:
    """TensorFlow's of a 2x2 matrix has the shape (2, None)."""
    value = [[{"x": 1}, {"x": 2}], [{"x": 3}, {"x": 4}]]
    is_wrong(StructuredTensor.from_pyval(value).shape.as_list() == [2, None])
    assert our(value).shape == (2, 2)


# What Awkward gets wrong, or leaves out


def test_a_step_of_zero_is_an_error() -> None:
    """Awkward never comes back from it, so it is not asked."""
    with pytest.raises((ValueError, cst.Error)):
        our([[1, 2, 3], [4]])[:, ::0]


def test_a_dot_in_a_path() -> None:
    with has_fault(LookupError):
        ak.Array([{"a": {"b": 1}}])["a.b"]
    assert our([{"a": {"b": 1}}])["a.b"].to_py() == [1]


def test_an_update_does_not_stretch_one_row() -> None:
    """An array of one value is taken for a scalar."""
    rows: Rows = [{"id": 1}, {"id": 2}]
    is_wrong(len(ak.with_field(ak.Array(rows), np.array([7]), "q")) == 2)
    with pytest.raises(cst.Error):
        our(rows).with_updates(q=np.array([7]))
    assert our(rows).with_updates(q=7)["q"].to_py() == [7, 7]


def test_mixed_types_are_no_union() -> None:
    is_wrong("union" in str(ak.Array([{"a": 1}, {"a": "x"}]).type))
    with pytest.raises(cst.Error, match="a"):
        our([{"a": 1}, {"a": "x"}])


def test_joining_does_not_change_numbers() -> None:
    """float32 and int64 become float64 in Awkward, whatever is lost."""
    large = 2**53 + 1
    theirs = ak.concatenate([np.array([1], np.float32), np.array([large])])
    is_wrong(ak.to_list(theirs)[1] != large)
    with pytest.raises(cst.Error):
        cst.struct.concat([our([1.5]), our([large])])


def test_two_fields_of_one_name() -> None:
    """Awkward shows the second, and drops the first."""
    array = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    is_wrong(ak.to_list(ak.from_arrow(array)) == [{"a": 2}])
    with pytest.raises(cst.Error, match="a"):
        cst.struct.from_arrow(array)["a"]


def test_a_null_in_a_mask_is_false() -> None:
    """Awkward makes a null row of it, numpy's users count what comes out."""
    mask = pa.array([True, None, False])
    assert our(RAGGED)[mask].to_py() == [RAGGED[0]]


def test_a_type_without_nulls_stays_so() -> None:
    """Through Arrow, all of Awkward's values may be null."""
    array = pa.array([[1], [2]], pa.list_(pa.field("item", pa.int64(), nullable=False)))
    assert pa.array(cst.struct.from_arrow(array)).type == array.type


def test_there_are_stack_and_tile() -> None:
    is_wrong(not hasattr(ak, "stack") and not hasattr(ak, "tile"))
    values = our([[1], [2, 3]])
    assert cst.struct.stack([values, values], axis=1).to_py() == [[[1], [1]], [[2, 3], [2, 3]]]
    assert cst.struct.tile(values, [1, 2]).to_py() == [[1, 1], [2, 3, 2, 3]]


def test_errors_name_the_row_not_the_compiled_code() -> None:
    rows = [[1, 2], []]
    with pytest.raises(IndexError) as theirs:
        ak.Array(rows)[:, 0]
    is_wrong("https://" in str(theirs.value))
    with pytest.raises(IndexError) as ours:
        our(rows)[:, 0]
    assert "[1]" in str(ours.value)
    assert "http" not in str(ours.value)
