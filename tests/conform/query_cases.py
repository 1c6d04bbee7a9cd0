"""What queries give, written by hand: small queries over three sessions, every construct of the
language with its nulls, empty lists and errors.

The first session has everything: a null event, a null list of actions, a null value. The second is
null all over, the third has empty lists. `output x = EXPR` is what an Expression case stands for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa

ACTION = pa.struct([("name", pa.string()), ("views", pa.int64())])
EVENT = pa.struct(
    [
        ("query", pa.string()),
        ("price", pa.float32()),
        ("clicked", pa.bool_()),
        ("action", pa.list_(ACTION)),
    ]
)
TYPE = pa.schema(
    [
        ("id", pa.int64()),
        ("user", pa.struct([("name", pa.string()), ("age", pa.int8())])),
        ("tags", pa.list_(pa.string())),
        ("event", pa.large_list(EVENT)),
        ("counts", pa.map_(pa.string(), pa.int64())),
        ("grid", pa.list_(pa.list_(pa.int32()))),
    ]
)
SHOES = {
    "query": "shoes",
    "price": 1.5,
    "clicked": True,
    "action": [{"name": "buy", "views": 3}, {"name": "see", "views": None}],
}
BLANK = {"query": None, "price": 2.0, "clicked": False, "action": []}
HAT = {"query": "hat", "price": None, "clicked": None, "action": None}
FULL = {
    "id": 7,
    "user": {"name": "ann", "age": 100},
    "tags": ["a", "b"],
    "event": [SHOES, BLANK, None, HAT],
    "counts": [{"key": "x", "value": 1}, {"key": "y", "value": None}, {"key": "x", "value": 3}],
    "grid": [[1, 2], [], None, [3]],
}
NULLS = dict.fromkeys(FULL)
EMPTY = {
    "id": 9,
    "user": {"name": None, "age": None},
    "tags": [],
    "event": [],
    "counts": [],
    "grid": [],
}
RECORDS: list[dict[str, Any]] = [FULL, NULLS, EMPTY]
FAILS = "fails"  # the record is refused


class Expression(NamedTuple):
    """`type`: of the column, lists in brackets; a value for each record, or FAILS."""

    text: str
    type: str
    values: list[Any]


class Whole(NamedTuple):
    """Statements: each record gives rows."""

    text: str
    rows: list[Any]
    params: dict[str, Any] = {}  # noqa: RUF012, which is never changed


class Tensor(NamedTuple):
    """dense, ragged, sparse (as positions and values)."""

    text: str
    values: list[Any]


EXPRESSIONS = [
    # paths: what lies above stays as lists, a null struct makes its fields null
    Expression("id", "int64", [7, None, 9]),
    Expression("user.name", "string", ["ann", None, None]),
    Expression("tags", "[string]", [["a", "b"], None, []]),
    Expression("event.query", "[string]", [["shoes", None, None, "hat"], None, []]),
    Expression("event.action.views", "[[int64]]", [[[3, None], [], None, None], None, []]),
    Expression("grid", "[[int32]]", [[[1, 2], [], None, [3]], None, []]),
    Expression("record.id", "int64", [7, None, 9]),
    Expression("`id`", "int64", [7, None, 9]),
    Expression("user", "{name: string, age: int8}", [FULL["user"], None, EMPTY["user"]]),
    # literals have every place
    Expression("12", "int64", [12, 12, 12]),
    Expression("-1.5e0", "float64", [-1.5] * 3),
    Expression('"a\\n\\u{e9}"', "string", ["a\né"] * 3),
    Expression('b"\\xff"', "bytes", [b"\xff"] * 3),
    Expression("true", "bool", [True] * 3),
    # elementwise: null in, null out; values from above are repeated
    Expression("id + 1", "int64", [8, None, 10]),
    Expression("event.price * 2", "[float32]", [[3.0, 4.0, None, None], None, []]),
    Expression("event.price + id", "[float64]", [[8.5, 9.0, None, None], None, []]),
    Expression("event.action.views + id", "[[int64]]", [[[10, None], [], None, None], None, []]),
    Expression(
        "event.action.views * event.price", "[[float64]]", [[[4.5, None], [], None, None], None, []]
    ),
    Expression("user.age + 100", "int8", [FAILS, None, None]),
    Expression("user.age + 200", "int64", [300, None, None]),
    Expression("cast(user.age, int32) + 100", "int32", [200, None, None]),
    Expression("id // 2", "int64", [3, None, 4]),
    Expression("-id // 2", "int64", [-4, None, -5]),
    Expression("-id % 4", "int64", [1, None, 3]),
    Expression("id / 2", "float64", [3.5, None, 4.5]),
    Expression("event.price / 2", "[float32]", [[0.75, 1.0, None, None], None, []]),
    Expression("id // 0", "int64", [FAILS, None, FAILS]),
    Expression("1 + 2 * 3 - 4", "int64", [3] * 3),
    Expression("(1 + 2) * 3", "int64", [9] * 3),
    Expression("id == 7", "bool", [True, None, False]),
    Expression("id != 7", "bool", [False, None, True]),
    Expression('event.query < "i"', "[bool]", [[False, None, None, True], None, []]),
    Expression("id in [1, 7]", "bool", [True, None, False]),
    Expression("id not in [1, 7]", "bool", [False, None, True]),
    Expression("id is null", "bool", [False, True, False]),
    Expression("user is not null", "bool", [True, False, True]),
    Expression("event.query is null", "[bool]", [[False, True, True, False], None, []]),
    Expression("event.clicked and true", "[bool]", [[True, False, None, None], None, []]),
    Expression("event.clicked and false", "[bool]", [[False] * 4, None, []]),
    Expression("event.clicked or true", "[bool]", [[True] * 4, None, []]),
    Expression("event.clicked or false", "[bool]", [[True, False, None, None], None, []]),
    Expression("not event.clicked", "[bool]", [[False, True, None, None], None, []]),
    Expression("not id == 7 or id == 7 and id > 100", "bool", [False, None, True]),
    Expression("if(event.clicked, event.price, 0)", "[float32]", [[1.5, 0.0, 0.0, 0.0], None, []]),
    Expression("fill_null(id, 0)", "int64", [7, 0, 9]),
    Expression("fill_null(event.price, -1)", "[float32]", [[1.5, 2.0, -1.0, -1.0], None, []]),
    Expression('lower("ABC") + upper("d")', "string", ["abcD"] * 3),
    Expression("len(event.query)", "[int64]", [[5, None, None, 3], None, []]),
    Expression("substr(user.name, 1, 3)", "string", ["nn", None, None]),
    Expression('starts_with(user.name, "an")', "bool", [True, None, None]),
    Expression('contains(user.name, "nn")', "bool", [True, None, None]),
    Expression("minimum(id, 8)", "int64", [7, None, 8]),
    Expression("clip(id, 8, 8)", "int64", [8, None, 8]),
    Expression("bucketize(id, [7, 8])", "int64", [1, None, 2]),
    Expression("abs(-id)", "int64", [7, None, 9]),
    Expression("floor(id / 2)", "float64", [3.0, None, 4.0]),
    Expression("cast(id / 2, int64)", "int64", [FAILS, None, FAILS]),
    Expression("cast(id + 300, int8)", "int8", [FAILS, None, FAILS]),
    Expression('split("a,b", ",")', "[string]", [["a", "b"]] * 3),
    Expression('split(user.name, "n")', "[string]", [["a", "", ""], None, None]),
    # where
    Expression("(event where clicked).query", "[string]", [["shoes"], None, []]),
    Expression("(event where not clicked).price", "[float32]", [[2.0], None, []]),
    Expression("(event where clicked or price > 1).price", "[float32]", [[1.5, 2.0], None, []]),
    Expression("event.price where it > 1.5", "[float32]", [[2.0], None, []]),
    Expression('tags where it == "b"', "[string]", [["b"], None, []]),
    Expression("tags where id == 7", "[string]", [["a", "b"], None, []]),
    Expression("tags where record.id == 0", "[string]", [[], None, []]),
    Expression("(event where it.price > 1).price", "[float32]", [[1.5, 2.0], None, []]),
    Expression("(event where it is null).price", "[float32]", [[None], None, []]),
    Expression("(event where has(action)).query", "[string]", [["shoes"], None, []]),
    Expression("(event where any(action.views > 2)).query", "[string]", [["shoes"], None, []]),
    Expression("(event where record.event.price > 1).price", "[float32]", [[1.5, 2.0], None, []]),
    Expression(
        "(event where size(tags) == 2).price", "[float32]", [[1.5, 2.0, None, None], None, []]
    ),
    Expression(
        "(event.action where views > 2).name", "[[string]]", [[["buy"], [], None, None], None, []]
    ),
    Expression(
        "(event.action where event.price > 1).name",
        "[[string]]",
        [[["buy", "see"], [], None, None], None, []],
    ),
    Expression("user where id == 7", "{name: string, age: int8}", [FULL["user"], None, None]),
    Expression("id where id > 8", "int64", [None, None, 9]),
    # slices
    Expression("tags[:1]", "[string]", [["a"], None, []]),
    Expression("tags[1:]", "[string]", [["b"], None, []]),
    Expression("tags[::-1]", "[string]", [["b", "a"], None, []]),
    Expression("tags[-1:]", "[string]", [["b"], None, []]),
    Expression("event.price[1:3]", "[float32]", [[2.0, None], None, []]),
    Expression("event[:2].price", "[float32]", [[1.5, 2.0], None, []]),
    Expression("event[::2].price", "[float32]", [[1.5, None], None, []]),
    Expression("event.action[:1].name", "[[string]]", [[["buy"], [], None, None], None, []]),
    Expression("grid[1:]", "[[int32]]", [[[2], [], None, []], None, []]),
    Expression("tags[:id]", "[string]", [["a", "b"], None, []]),
    Expression("tags[size(tags) - 1:]", "[string]", [["b"], None, []]),
    # one element
    Expression("tags[0]", "string", ["a", None, None]),
    Expression("tags[-1]", "string", ["b", None, None]),
    Expression("tags[2]", "string", [None, None, None]),
    Expression("event[0].query", "string", ["shoes", None, None]),
    Expression("event[0].action.name", "[string]", [["buy", "see"], None, None]),
    Expression("event[2].action.name", "[string]", [None, None, None]),
    Expression("event.action[0].name", "[string]", [["buy", None, None, None], None, []]),
    Expression(
        "event.action[0]",
        "[{name: string, views: int64}]",
        [[SHOES["action"][0], None, None, None], None, []],
    ),
    Expression("grid[0]", "[int32]", [[1, None, None, 3], None, []]),
    Expression("grid[0][1]", "int32", [None, None, None]),
    Expression("tags[id - 7]", "string", ["a", None, None]),
    # maps: the last of equal keys
    Expression('counts["x"]', "int64", [3, None, None]),
    Expression('counts["y"]', "int64", [None, None, None]),
    Expression('counts["z"]', "int64", [None, None, None]),
    Expression("counts.key", "[string]", [["x", "y", "x"], None, []]),
    Expression("size(counts)", "int64", [3, None, 0]),
    Expression("zip(m=counts, n=counts)[-9].m", "{key: string, value: int64}", [None, None, None]),
    # structs and zip
    Expression(
        "{a: id, b: user.name}",
        "{a: int64, b: string}",
        [{"a": 7, "b": "ann"}, {"a": None, "b": None}, {"a": 9, "b": None}],
    ),
    Expression(
        "{p: event.price, i: id}",
        "[{p: float32, i: int64}]",
        [[{"p": p, "i": 7} for p in (1.5, 2.0, None, None)], None, []],
    ),
    Expression(
        "zip(a=tags, b=event[:2].price)",
        "[{a: string, b: float32}]",
        [[{"a": "a", "b": 1.5}, {"a": "b", "b": 2.0}], None, []],
    ),
    Expression("zip(a=tags, b=event.price)", "[{a: string, b: float32}]", [FAILS, None, []]),
    Expression("zip(a=tags, b=tags)[0].b", "string", ["a", None, None]),
    Expression("only(user, age)", "{age: int8}", [{"age": 100}, None, {"age": None}]),
    Expression(
        "without(event, action, query, clicked)",
        "[{price: float32}]",
        [[{"price": 1.5}, {"price": 2.0}, None, {"price": None}], None, []],
    ),
    # order
    Expression("reverse(tags)", "[string]", [["b", "a"], None, []]),
    Expression("sort(event.price)", "[float32]", [[1.5, 2.0, None, None], None, []]),
    Expression(
        "sort(event.price, descending=true)", "[float32]", [[2.0, 1.5, None, None], None, []]
    ),
    Expression("sort(event, by=query).query", "[string]", [["hat", "shoes", None, None], None, []]),
    Expression(
        "sort(event, by=price > 5).query", "[string]", [["shoes", None, None, "hat"], None, []]
    ),
    Expression(
        "sort(event, by=size(action), descending=true).query",
        "[string]",
        [["shoes", None, None, "hat"], None, []],
    ),
    Expression("drop_null(event).price", "[float32]", [[1.5, 2.0, None], None, []]),
    Expression("drop_null(event.price)", "[float32]", [[1.5, 2.0], None, []]),
    Expression("index(event)", "[int64]", [[0, 1, 2, 3], None, []]),
    Expression("index_from_end(event)", "[int64]", [[-4, -3, -2, -1], None, []]),
    Expression("index(event.action)", "[[int64]]", [[[0, 1], [], None, None], None, []]),
    Expression("flatten(event.action.views, to=record)", "[int64]", [[3, None], None, []]),
    Expression("flatten(grid, to=record)", "[int32]", [[1, 2, 3], None, []]),
    Expression(
        "flatten(event.action.views, to=event)",
        "[[int64]]",
        [[[3, None], [], None, None], None, []],
    ),
    # aggregates: one value for the record
    Expression("sum(event.action.views)", "int64", [3, None, 0]),
    Expression("sum(event.price)", "float32", [3.5, None, 0.0]),
    Expression("mean(event.price)", "float32", [1.75, None, None]),
    Expression("min(event.price)", "float32", [1.5, None, None]),
    Expression("max(event.query)", "string", ["shoes", None, None]),
    Expression("first(event.query)", "string", ["shoes", None, None]),
    Expression("last(event.price)", "float32", [None, None, None]),
    Expression("any(event.clicked)", "bool", [True, None, False]),
    Expression("all(event.clicked)", "bool", [False, None, True]),
    Expression("count(event)", "int64", [3, 0, 0]),
    Expression("count(event.price)", "int64", [2, 0, 0]),
    Expression("size(event)", "int64", [4, None, 0]),
    Expression("size(event.action)", "int64", [2, None, 0]),
    Expression("has(event)", "bool", [True, False, False]),
    Expression("has(user)", "bool", [True, False, True]),
    Expression("has(id)", "bool", [True, False, True]),
    Expression("count(id)", "int64", [1, 0, 1]),
    Expression("count_distinct(counts.key)", "int64", [2, 0, 0]),
    Expression('join(tags, "-")', "string", ["a-b", None, ""]),
    Expression('join(event.query, "")', "string", ["shoeshat", None, ""]),
    Expression("sum(event.price where it > 1.5)", "float32", [2.0, None, 0.0]),
    # ... or for each element of per=, broadcast from there
    Expression("size(event.action, per=event)", "[int64]", [[2, 0, None, None], None, []]),
    Expression("count(event.action, per=event)", "[int64]", [[2, 0, 0, 0], None, []]),
    Expression("sum(event.action.views, per=event)", "[int64]", [[3, 0, None, None], None, []]),
    Expression("max(size(event.action, per=event))", "int64", [2, None, None]),
    Expression(
        "event.price / sum(event.price, per=record)",
        "[float32]",
        [[1.5 / 3.5, 2.0 / 3.5, None, None], None, []],
    ),
    Expression("size(grid)", "int64", [3, None, 0]),
    Expression("size(tags, per=record) + id", "int64", [9, None, 9]),
]

TENSORS = [
    Tensor("dense(id, default=0)", [7, 0, 9]),
    Tensor("dense(id)", [7, FAILS, 9]),
    Tensor('dense(tags, shape=[3], default="")', [["a", "b", ""], [""] * 3, [""] * 3]),
    Tensor("dense(tags, shape=[2])", [["a", "b"], FAILS, FAILS]),
    Tensor('dense(tags, shape=[1], default="")', [FAILS, [""], [""]]),
    Tensor('dense(tags[:1], shape=[1], default="")', [["a"], [""], [""]]),
    Tensor(
        "dense(grid, shape=[4, 2], default=-1)",
        [[[1, 2], [-1, -1], [-1, -1], [3, -1]], [[-1, -1]] * 4, [[-1, -1]] * 4],
    ),
    Tensor(
        "dense(event.price, shape=[4], default=9)", [[1.5, 2.0, 9.0, 9.0], [9.0] * 4, [9.0] * 4]
    ),
    Tensor("ragged(tags)", [["a", "b"], [], []]),
    Tensor("ragged(event.price)", [FAILS, [], []]),
    Tensor("ragged(drop_null(event.price))", [[1.5, 2.0], [], []]),
    Tensor("ragged(event.price, default=0)", [[1.5, 2.0, 0.0, 0.0], [], []]),
    Tensor("ragged(grid)", [[[1, 2], [], [], [3]], [], []]),
    Tensor("ragged(tags, row_splits=int32)", [["a", "b"], [], []]),
    Tensor("sparse(id)", [7, None, 9]),
    Tensor("sparse(tags)", [[(0, "a"), (1, "b")], [], []]),
    Tensor("sparse(event.price)", [[(0, 1.5), (1, 2.0)], [], []]),
    Tensor("sparse(grid)", [[(0, 0, 1), (0, 1, 2), (3, 0, 3)], [], []]),
    Tensor("sparse(event.action.name)", [[(0, 0, "buy"), (0, 1, "see")], [], []]),
]

WHOLE = [
    Whole(
        "keep id, user.age",
        [
            [{"id": 7, "user": {"age": 100}}],
            [{"id": None, "user": None}],
            [{"id": 9, "user": {"age": None}}],
        ],
    ),
    Whole(
        "keep event.price",
        [
            [{"event": [{"price": 1.5}, {"price": 2.0}, None, {"price": None}]}],
            [{"event": None}],
            [{"event": []}],
        ],
    ),
    Whole(
        "keep user.*, tags",
        [
            [{"user": FULL["user"], "tags": ["a", "b"]}],
            [{"user": None, "tags": None}],
            [{"user": EMPTY["user"], "tags": []}],
        ],
    ),
    Whole(
        "drop event, counts, grid, user.name",
        [
            [{"id": 7, "user": {"age": 100}, "tags": ["a", "b"]}],
            [{"id": None, "user": None, "tags": None}],
            [{"id": 9, "user": {"age": None}, "tags": []}],
        ],
    ),
    Whole("keep ** drop event", [[r] for r in RECORDS]),
    Whole(
        "rename user.age as years  keep user.years",
        [
            [{"user": {"years": 100}}],
            [{"user": None}],
            [{"user": {"years": None}}],
        ],
    ),
    Whole("rename id as key  output x = key", [[{"x": 7}], [{"x": None}], [{"x": 9}]]),
    # where a value stands: its place
    Whole(
        "let user.next = user.age - 1  keep user.next",
        [
            [{"user": {"next": 99}}],
            [{"user": None}],
            [{"user": {"next": None}}],
        ],
    ),
    # ... promoted, as one list
    Whole(
        "let queries = event.query  output x = queries",
        [
            [{"x": ["shoes", None, None, "hat"]}],
            [{"x": None}],
            [{"x": []}],
        ],
    ),
    Whole(
        "let views = event.action.views  output x = views",
        [
            [{"x": [3, None]}],
            [{"x": None}],
            [{"x": []}],
        ],
    ),
    Whole(
        "let queries = event.query  output x = (event where record.queries is null).price",
        [
            [{"x": [2.0, None]}],
            [{"x": None}],
            [{"x": []}],
        ],
    ),
    Whole(
        "let a = event.action  output x = a[1:].name",
        [
            [{"x": ["see"]}],
            [{"x": None}],
            [{"x": []}],
        ],
    ),
    # ... broadcast
    Whole(
        "let event.owner = id  output x = event.owner",
        [
            [{"x": [7, 7, None, 7]}],
            [{"x": None}],
            [{"x": []}],
        ],
    ),
    Whole(
        "let event.tags = tags  output x = event.tags",
        [
            [{"x": [["a", "b"], ["a", "b"], None, ["a", "b"]]}],
            [{"x": None}],
            [{"x": []}],
        ],
    ),
    Whole(
        "let event.action.asked = event.query  output x = event.action.asked",
        [
            [{"x": [["shoes", "shoes"], [], None, None]}],
            [{"x": None}],
            [{"x": []}],
        ],
    ),
    Whole(
        "let event.user = user  output x = event.user.age",
        [
            [{"x": [100, 100, None, 100]}],
            [{"x": None}],
            [{"x": []}],
        ],
    ),
    # ... promoted to the last common place, then broadcast
    Whole(
        "let event.all = event.query[:1]  output x = event.all",
        [
            [{"x": [["shoes"], ["shoes"], None, ["shoes"]]}],
            [{"x": None}],
            [{"x": []}],
        ],
    ),
    Whole(
        "let event.n = size(tags)  output x = event.n",
        [
            [{"x": [2, 2, None, 2]}],
            [{"x": None}],
            [{"x": []}],
        ],
    ),
    # aggregates are wanted where the struct is
    Whole(
        "let event.n = count(event.action)  output x = event.n",
        [
            [{"x": [2, 0, None, 0]}],
            [{"x": None}],
            [{"x": []}],
        ],
    ),
    Whole(
        "let n = count(event.action)  output x = n + id",
        [
            [{"x": 9}],
            [{"x": None}],
            [{"x": 9}],
        ],
    ),
    Whole(
        "let event.share = event.price / sum(event.price, per=record)  output x = event.share",
        [
            [{"x": [1.5 / 3.5, 2.0 / 3.5, None, None]}],
            [{"x": None}],
            [{"x": []}],
        ],
    ),
    # rows: from here on every element is a record
    Whole(
        "rows event  keep query, price",
        [
            [
                {"query": "shoes", "price": 1.5},
                {"query": None, "price": 2.0},
                {"query": None, "price": None},
                {"query": "hat", "price": None},
            ],
            [],
            [],
        ],
    ),
    Whole(
        "let event.owner = id  rows event  output who = owner  output n = record_index()",
        [
            [{"who": 7, "n": 0}, {"who": 7, "n": 0}, {"who": None, "n": 0}, {"who": 7, "n": 0}],
            [],
            [],
        ],
    ),
    Whole("rows event.action  output x = views", [[{"x": 3}, {"x": None}], [], []]),
    Whole("rows event rows action  output x = name", [[{"x": "buy"}, {"x": "see"}], [], []]),
    Whole(
        "rows event  let n = size(action)  output x = n",
        [
            [{"x": 2}, {"x": 0}, {"x": None}, {"x": None}],
            [],
            [],
        ],
    ),
    # parameters
    Whole("param n: int64 = 1  output x = tags[:n]", [[{"x": ["a"]}], [{"x": None}], [{"x": []}]]),
    Whole(
        "param n: int64 = 1  output x = tags[:n]",
        [[{"x": ["a", "b"]}], [{"x": None}], [{"x": []}]],
        {"n": 2},
    ),
    Whole(
        "param some: [string]  output x = tags where it in some",
        [[{"x": ["b"]}], [{"x": None}], [{"x": []}]],
        {"some": ["b", "c"]},
    ),
    # ... of their declared type, whatever their value is
    Whole(
        "param n: int64 = 1  output x = cast(user.age, int64) + n - user.age  output y = n",
        [[{"x": 1, "y": 1}], [{"x": None, "y": 1}], [{"x": None, "y": 1}]],
    ),
    # outputs after what is kept
    Whole(
        "keep id  output n = size(tags)",
        [
            [{"id": 7, "n": 2}],
            [{"id": None, "n": None}],
            [{"id": 9, "n": 0}],
        ],
    ),
    Whole(
        "let `a b` = id  output `x y` = `a b` # a comment\n",
        [
            [{"x y": 7}],
            [{"x y": None}],
            [{"x y": 9}],
        ],
    ),
    # what no output needs is not computed
    Whole("let bad = id // 0  output x = id", [[{"x": 7}], [{"x": None}], [{"x": 9}]]),
    Whole("let bad = id // 0  output x = bad", [FAILS, [{"x": None}], FAILS]),
]

REFUSED = [
    "output x = no_such",
    "output x = user.no_such",
    "output x = id.name",
    "output x = id +",
    "output x = (id",
    "output x = id + tags[0]",
    'output x = id == "7"',
    "output x = event.price + tags",
    "output x = user.name and true",
    "output x = not id",
    "output x = tags[1.5]",
    "output x = tags[::0]",
    "output x = id[0]",
    "output x = id[:1]",
    "output x = counts[1]",
    "output x = sum(id)",
    "output x = sum(tags)",
    "output x = mean(user)",
    "output x = no_such(id)",
    "output x = log1p()",
    "output x = log1p(id, id)",
    "output x = log1p(tags)",
    "output x = it",
    "output x = event where query",
    "output x = event where action.views > 1",
    "output x = event where no_such",
    "output x = zip(a=tags, b=id)",
    "output x = zip(a=tags, b=event.action.name)",
    "output x = {a: tags, b: event.price}",
    "output x = only(user, no_such)",
    "output x = sort(id)",
    "output x = sort(event)",
    "output x = dense(tags)",
    "output x = dense(id, shape=[2])",
    "output x = dense(user)",
    "output x = dense(tags, shape=[2], default=1)",
    "output x = id  output x = id",
    "output x = id  keep x",
    "let id = 1",
    "let user.age = 1",
    "let no_such.x = 1",
    "let tags.x = 1",
    "let x = y  let y = 1",
    "rows user",
    "rows tags",
    "rows no_such",
    "rows event  output x = id",
    "keep no_such",
    "keep user.no_such",
    "drop no_such",
    "drop id  output x = id",
    "rename id as tags",
    "rename id as key  output x = id",
    "param n: int64  output x = n",
    "param n: no_such = 1  output x = n",
    'param n: int64 = "a"  output x = n',
    "param id: int64 = 1  output x = id",
    "output x = a < b < c",
    "output x = id < 1 < 2",
    "outptu x = id",
    "output x = [1, 2]",
]
