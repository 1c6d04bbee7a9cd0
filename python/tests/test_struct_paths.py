"""Fields that come, go and move: with_updates, without, with_only, promote, broadcast."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone import _core

LOG = [
    {"id": 1, "event": [{"query": "a", "price": [1.5, 2.5]}, {"query": "b", "price": None}]},
    {"id": 2, "event": []},
    {"id": 3, "event": None},
    {"id": 4, "event": [{"query": "c", "price": []}]},
]


def nested(value: Any, is_row: bool = False) -> Any:
    return _core.structured(cst.array(value), is_row)


@pytest.fixture
def log() -> Any:
    return nested(LOG)


def events(st: Any) -> list[Any]:
    return [row["event"] for row in st.to_py()]


# --- with_updates -----------------------------------------------------------------------------


def test_fields_are_replaced_in_place_and_added_at_the_end(log: Any) -> None:
    changed = log.with_updates(id=["w", "x", "y", "z"], n=[1, 2, 3, 4])
    assert changed.field_names() == ("id", "event", "n")
    assert changed["id"].to_py() == ["w", "x", "y", "z"]
    assert changed["n"].to_py() == [1, 2, 3, 4]
    assert log.to_py() == LOG


def test_values_at_paths_have_the_dimensions_of_the_structs(log: Any) -> None:
    changed = log.with_updates({"event.n": [[7, 8], [], None, [9]]})
    assert events(changed) == [
        [{"query": "a", "price": [1.5, 2.5], "n": 7}, {"query": "b", "price": None, "n": 8}],
        [],
        None,
        [{"query": "c", "price": [], "n": 9}],
    ]
    assert log.with_updates({("event", "a.b"): [[1, 2], [], [], [3]]})["event.a.b"].to_py() == [
        [1, 2],
        [],
        None,
        [3],
    ]


@pytest.mark.parametrize("value", [7, 2.5, "x", b"x", True, np.float32(2.5), np.array(7), {"a": 1}])
def test_a_scalar_is_the_value_of_every_struct(log: Any, value: Any) -> None:
    plain = value.item() if hasattr(value, "item") else value
    assert log.with_updates(n=value)["n"].to_py() == [plain] * 4
    assert log.with_updates({"event.n": value})["event.n"].to_py() == [
        [plain] * 2,
        [],
        None,
        [plain],
    ]


def test_values_come_from_anywhere(log: Any) -> None:
    for value in [
        np.array([1, 2, 3, 4]),
        pa.array([1, 2, 3, 4]),
        pa.chunked_array([[1, 2], [3, 4]]),
        cst.array([1, 2, 3, 4]),
        nested([1, 2, 3, 4]),
        (1, 2, 3, 4),
    ]:
        assert log.with_updates(n=value)["n"].to_py() == [1, 2, 3, 4]
    assert log.with_updates(n=np.eye(4, 2))["n"].shape == (4, 2)


def test_a_function_is_called_with_the_field_as_it_is(log: Any) -> None:
    changed = log.with_updates({"id": lambda old: np.asarray(old._array) * 10})
    assert changed["id"].to_py() == [10, 20, 30, 40]
    seen = []
    log.with_updates({"event.price": lambda old: seen.append(old.shape) or old})
    assert seen == [(4, None, None)]
    with pytest.raises(cst.errors.NotFoundError):
        log.with_updates({"event.x": lambda old: old})


def test_what_does_not_change_is_shared(log: Any) -> None:
    changed = log.with_updates({"event.n": [[7, 8], [], None, [9]]})
    for path in ["id", "event.query", "event.price"]:
        before, after = pa.array(log[path]), pa.array(changed[path])
        for a, b in zip(before.buffers(), after.buffers(), strict=True):
            assert (a and a.address) == (b and b.address)


def test_rows_of_other_lengths_are_errors(log: Any) -> None:
    with pytest.raises(
        cst.errors.ArgumentError, match=r"'event.n': row \[3\]: 2 values for 1 structs"
    ) as e:
        log.with_updates({"event.n": [[7, 8], [], None, [9, 9]]})
    assert e.value.record == 3
    with pytest.raises(cst.errors.ArgumentError, match="3 values for 4 structs"):
        log.with_updates(n=[1, 2, 3])
    with pytest.raises(cst.errors.ArgumentError, match="a value of rank 1 for structs of rank 2"):
        log.with_updates({"event.n": [1, 2, 3, 4]})


def test_wrong_updates_are_errors(log: Any) -> None:
    with pytest.raises(cst.errors.NotFoundError, match="did you mean 'event'"):
        log.with_updates({"events.n": 1})
    with pytest.raises(cst.errors.SchemaError, match="no fields below values of type int64"):
        log.with_updates({"id.n": 1})
    with pytest.raises(cst.errors.ArgumentError, match="changed twice"):
        log.with_updates({"event": 1, "event.query": 2})
    with pytest.raises(
        cst.errors.ArgumentError, match="the value of 'id' is None, which has no type"
    ):
        log.with_updates(id=None)
    with pytest.raises(TypeError):
        log.with_updates({3: 1})


def test_a_scalar_struct_takes_values_of_any_rank() -> None:
    recipe = nested([{"title": "Snickerdoodle"}], is_row=True)
    changed = recipe.with_updates(steps=["mix", "bake"], minutes=20)
    assert changed.to_py() == {"title": "Snickerdoodle", "steps": ["mix", "bake"], "minutes": 20}


# --- without, with_only -----------------------------------------------------------------------


def test_without(log: Any) -> None:
    assert log.without("event").to_py() == [{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}]
    assert events(log.without("event.price", "id")) == [
        [{"query": "a"}, {"query": "b"}],
        [],
        None,
        [{"query": "c"}],
    ]
    assert log.without("event.price", "event").field_names() == ("id",)
    assert log.without().to_py() == LOG
    with pytest.raises(cst.errors.NotFoundError, match="did you mean 'price'"):
        log.without("event.prices")
    for call in [log.without, log.with_only]:
        with pytest.raises(KeyError):
            call("x")


def test_structs_without_fields_keep_their_count(log: Any) -> None:
    empty = log.without("id", "event")
    assert empty.to_py() == [{}, {}, {}, {}]
    assert empty.shape == (4,)
    assert events(log.without("event.query", "event.price")) == [[{}, {}], [], None, [{}]]
    assert log.with_only().to_py() == [{}, {}, {}, {}]


def test_with_only(log: Any) -> None:
    kept = log.with_only("event.query", "id")
    assert kept.field_names() == ("event", "id")
    assert events(kept) == [[{"query": "a"}, {"query": "b"}], [], None, [{"query": "c"}]]
    assert log.with_only("event", "event.query")["event"].field_names() == ("query", "price")
    with pytest.raises(cst.errors.NotFoundError, match="did you mean 'query'"):
        log.with_only("id", "event.queri")


def test_updates_of_slices_share_what_they_keep() -> None:
    table = pa.array([{"s": [{"x": i, "y": str(i)}] * (i % 3)} for i in range(100)])
    part = nested(table[50:60])
    changed = part.with_updates({"s.z": part["s.x"]})
    assert [[e["z"] for e in row["s"]] for row in changed.to_py()] == [
        [i] * (i % 3) for i in range(50, 60)
    ]
    assert changed["s.x"].to_py() == part["s.x"].to_py()


# --- promote ----------------------------------------------------------------------------------

SESSIONS = [
    {
        "id": "s1",
        "event": [
            {"query": "a", "action": [{"doc": 1, "tag": ["x"]}, None, {"doc": 2, "tag": None}]},
            {"query": "b", "action": None},
            None,
        ],
    },
    {"id": "s2", "event": [{"query": "c", "action": []}]},
    {"id": "s3", "event": []},
    {"id": "s4", "event": None},
    {"id": "s5", "event": [{"query": None, "action": [{"doc": None, "tag": ["y", "z"]}]}]},
]


@pytest.fixture
def sessions() -> Any:
    return nested(SESSIONS)


def test_promote_goes_to_the_struct_above_the_fields_own(sessions: Any) -> None:
    queries = [["a", "b", None], ["c"], [], None, [None]]
    assert sessions.promote("event.query")["query"].to_py() == queries
    up = sessions.promote("event.action.doc")
    assert up["event.doc"].to_py() == [
        [[1, None, 2], None, None],
        [[]],
        [],
        None,
        [[None]],
    ]
    with pytest.raises(cst.errors.ArgumentError, match="nothing above the structs of this field"):
        sessions.promote("id")


def test_promote_to_any_struct_above(sessions: Any) -> None:
    assert sessions.promote("event.action.doc", to="", name="docs")["docs"].to_py() == [
        [1, None, 2],
        [],
        [],
        None,
        [None],
    ]
    assert sessions.promote(("event", "action", "tag"), (), "tags")["tags"].to_py() == [
        ["x"],
        [],
        [],
        None,
        ["y", "z"],
    ]
    same = sessions.promote("event.query", to="event", name="q")
    assert same["event.q"].to_py() == same["event.query"].to_py()


def test_promote_takes_whole_structs(sessions: Any) -> None:
    actions = sessions.promote("event.action", to="", name="all")["all"]
    assert actions.to_py() == [
        [{"doc": 1, "tag": ["x"]}, None, {"doc": 2, "tag": None}],
        [],
        [],
        None,
        [{"doc": None, "tag": ["y", "z"]}],
    ]
    assert actions["tag"].shape == (5, None, None)


def test_promote_of_a_scalar_struct() -> None:
    recipe = nested([{"title": "t", "rating": [{"score": 0.8}, {"score": 0.4}]}], is_row=True)
    assert recipe.promote("rating.score", name="scores")["scores"].to_py() == [0.8, 0.4]


def test_promote_in_several_dimensions(sessions: Any) -> None:
    rows = pa.array([SESSIONS[:2], None, [], SESSIONS[2:]])
    assert nested(rows).promote("event.query")["query"].to_py() == [
        [["a", "b", None], ["c"]],
        None,
        [],
        [[], None, [None]],
    ]


def test_promotion_over_one_list_shares_all(sessions: Any) -> None:
    promoted = sessions.promote("event.query")
    before = pa.array(sessions["event.query"]).buffers()
    after = pa.array(promoted["query"]).buffers()
    assert [b and b.address for b in before[1:2]] == [b and b.address for b in after[1:2]]
    assert [b and b.address for b in before[3:]] == [b and b.address for b in after[3:]]


# --- broadcast --------------------------------------------------------------------------------


def test_broadcast_gives_every_struct_below_the_value_above(sessions: Any) -> None:
    assert sessions.broadcast("id", "event")["event.id"].to_py() == [
        ["s1", "s1", None],
        ["s2"],
        [],
        None,
        ["s5"],
    ]
    deep = sessions.broadcast("id", into="event.action", name="session")
    assert deep["event.action.session"].to_py() == [
        [["s1", None, "s1"], None, None],
        [[]],
        [],
        None,
        [["s5"]],
    ]


def test_broadcast_copies_lists_and_structs_whole() -> None:
    st = nested(
        [
            {"doc": [{"n": 1, "t": ["a", "b"]}, {"n": 2, "t": None}], "user": [{"u": 1}, {"u": 2}]},
            {"doc": None, "user": [{"u": 3}]},
            {"doc": [{"n": 3, "t": []}], "user": []},
        ]
    )
    docs = st.broadcast("doc", "user")["user.doc"].to_py()
    assert docs == [[row["doc"]] * len(row["user"]) for row in st.to_py()]


def test_broadcast_of_slices_and_filtered_rows() -> None:
    table = pa.array([{"id": str(i), "s": [{"x": i}] * (i % 4)} for i in range(200)])
    for part in (table[100:150], table.filter(pa.array([i % 3 == 0 for i in range(200)]))):
        st = nested(part)
        expected = [[row["id"]] * len(row["s"]) for row in part.to_pylist()]
        assert st.broadcast("id", "s")["s.id"].to_py() == expected


# --- promote_and_broadcast --------------------------------------------------------------------


def test_fields_go_up_to_the_last_common_struct_and_down_from_there(sessions: Any) -> None:
    made = sessions.promote_and_broadcast(
        {"session": "id", "q": "event.query", "docs": "event.action.doc"}, into="event"
    )
    first, _, null = made.to_py()[0]["event"]
    assert null is None
    assert (first["session"], first["q"], first["docs"]) == ("s1", "a", [1, None, 2])
    st = nested(
        [{"a": [{"x": 1}, {"x": 2}], "b": [{"y": 5}, {"y": 6}]}, {"a": [], "b": [{"y": 7}]}]
    )
    assert st.promote_and_broadcast({"xs": "a.x"}, "b")["b.xs"].to_py() == [[[1, 2]] * 2, [[]]]


def test_fields_are_made_of_the_tensor_as_it_was() -> None:
    st = nested([{"id": 1, "a": [{"x": 5}, {"x": 6}]}])
    swapped = st.promote_and_broadcast({"x": "id", "old": "a.x"}, "a", replace=True)
    assert swapped["a"].to_py() == [[{"x": 1, "old": 5}, {"x": 1, "old": 6}]]


# --- errors of all three ----------------------------------------------------------------------


def test_an_existing_name_is_an_error_unless_replaced(sessions: Any) -> None:
    exists = r"the field already exists \(replace it explicitly"
    for call in [
        lambda **how: sessions.promote("event.query", name="id", **how),
        lambda **how: sessions.broadcast("id", "event", name="query", **how),
        lambda **how: sessions.promote_and_broadcast({"query": "id"}, "event", **how),
    ]:
        with pytest.raises(cst.errors.ArgumentError, match=exists):
            call()
        assert call(replace=True).field_names() == ("id", "event")
    assert sessions.promote("event.query", name="event", replace=True)["event"].to_py()[1] == ["c"]


def test_wrong_directions_are_errors(sessions: Any) -> None:
    with pytest.raises(cst.errors.ArgumentError, match="not above it"):
        sessions.promote("id", to="event")
    with pytest.raises(cst.errors.ArgumentError, match="not below its own"):
        sessions.broadcast("event.query", into="")
    with pytest.raises(cst.errors.ArgumentError, match="not below its own"):
        sessions.broadcast("id", into="", name="i")


def test_missing_fields_are_errors(sessions: Any) -> None:
    for call in [
        lambda: sessions.promote("event.queri"),
        lambda: sessions.broadcast("id", "event.actions"),
        lambda: sessions.promote_and_broadcast({"x": "event.queri"}, "event"),
    ]:
        with pytest.raises(cst.errors.NotFoundError, match="did you mean"):
            call()
    with pytest.raises(cst.errors.SchemaError, match="no fields below values"):
        sessions.broadcast("id", "event.query")


# --- apply ------------------------------------------------------------------------------------

PRICES = [
    {"event": [{"price": 1.0, "count": 2, "tag": ["a", "b"]}, None], "id": 1},
    {"event": [], "id": 2},
    {"event": None, "id": 3},
    {"event": [{"price": None, "count": 3, "tag": []}, {"price": 4.0, "count": 5, "tag": None}]},
]


@pytest.fixture
def prices() -> Any:
    return nested(PRICES)


def test_apply_maps_all_values_at_once(prices: Any) -> None:
    shapes = []

    def double(values: Any) -> Any:
        shapes.append((type(values), values.shape))
        return values * 2

    made = prices.apply(double, "event.price", name="event.double")
    assert made["event.double"].to_py() == [[2.0, None], [], None, [None, 8.0]]
    assert shapes == [(np.ndarray, (2,))]
    assert made["event.price"].to_py() == prices["event.price"].to_py()


def test_apply_takes_several_sources_where_all_are_there(prices: Any) -> None:
    made = prices.apply(np.multiply, "event.price", "event.count", name=("event", "total"))
    assert made["event.total"].to_py() == [[2.0, None], [], None, [None, 20.0]]


def test_apply_to_lists_keeps_their_structure(prices: Any) -> None:
    upper = prices.apply(lambda tags: [t.upper() for t in tags], "event.tag", name="event.upper")
    assert upper["event.upper"].to_py() == [[["A", "B"], None], [], None, [[], None]]
    whole = nested([{"x": [1, 2]}, {"x": []}, {"x": [3]}])
    made = whole.apply(np.negative, "x", name="y")
    before, after = pa.array(made["x"]).buffers(), pa.array(made["y"]).buffers()
    assert before[1].address == after[1].address
    assert made["y"].to_py() == [[-1, -2], [], [-3]]


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (lambda v: v > 2, [False, True]),
        (lambda v: v.astype(np.float32), [1.0, 4.0]),
        (lambda v: v.astype(np.int8), [1, 4]),
        (lambda v: [str(int(x)) for x in v], ["1", "4"]),
        (lambda v: np.array([str(int(x)) for x in v]), ["1", "4"]),
        (lambda v: np.array([b"x"] * len(v), object), [b"x", b"x"]),
        (lambda v: pa.array(v), [1.0, 4.0]),
    ],
)
def test_results_of_apply_are_plain_values(prices: Any, fn: Any, expected: list[Any]) -> None:
    made = prices.apply(fn, "event.price", name="event.y")["event.y"].to_py()
    assert made == [[expected[0], None], [], None, [None, expected[1]]]


def test_apply_replaces_its_source(prices: Any) -> None:
    made = prices.apply(np.log1p, "event.price", replace=True)
    assert made["event"].field_names() == ("price", "count", "tag")
    assert made["event.price"].to_py()[0] == [np.log1p(1.0), None]
    with pytest.raises(
        cst.errors.ArgumentError, match=r"the field 'event.price' already exists \(replace"
    ):
        prices.apply(np.log1p, "event.price")


def test_wrong_results_of_apply_are_errors(prices: Any) -> None:
    with pytest.raises(cst.errors.ArgumentError, match="the function returned 1 values for 2"):
        prices.apply(lambda v: v[:1], "event.price", name="event.y")
    with pytest.raises(cst.errors.ArgumentError, match="returned one value for 2"):
        prices.apply(np.sum, "event.price", name="event.y")
    with pytest.raises(cst.errors.UnsupportedError, match="values of type large_list"):
        prices.apply(lambda v: [[1]] * len(v), "event.price", name="event.y")
    with pytest.raises(ZeroDivisionError):
        prices.apply(lambda v: 1 / 0, "event.price", name="event.y")


def test_sources_of_apply_that_do_not_fit_are_errors(prices: Any) -> None:
    with pytest.raises(cst.errors.ArgumentError, match="belong to different structs"):
        prices.apply(np.add, "event.price", "id", name="event.y")
    with pytest.raises(cst.errors.ArgumentError, match="belong to different structs"):
        prices.apply(np.log1p, "event.price", name="y")
    with pytest.raises(cst.errors.ArgumentError, match="3 and 2 dimensions"):
        prices.apply(np.add, "event.price", "event.tag", name="event.y")
    with pytest.raises(cst.errors.SchemaError, match="contains structs"):
        prices.apply(np.add, "event", name="y")
    lists = nested([{"a": [{"x": [1], "y": [1]}, {"x": [1, 2], "y": [3]}]}])
    with pytest.raises(
        cst.errors.ArgumentError, match=r"row \[0, 1\]: 'a.y' and 'a.x' have 1 and 2"
    ) as e:
        lists.apply(np.add, "a.x", "a.y", name="a.z")
    assert e.value.record == 0
    with pytest.raises(cst.errors.NotFoundError):
        prices.apply(np.log1p, "event.prize", name="event.y")


def test_apply_gives_functions_of_torch_its_tensors(prices: Any) -> None:
    torch = pytest.importorskip("torch")
    made = prices.apply(torch.log1p, "event.price", name="event.y")
    assert made["event.y"].to_py()[0] == pytest.approx([np.log1p(1.0), None])
    seen = []
    prices.apply(lambda v: seen.append(type(v)) or v, "id", name="y", using="torch")
    assert seen == [torch.Tensor]
    relu = prices.apply(torch.nn.ReLU(), "event.price", name="event.y")
    assert relu["event.y"].to_py() == prices["event.price"].to_py()


def test_apply_gives_functions_of_jax_its_arrays(prices: Any) -> None:
    jnp = pytest.importorskip("jax.numpy")
    made = prices.apply(jnp.negative, "event.price", name="event.y")
    assert made["event.y"].to_py() == [[-1.0, None], [], None, [None, -4.0]]
