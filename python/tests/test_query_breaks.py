"""Queries and views that went wrong once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import columnstone as cst
import pyarrow as pa
import pytest


def run(text: str, data: pa.Table) -> dict:
    return pa.record_batch(cst.Query.from_text(text, type=data).run(data)).to_pydict()


def test_depth_counts_the_values_of_maps() -> None:
    deep = pa.struct([("x", pa.int64()), ("s", pa.struct([("y", pa.int64())]))])
    rows = [[("k", {"x": 1, "s": {"y": 2}})]]
    data = pa.table({"m": pa.array(rows, pa.map_(pa.string(), deep)), "n": [{"k": 1}]})
    assert run("keep ** depth 2", data) == {"n": [{"k": 1}]}  # the values lie too deep
    assert run("keep m.** depth 2", data) == {"m": [[{"key": "k", "value": {"x": 1}}]]}
    assert run("keep ** depth 3", data)["m"] == [[("k", {"x": 1})]]
    assert run("keep ** depth 4", data)["m"] == rows


def test_depth_of_maps_of_their_own_type() -> None:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="tree.proto", package="tree", syntax="proto3")
    tree = file.message_type.add(name="Tree")
    tree.field.add(name="id", number=1, type=kinds.TYPE_INT64, label=kinds.LABEL_OPTIONAL)
    entry = tree.nested_type.add(name="BelowEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=kinds.TYPE_STRING, label=kinds.LABEL_OPTIONAL)
    for to, name, number, label in (
        (entry, "value", 2, kinds.LABEL_OPTIONAL),
        (tree, "twin", 3, kinds.LABEL_OPTIONAL),
    ):
        to.field.add(name=name, number=number, type=kinds.TYPE_MESSAGE, label=label)
        to.field[-1].type_name = ".tree.Tree"
    tree.field.add(name="below", number=2, type=kinds.TYPE_MESSAGE, label=kinds.LABEL_REPEATED)
    tree.field[-1].type_name = ".tree.Tree.BelowEntry"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    message = message_factory.GetMessageClass(pool.FindMessageTypeByName("tree.Tree"))
    record = message(id=1)
    record.below["a"].id = 2
    record.below["a"].below["b"].id = 3
    query = cst.Query(message)
    made = [query.keep("**", depth=n).run([record.SerializeToString()]) for n in (1, 2, 3, 4)]
    rows = [pa.record_batch(batch).to_pylist()[0] for batch in made]
    assert rows[0] == {"id": 1}
    assert rows[1] == {"id": 1, "twin": None}
    assert rows[2]["below"] == [("a", {"id": 2})]
    assert rows[3]["below"] == [("a", {"id": 2, "twin": None})]
    with pytest.raises(cst.errors.SchemaError, match=r"\(set a depth: keep \*\* depth N"):
        query.keep("**").run([])


def test_keep_of_nothing_is_nothing() -> None:
    data = pa.table({"s": [{"a": 1}, {"a": 2}]})
    assert run("keep *", data) == {}
    assert cst.Query(data).keep("*").run(data).num_rows == 2


def test_outputs_that_no_tensor_holds() -> None:
    data = pa.table({"h": pa.array([1.5, None], pa.float16()), "id": [1, 2]})
    query = cst.Query(data).output("h", "h").output("s", "{a: h}").output("id", "id")
    view = query.view()
    assert pa.record_batch(view.run(data)).to_pydict()["h"] == [1.5, None]
    assert list(view.specs) == ["id"]
    with pytest.raises(
        cst.errors.UnsupportedError, match="feature 'h': the output's type cannot become a tensor"
    ):
        view.tensors(data)
    assert list(view.select(["id"]).tensors(data)) == ["id"]
    with pytest.raises(cst.errors.UnsupportedError, match="no values that a tensor can hold"):
        cst.Query(data).output("h", cst.query.dense("h"))


def test_fields_that_double_end() -> None:
    data = pa.table({"id": [1]})
    lets = [f"let a{i} = {{x: a{i - 1}, y: a{i - 1}}}" for i in range(1, 40)]
    with pytest.raises(cst.errors.LimitError, match="name the fields you need"):
        run("\n".join(["let a0 = {x: id, y: id}", *lets, "keep a39"]), data)


def test_a_file_is_read_no_further_than_a_view_can_be(tmp_path: Path) -> None:
    path = tmp_path / "large.cstv"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(cst.errors.CorruptError, match="these bytes are not a saved view"):
        cst.View(path)
    view = cst.Query(pa.table({"id": [1]})).view().to_bytes()
    path.write_bytes(view)
    with path.open("r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises((cst.errors.CorruptError, cst.errors.LimitError), match="view"):
        cst.View(path)


def no_values(x: object) -> None:
    return None


def fewer(x: Sequence[object]) -> Sequence[object]:
    return x[:0]


@pytest.mark.parametrize("arrays", ["numpy", "pyarrow"])
@pytest.mark.parametrize("function", [no_values, fewer])
def test_functions_that_give_something_else_are_named(
    function: Callable[..., object], arrays: Literal["numpy", "pyarrow"]
) -> None:
    data = pa.table({"id": [1, 2]})
    query = cst.Query(data).map("x", function, "id", type="float64", arrays=arrays)
    with pytest.raises(
        cst.errors.ArgumentError, match=f"the function {function.__name__} returned "
    ):
        query.run(data)


def test_most_fields_of_a_struct() -> None:
    def wide(n: int) -> pa.StructArray:
        return pa.StructArray.from_arrays([pa.array([1])] * n, [f"f{i}" for i in range(n)])

    most = 1 << 14  # as docs/queries.md says
    for text in ("keep **", "keep s.*", "output s = s"):
        assert len(run(text, pa.table({"s": wide(most)}))["s"][0]) == most
        with pytest.raises(cst.errors.LimitError, match=f"more than {most} fields"):
            run(text, pa.table({"s": wide(most + 1)}))


def test_a_list_that_structs_have_stays_the_same_list() -> None:
    """In structs that may be null a let made another one of it, which nothing beside it met."""
    rows = [{"ab": [1, 2], "d": {"e": [5]}}, None, {"ab": None, "d": None}, {"ab": [], "d": {}}]
    data = pa.table({"c": rows})
    assert run("let c.n = c.ab output x = c.n + c.ab", data) == {"x": [[2, 4], None, None, []]}
    assert run("let c.n = c.ab + 1 output x = c.n * c.ab", data)["x"][0] == [2, 6]
    assert run("let c.n = c.d.e output x = c.n + c.d.e", data)["x"][0] == [10]
    nested = pa.table({"s": [[*rows[:2]]]})
    assert run("let s.n = s.ab output x = s.n + s.ab", nested) == {"x": [[[2, 4], None]]}
    text = "let t = s where true let t.n = t.ab output x = t.n + t.ab"
    assert run(text, nested) == {"x": [[[2, 4], None]]}
    with pytest.raises(cst.errors.SchemaError, match="are in different lists"):
        run("let c.n = (c.ab where it > 1) output x = c.n + c.ab", data)
