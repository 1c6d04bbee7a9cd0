"""The tables of docs/structured-from-others.md: all cells of a line give the same values."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from typing import Any

import awkward as ak
import columnstone as cst
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "structured-from-others.md"
PEERS = ("Awkward", "TensorFlow", "pandas")

Names = dict[str, Any]


def sections() -> Iterator[tuple[str, list[list[str]]]]:
    """The code before each table, with that before it, and the cells of its lines."""
    code = ""
    table: list[list[str]] = []
    for part in re.split(r"(?ms)^(```python\n.*?^```$)", PAGE.read_text(encoding="utf-8")):
        if part.startswith("```python"):
            code += part.removeprefix("```python\n").removesuffix("```")
            continue
        lines = [line for line in part.splitlines() if line.startswith("|")]
        table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
        if table:
            yield code, table


def cases() -> Iterator[Any]:
    for code, (header, _, *lines) in sections():
        assert [name.split()[0] for name in header[1:]] in (
            ["Columnstone", *PEERS],
            ["Columnstone", "Awkward", "pandas"],
        )
        for line in lines:
            yield pytest.param(code, header, line, id=line[0])


@pytest.fixture(scope="module")
def made() -> dict[str, Names]:
    return {}


def names_of(code: str, made: dict[str, Names]) -> Names:
    if code in made:
        return made[code]
    names: Names = {"ak": ak, "pd": pd, "tf": tf}
    exec(code, names)
    rows = names["rows"]
    names |= {"a": ak.from_iter(rows), "df": pd.DataFrame(rows)}
    if "None" not in repr(rows):
        names["t"] = tf.experimental.StructuredTensor.from_pyval(rows)
    made[code] = names
    return names


def plain(value: Any) -> Any:
    """The same of each library. float32 and float64 of one number agree; text is str."""
    if isinstance(value, cst.StructuredTensor | cst.struct.LeafTensor):
        return plain(value.to_py())
    if isinstance(value, ak.Array | ak.Record):
        return plain(value.to_list())
    if isinstance(value, tf.experimental.StructuredTensor):
        return plain(value.to_pyval())
    if isinstance(value, pd.DataFrame):
        return plain(value.to_dict("records"))
    if isinstance(value, pd.Series):
        is_row = all(isinstance(label, str) for label in value.index)
        return plain({**value} if is_row else value.tolist())
    if isinstance(value, tf.RaggedTensor):
        return plain(value.to_list())
    if isinstance(value, tf.Tensor):
        return plain(value.numpy())
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return None if np.isnan(value) else round(value, 5)
    return value.decode() if isinstance(value, bytes) else value


def code_of(cell: str) -> str | None:
    if cell.startswith("–"):
        return None
    assert cell[0] == cell[-1] == "`", cell
    return cell[1:-1]


@pytest.mark.parametrize(("code", "header", "line"), list(cases()))
def test_the_same_in_each(
    code: str, header: list[str], line: list[str], made: dict[str, Names]
) -> None:
    names = names_of(code, made)
    results = {}
    for library, cell in zip(header[1:], line[1:], strict=True):
        expression = code_of(cell)
        if expression is not None:
            is_theirs = "TensorFlow" in library
            theirs = {"StructuredTensor": tf.experimental.StructuredTensor} if is_theirs else {}
            results[library] = plain(eval(expression, names | theirs))
    assert len(results) > 1
    expected = results["Columnstone"]
    for library, found in results.items():
        assert found == expected, library


def test_what_the_page_says_is_different() -> None:
    tensor = tf.experimental.StructuredTensor.from_pyval([{"a": [{"b": 1}], "b": 7}])
    with pytest.raises(TypeError):
        tensor["b"]
    assert tensor[:, "b"].numpy().tolist() == [7]
    assert plain(tensor.promote(("a", "b"), "b").field_value("b")) == [[1]]  # overwritten
    with pytest.raises(cst.errors.ArgumentError, match="b"):
        cst.struct.constant([{"a": [{"b": 1}], "b": 7}]).promote("a.b")

    assert str(ak.from_iter([1, "a"]).type) == "2 * union[int64, string]"
    with pytest.raises(cst.errors.SchemaError) as refused:
        cst.struct.constant([{"a": 1}, {"a": "a"}])
    assert (refused.value.path, refused.value.record) == ("a", 1)

    assert str(ak.from_iter([[1], [2]]).type) == "2 * var * int64"
    assert tf.ragged.constant([[1], [2]]).shape.as_list() == [2, None]
    assert cst.struct.constant([[1], [2]]).shape == (2, 1)

    rows = [[1, 2], [3, 4]]
    mask = [[True, False], [True, True]]
    ours = cst.struct.constant(rows)
    chosen = ours[np.array(mask)], ours[cst.struct.constant(mask)]
    assert [part.to_py() for part in chosen] == [[1, 3, 4], [[1], [3, 4]]]
    assert plain(ak.from_iter(rows)[ak.from_iter(mask)]) == [[1], [3, 4]]
