"""The rows on structured tensors: nested data and its operations, against Awkward and TensorFlow's
StructuredTensor in eager mode.

10,000 rows of 0 to 9 structs, each with 0 to 15 floats. All contenders hold the same data before
the clock starts; every result of ours is compared with the peers' before it is timed. Awkward
leaves the moving of rows to whoever reads them (it keeps an index), ours moves them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import columnstone as cst
import contenders as c
import numpy as np
import pyarrow as pa
import timing
from decode_rows import Settings
from report import Results, faster

AWKWARD, TENSORFLOW = "Awkward", "TF StructuredTensor"
ROWS, SEED = 10_000, 1  # 336,714 values
MOST_STRUCTS, MOST_VALUES = 10, 16
NESTED_DICTS = 100_000

Call = Callable[[], Any]


# The data


@dataclasses.dataclass(frozen=True)
class Nested:
    """{id, s: [{id, flag, x: [floats]}]} as its buffers, and a mask of rows."""

    splits: np.ndarray  # of the rows in the structs
    value_splits: np.ndarray  # of the structs in the values
    flags: np.ndarray
    values: np.ndarray
    mask: np.ndarray


def splits_of(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def nested(rows: int) -> Nested:
    rng = np.random.default_rng(SEED)
    splits = splits_of(rng.integers(0, MOST_STRUCTS, rows))
    value_splits = splits_of(rng.integers(0, MOST_VALUES, splits[-1]))
    flags = rng.random(splits[-1]) < 0.5
    values = rng.random(value_splits[-1], dtype=np.float32)
    return Nested(splits, value_splits, flags, values, rng.random(rows) < 0.5)


def as_ours(data: Nested) -> Any:
    values = pa.LargeListArray.from_arrays(data.value_splits, pa.array(data.values))
    ids = pa.array(np.arange(len(data.flags)))
    inner = pa.StructArray.from_arrays([ids, pa.array(data.flags), values], ["id", "flag", "x"])
    outer = pa.LargeListArray.from_arrays(data.splits, inner)
    rows = pa.array(np.arange(len(data.mask)))
    return cst.StructuredTensor.from_arrow(pa.StructArray.from_arrays([rows, outer], ["id", "s"]))


def as_awkward(data: Nested) -> Any:
    import awkward as ak
    from awkward.contents import ListOffsetArray, NumpyArray, RecordArray

    values = ListOffsetArray(ak.index.Index64(data.value_splits), NumpyArray(data.values))
    ids = NumpyArray(np.arange(len(data.flags)))
    inner = RecordArray([ids, NumpyArray(data.flags), values], ["id", "flag", "x"])
    outer = ListOffsetArray(ak.index.Index64(data.splits), inner)
    return ak.Array(RecordArray([NumpyArray(np.arange(len(data.mask))), outer], ["id", "s"]))


def as_tensorflow(data: Nested) -> Any:
    """Without the structured_ops of its private modules tf.concat knows no structured tensor."""
    tf = c.tensorflow_one_thread()
    from tensorflow.python.ops.structured import structured_array_ops  # noqa: F401

    structured = tf.experimental.StructuredTensor
    values = tf.RaggedTensor.from_row_splits(tf.constant(data.values), data.value_splits)
    fields = {"id": tf.range(len(data.flags), dtype=tf.int64), "flag": data.flags, "x": values}
    inner = structured.from_fields(fields, shape=[len(data.flags)])
    partition = tf.experimental.RowPartition.from_row_splits(data.splits)
    outer = {
        "id": tf.range(len(data.mask), dtype=tf.int64),
        "s": inner.partition_outer_dimension(partition),
    }
    return structured.from_fields(outer, shape=[len(data.mask)])


# The comparisons


def microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} µs" if seconds < 1e-4 else f"{seconds * 1e6:,.0f} µs"


@dataclasses.dataclass(frozen=True)
class Peer:
    """What a peer does for the same work, with the goal; `to_list` makes Python lists of it."""

    call: Call
    goal: float | None
    to_list: Callable[[Any], Any]


def awkward(call: Call, goal: float | None) -> Peer:
    import awkward as ak

    return Peer(call, goal, ak.to_list)


def tensorflow_list(value: Any) -> Any:
    for name in ("to_pyval", "to_list"):
        if hasattr(value, name):
            return getattr(value, name)()
    return value.numpy().tolist()


def tensorflow(call: Call, goal: float | None) -> Peer:
    return Peer(call, goal, tensorflow_list)


@dataclasses.dataclass(frozen=True)
class Row:
    label: str
    ours: Call
    peers: dict[str, Peer]


def measure(row: Row, rounds: int, results: Results) -> None:
    mine = row.ours().to_py()
    for name, peer in row.peers.items():
        if peer.to_list(peer.call()) != mine:
            raise AssertionError(f"{row.label}: ours and {name} give different values")
    del mine
    own, *theirs = timing.seconds_of([row.ours, *(p.call for p in row.peers.values())], rounds)
    for (name, peer), other in zip(row.peers.items(), theirs, strict=True):
        label = f"structured tensors, {row.label}, against {name}"
        details = f"{microseconds(own)}, {microseconds(other)}"
        results.figures.append(faster(label, name, other / own, details, peer.goal))


@dataclasses.dataclass(frozen=True)
class Held:
    """The same data as all contenders hold it."""

    data: Nested
    ours: Any
    ak: Any
    tf: Any


def path_rows(held: Held) -> list[Row]:
    import awkward as ak

    st, a, t = held.ours, held.ak, held.tf
    extra = np.arange(len(held.data.mask))
    own, ak_extra, tf_extra = pa.array(extra), ak.Array(extra), t.field_value("id")
    return [
        Row(
            "field by path",
            lambda: st["s", "x"],
            {
                AWKWARD: awkward(lambda: a["s", "x"], 10),
                TENSORFLOW: tensorflow(lambda: t[:, "s", :, "x"], 50),
            },
        ),
        Row(
            "promote of a leaf",
            lambda: st.promote("s.x", name="x"),
            {
                AWKWARD: awkward(
                    lambda: ak.with_field(a, ak.flatten(a["s", "x"], axis=2), "x"), 10
                ),
                TENSORFLOW: tensorflow(lambda: t.promote(("s", "x"), "x"), 50),
            },
        ),
        Row(
            "with_updates",
            lambda: st.with_updates(new=own),
            {
                AWKWARD: awkward(lambda: ak.with_field(a, ak_extra, "new"), 10),
                TENSORFLOW: tensorflow(lambda: t.with_updates({"new": tf_extra}), 50),
            },
        ),
        Row(
            "broadcast of a row's id into its structs",
            lambda: st.broadcast("id", into="s", name="row"),
            {AWKWARD: awkward(lambda: ak.with_field(a, a["id"], ["s", "row"]), 4)},
        ),
    ]


def index_rows(held: Held) -> list[Row]:
    import awkward as ak

    st, a, mask = held.ours, held.ak, held.data.mask
    s, x, structs, values = a["s"], a["s", "x"], st["s"], st["s", "x"]
    flags, ak_flags = structs["flag"], s["flag"]
    tf_values = held.tf.field_value(("s", "x"))
    return [
        Row(
            "[..., ::2] of a leaf",
            lambda: values[..., ::2],
            {
                AWKWARD: awkward(lambda: x[..., ::2], 4),
                "tf.RaggedTensor": tensorflow(lambda: tf_values[..., ::2], None),
            },
        ),
        Row(
            "[:, 0:2] of structs", lambda: structs[:, 0:2], {AWKWARD: awkward(lambda: s[:, 0:2], 4)}
        ),
        Row(
            "[:, 0:2] of a leaf",
            lambda: values[:, 0:2],
            {
                AWKWARD: awkward(lambda: x[:, 0:2], 4),
                "tf.RaggedTensor": tensorflow(lambda: tf_values[:, 0:2], None),
            },
        ),
        Row(
            "boolean mask of rows",
            lambda: st[mask],
            {
                AWKWARD: awkward(lambda: a[mask], 1),
                f"{AWKWARD}, rows moved": awkward(lambda: ak.to_packed(a[mask]), None),
            },
        ),
        Row(
            "filter of structs by a boolean field",
            lambda: structs[flags],
            {AWKWARD: awkward(lambda: s[ak_flags], 4)},
        ),
    ]


def whole_rows(held: Held) -> list[Row]:
    """Awkward has no stack and no tile: what its users write instead. TensorFlow has no stack,
    tile and where for structured tensors."""
    import awkward as ak
    import tensorflow as tf

    st, a, t, mask = held.ours, held.ak, held.tf, held.data.mask
    s, structs = a["s"], st["s"]
    other, ak_other = structs[::-1], s[::-1]
    return [
        Row(
            "concat of rows",
            lambda: cst.struct.concat([st, st]),
            {
                AWKWARD: awkward(lambda: ak.concatenate([a, a]), 2),
                TENSORFLOW: tensorflow(lambda: tf.concat([t, t], 0), None),
            },
        ),
        Row(
            "concat of structs within rows",
            lambda: cst.struct.concat([structs, structs], axis=1),
            {AWKWARD: awkward(lambda: ak.concatenate([s, s], axis=1), 2)},
        ),
        Row(
            "stack, axis 0",
            lambda: cst.struct.stack([structs, structs]),
            {AWKWARD: awkward(lambda: ak.concatenate([s[np.newaxis], s[np.newaxis]]), 2)},
        ),
        Row(
            "stack, axis 1",
            lambda: cst.struct.stack([structs, structs], axis=1),
            {
                AWKWARD: awkward(
                    lambda: ak.concatenate([s[:, np.newaxis], s[:, np.newaxis]], axis=1), 2
                )
            },
        ),
        Row(
            "tile of structs within rows",
            lambda: cst.struct.tile(structs, [1, 2]),
            {AWKWARD: awkward(lambda: ak.concatenate([s, s], axis=1), 2)},
        ),
        Row(
            "where, by row",
            lambda: cst.struct.where(mask, structs, other),
            {AWKWARD: awkward(lambda: ak.where(mask, s, ak_other), 2)},
        ),
    ]


def constant_row(count: int) -> Row:
    import awkward as ak
    import tensorflow as tf

    rng = np.random.default_rng(SEED)
    values = rng.random(6 * count, dtype=np.float32).tolist()  # which float32 holds too
    structs = [
        {"id": j, "flag": j % 2 == 0, "x": values[2 * j : 2 * j + 2]} for j in range(3 * count)
    ]
    rows = [{"id": i, "s": structs[3 * i : 3 * i + 3]} for i in range(count)]
    structured = tf.experimental.StructuredTensor
    return Row(
        f"constant of {count:,} nested dicts",
        lambda: cst.struct.constant(rows),
        {
            AWKWARD: awkward(lambda: ak.from_iter(rows), 2),
            TENSORFLOW: tensorflow(lambda: structured.from_pyval(rows), 10),
        },
    )


def measure_all(settings: Settings, results: Results, of: Callable[[Held], list[Row]]) -> None:
    data = nested(ROWS // 10 if settings.quick else ROWS)
    held = Held(data, as_ours(data), as_awkward(data), as_tensorflow(data))
    for row in of(held):
        measure(row, settings.rounds, results)


def constant(settings: Settings, results: Results) -> None:
    count = NESTED_DICTS // 10 if settings.quick else NESTED_DICTS
    measure(constant_row(count), settings.rounds, results)


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    return {
        "structured_paths": lambda: measure_all(settings, results, path_rows),
        "structured_indexing": lambda: measure_all(settings, results, index_rows),
        "structured_whole": lambda: measure_all(settings, results, whole_rows),
        "structured_constant": lambda: constant(settings, results),
    }
