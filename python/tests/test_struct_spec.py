"""Specs of structured tensors: from and to Arrow, equality, pickling, what fits them."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
import random
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone.struct import constant

Leaf, Spec = cst.struct.LeafSpec, cst.struct.StructuredTensorSpec

EVENTS = Spec(
    [None],
    {
        "id": Leaf([None], "int64"),
        "pair": Leaf([None, 2], "float32", nullable=False),
        "events": Spec([None, None], {"tags": Leaf([None, None, None], "string")}),
    },
)


def test_a_spec_is_what_a_value_is() -> None:
    made = constant([{"id": 1, "pair": [1, 2], "events": [{"tags": ["x"]}]}], EVENTS)
    assert made.spec == EVENTS
    assert EVENTS.field_specs["events"].shape == (None, None)
    assert constant({"a": [1]}).spec == Spec([], {"a": Leaf([None], "int64")})
    assert constant([[1.5]]).spec == Leaf([None, None], "float64")
    assert constant(np.zeros((2, 3, 4), "f4")).spec == Leaf([None, 3, 4], "float32")
    assert (EVENTS.rank, EVENTS.shape, EVENTS.field_names()) == (
        1,
        (None,),
        ("id", "pair", "events"),
    )


def test_repr() -> None:
    assert repr(EVENTS) == (
        "StructuredTensorSpec: struct [None]\n"
        "  id: int64 [None]\n"
        "  pair: float32 [None, 2] not null\n"
        "  events: struct [None, None]\n"
        "    tags: string [None, None, None]"
    )
    assert repr(Leaf([], "bool", nullable=False)) == "LeafSpec: bool [] not null"


def test_equality_hash_and_pickles() -> None:
    again = Spec([None], dict(reversed(EVENTS.field_specs.items())))
    assert again == EVENTS and hash(EVENTS) == hash(again)
    others = [
        Spec([3], EVENTS.field_specs),
        Spec([None], EVENTS.field_specs, nullable=False),
        Spec([None], {"id": EVENTS.field_specs["id"]}),
        Leaf([None], "int64"),
        Leaf([None], "int64", nullable=False),
        Leaf([None], "int32"),
        Leaf([2], "int64"),
    ]
    assert len({EVENTS, again, *others}) == 1 + len(others)
    assert EVENTS != 3 and Leaf([], "int8") != "int8"
    for spec in (EVENTS, *others):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(spec, protocol)) == spec
        assert copy.deepcopy(spec) == spec


def test_specs_do_not_change() -> None:
    for action in (
        lambda: setattr(EVENTS, "shape", ()),
        lambda: setattr(Leaf([], "int8"), "dtype", "x"),
        lambda: EVENTS.field_specs.__setitem__("x", 1),  # type: ignore[attr-defined]
    ):
        with pytest.raises((AttributeError, TypeError)):
            action()


# ---- types ----


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("int8", "int8"),
        (np.float32, "float32"),
        (np.dtype(">i2"), "int16"),
        (np.bool_, "bool"),
        (np.str_, "string"),
        (np.dtype("U7"), "string"),
        (np.dtype("S3"), "binary"),
        (np.dtype("M8[D]"), "date32"),
        (np.dtype("M8[ns]"), "timestamp[ns]"),
        (np.dtype("m8[s]"), "duration[s]"),
        (bool, "bool"),
        (int, "int64"),
        (float, "float64"),
        (str, "string"),
        (bytes, "binary"),
        (dt.date, "date32"),
        (dt.datetime, "timestamp[us]"),
        (dt.timedelta, "duration[us]"),
        (pa.string(), "string"),
        (pa.large_binary(), "binary"),
        (pa.string_view(), "string"),
        (pa.timestamp("ms", "Europe/Berlin"), "timestamp[ms, tz=Europe/Berlin]"),
        (pa.decimal128(10, 2), "decimal128(10, 2)"),
        (pa.decimal256(50, -2), "decimal256(50, -2)"),
        (pa.binary(7), "fixed_size_binary[7]"),
        (pa.time64("ns"), "time64[ns]"),
        (pa.date64(), "date64"),
        (pa.null(), "null"),
        (pa.dictionary(pa.int8(), pa.large_string()), "string"),
        ("halffloat", None),
        ("double", "float64"),
        ("large_string", "string"),
        ("timestamp[us, tz=UTC]", "timestamp[us, tz=UTC]"),
        ("int65", None),
        ("", None),
    ],
)
def test_names_of_types(dtype: Any, name: str | None) -> None:
    if name is None:
        with pytest.raises(cst.errors.ArgumentError, match="is unknown"):
            Leaf([], dtype)
        return
    spec = Leaf([None], dtype)
    assert spec.dtype == name
    assert Leaf([None], name) == spec
    assert Leaf.from_arrow(spec) == spec


def test_types_of_other_frameworks() -> None:
    torch = pytest.importorskip("torch")
    assert Leaf([], torch.float32).dtype == "float32"


def test_what_is_no_type() -> None:
    with pytest.raises(cst.errors.ArgumentError, match="nested"):
        Leaf([], pa.list_(pa.int8()))
    for wrong in (3.5, None):
        with pytest.raises((TypeError, cst.errors.ArgumentError)):
            Leaf([], wrong)


# ---- from and to Arrow ----


@pytest.mark.parametrize(
    ("type", "is_row", "spec"),
    [
        (pa.int32(), False, Leaf([None], "int32")),
        (pa.int32(), True, Leaf([], "int32")),
        (pa.list_(pa.int32(), 3), False, Leaf([None, 3], "int32")),
        (pa.list_(pa.list_view(pa.string())), True, Leaf([None, None], "string")),
        (pa.dictionary(pa.int8(), pa.string()), False, Leaf([None], "string")),
        (pa.struct({"a": pa.int8()}), False, Spec([None], {"a": Leaf([None], "int8")})),
        (pa.struct({"a": pa.int8()}), True, Spec([], {"a": Leaf([], "int8")})),
        (
            pa.large_list(pa.struct({"a": pa.large_list(pa.date32())})),
            False,
            Spec([None, None], {"a": Leaf([None, None, None], "date32")}),
        ),
        (
            pa.map_(pa.string(), pa.int8()),
            True,
            Spec(
                [None],
                {"key": Leaf([None], "string", nullable=False), "value": Leaf([None], "int8")},
                nullable=False,
            ),
        ),
    ],
)
def test_from_arrow(type: pa.DataType, is_row: bool, spec: Any) -> None:
    cls = Spec if isinstance(spec, Spec) else Leaf
    other = Leaf if cls is Spec else Spec
    assert cls.from_arrow(type, is_row) == spec
    assert cls.from_arrow(pa.field("x", type), is_row) == spec
    with pytest.raises(cst.errors.ArgumentError, match="from_arrow"):
        other.from_arrow(type, is_row)


def test_schemas_of_tables() -> None:
    schema = pa.schema([pa.field("a", pa.int8(), nullable=False), ("b", pa.list_(pa.utf8()))])
    spec = Spec.from_arrow(schema)
    assert spec.field_specs == {
        "a": Leaf([None], "int8", nullable=False),
        "b": Leaf([None, None], "string"),
    }
    assert pa.schema(spec).field("a") == schema.field("a")


def test_to_arrow() -> None:
    field = pa.field(EVENTS)
    tags = pa.struct({"tags": pa.large_list(pa.large_string())})
    assert field.type == pa.struct(
        [
            pa.field("id", pa.int64()),
            pa.field("pair", pa.list_(pa.field("item", pa.float32(), nullable=False), 2)),
            pa.field("events", pa.large_list(pa.field("item", tags))),
        ]
    )  # fmt: skip
    assert Spec.from_arrow(EVENTS) == EVENTS
    assert str(Leaf([2, 3, None], "int8").arrow_schema) == "fixed_size_list<large_list<int8>>[3]"


def test_types_without_a_place() -> None:
    union = pa.dense_union([pa.field("x", pa.int8())])
    with pytest.raises(cst.errors.UnsupportedError) as caught:
        Spec.from_arrow(pa.struct({"a": pa.list_(pa.struct({"u": union}))}))
    assert caught.value.path == "a.u"
    assert "'+ud:0'" in str(caught.value)
    with pytest.raises(cst.errors.ArgumentError, match="two fields"):
        Spec.from_arrow(pa.struct([("a", pa.int8()), ("a", pa.int8())]))


# ---- shapes ----


def test_dimensions_are_known_from_either_side() -> None:
    spec = Spec([2, None], {"a": Leaf([None, 3], "int8"), "b": Leaf([None, None, 4], "int8")})
    assert spec.shape == (2, 3)
    assert [field.shape for field in spec.field_specs.values()] == [(2, 3), (2, 3, 4)]
    assert Leaf([-1, 2], "int8").shape == (None, 2)
    with pytest.raises(
        cst.errors.ArgumentError, match=r"field 'a' has the shape \[3\], expected \[2\]"
    ):
        Spec([2], {"a": Leaf([3], "int8")})
    with pytest.raises(cst.errors.ArgumentError, match="field 'a'") as caught:
        Spec([None], {"a": Leaf([], "int8")})
    assert caught.value.path == "a"


def test_deep_specs_are_made_in_no_time() -> None:
    spec: Any = Leaf([None] * 40, "int8")
    for rank in range(39, 0, -1):
        spec = Spec([None] * rank, {"a": spec})
    assert Spec([5], spec.field_specs).shape == (5,)


@pytest.mark.parametrize("shape", [3, "12", None, [1.5], [True], ["1"]])
def test_what_is_no_shape(shape: Any) -> None:
    with pytest.raises(TypeError):
        Leaf(shape, "int8")


def test_bad_specs() -> None:
    with pytest.raises(cst.errors.ArgumentError):
        Leaf([-2], "int8")
    with pytest.raises(cst.errors.ArgumentError):
        Leaf([2**31], "int8")
    with pytest.raises(TypeError, match="expected a LeafSpec"):
        Spec([], {"a": "int8"})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="name of a field"):
        Spec([], {1: Leaf([], "int8")})  # type: ignore[dict-item]
    with pytest.raises(cst.errors.ArgumentError, match="NUL"):
        Spec([], {"a\0": Leaf([], "int8")})


# ---- what fits ----


def test_compatible_values() -> None:
    rows: list[Any] = [{"id": 1, "pair": [1, 2], "events": [{"tags": []}]}, None]
    made = constant(rows, EVENTS)
    assert EVENTS.is_compatible_with(made)
    assert Spec([2], EVENTS.field_specs).is_compatible_with(made)
    assert not Spec([3], EVENTS.field_specs).is_compatible_with(made)
    assert not Spec([None], EVENTS.field_specs, nullable=False).is_compatible_with(made)
    assert Leaf([2, 2], "int64").is_compatible_with(constant([[1, 2], [3, 4]]))
    assert not Leaf([2, 2], "int64").is_compatible_with(constant([[1, 2], [3, 4], [5, 6]]))
    assert not Leaf([None, 2], "int32").is_compatible_with(constant([[1, 2]]))
    assert not Leaf([None], "int64", nullable=False).is_compatible_with(constant([1, None]))
    assert Leaf([None], "int64", nullable=False).is_compatible_with(constant([1]))
    one = Spec([], {"a": Leaf([], "int64", nullable=False)})
    assert one.is_compatible_with(constant({"a": 1}))
    assert not one.is_compatible_with(constant({"a": None}))
    assert not one.is_compatible_with(constant({"a": 1, "b": 2}))
    assert not one.is_compatible_with(constant(1))
    assert not one.is_compatible_with({"a": 1})


def test_compatible_specs() -> None:
    assert EVENTS.is_compatible_with(Spec([3], EVENTS.field_specs))
    assert Spec([3], EVENTS.field_specs).is_compatible_with(EVENTS)
    assert not Spec([3], EVENTS.field_specs).is_compatible_with(Spec([2], EVENTS.field_specs))
    assert not EVENTS.is_compatible_with(Leaf([None], "int64"))
    assert not EVENTS.is_compatible_with(Spec([None], {"id": Leaf([None], "int64")}))
    assert Leaf([], "int8").is_compatible_with(Leaf([], "int8", nullable=False))
    assert not Leaf([], "int8", nullable=False).is_compatible_with(Leaf([], "int8"))


def test_random_specs_come_back_from_arrow() -> None:
    rng = random.Random(3)

    def make(dims: tuple[int | None, ...], depth: int) -> Any:
        shape = dims + tuple(rng.choice([None, 2, 0]) for _ in range(rng.randrange(3)))
        nullable = rng.random() < 0.7
        if depth == 3 or rng.random() < 0.4:
            return Leaf(shape, rng.choice(["int8", "string", "bool", "date32"]), nullable)
        fields = {f"f{i}": make(shape, depth + 1) for i in range(rng.randrange(3))}
        return Spec(shape, fields, nullable)

    for _ in range(100):
        for dims in ((), (None,)):
            spec = make(dims, 0)
            if dims or spec.rank == 0:
                assert type(spec).from_arrow(spec, not dims) == spec
            assert spec.is_compatible_with(spec)
            assert pickle.loads(pickle.dumps(spec)) == spec


# ---- the names of the RFC ----


def test_dense_and_ragged_specs_are_views() -> None:
    fields = {"x": Leaf([2, 3, 10], "int32")}
    dense = cst.struct.DenseStructuredTensorSpec([2, 3], fields)
    assert dense == Spec([2, 3], fields)
    assert isinstance(dense, cst.struct.DenseStructuredTensorSpec)
    assert not isinstance(dense, cst.struct.RaggedStructuredTensorSpec)
    values = Spec(
        [None], {"x": Leaf([None, 10], "int32"), "s": Spec([None], {"y": Leaf([None], "bool")})}
    )
    ragged = cst.struct.RaggedStructuredTensorSpec([4, None], values, np.int64)
    assert isinstance(ragged, cst.struct.RaggedStructuredTensorSpec)
    assert not isinstance(ragged, cst.struct.DenseStructuredTensorSpec)
    assert (ragged.shape, ragged.field_specs["x"].shape) == ((4, None), (4, None, 10))
    assert ragged.field_specs["s"].field_specs["y"].shape == (4, None)
    made = cst.struct.RaggedStructuredTensor.from_row_splits(constant([{"a": 1}]), [0, 0, 1])
    spec = cst.struct.RaggedStructuredTensorSpec([None, None], constant([{"a": 1}]).spec)
    assert made.spec == spec
    assert not isinstance(Leaf([None, None], "int8"), cst.struct.RaggedStructuredTensorSpec)
    for bad in (([2], values), ([2, 3, 4], Spec([2, 5], {}))):
        with pytest.raises(cst.errors.ArgumentError, match="above"):
            cst.struct.RaggedStructuredTensorSpec(*bad)
    with pytest.raises(cst.errors.ArgumentError, match="int32, expected int64"):
        cst.struct.RaggedStructuredTensorSpec([2, None], values, "int32")
    with pytest.raises(TypeError, match="values_spec"):
        cst.struct.RaggedStructuredTensorSpec([2, None], Leaf([None], "int8"))  # type: ignore[arg-type]
