"""The cases of queries: what the reference gives, and what Columnstone gives."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
import query_cases as cases
import query_data
import query_reference as reference
from query_cases import FAILS, Expression, Tensor, Whole
from query_reference_functions import Failed, Refused
from query_syntax import BadQuery

TYPE = query_data.struct_of_arrow(cases.TYPE)


def refers(text: str, params: dict[str, Any] | None = None) -> reference.Query:
    return reference.Query(text, TYPE, params)


def values(query: reference.Query) -> list[Any]:
    rows = query.run(cases.RECORDS)
    return [FAILS if isinstance(row, Failed) else row[0]["x"] for row in rows]


@pytest.mark.parametrize("case", cases.EXPRESSIONS, ids=lambda c: c.text)
def test_reference_has_the_expression(case: Expression) -> None:
    query = refers(f"output x = {case.text}")
    assert query_data.field_text(query.columns[0].field) == case.type
    assert query_data.rows_equal(values(query), case.values), values(query)


@pytest.mark.parametrize("case", cases.TENSORS, ids=lambda c: c.text)
def test_reference_has_the_tensor(case: Tensor) -> None:
    assert query_data.rows_equal(values(refers(f"output x = {case.text}")), case.values)


@pytest.mark.parametrize("case", cases.WHOLE, ids=lambda c: c.text)
def test_reference_has_the_rows(case: Whole) -> None:
    rows = refers(case.text, case.params).run(cases.RECORDS)
    found = [FAILS if isinstance(row, Failed) else row for row in rows]
    assert query_data.rows_equal(found, case.rows), found


@pytest.mark.parametrize("text", cases.REFUSED)
def test_reference_refuses(text: str) -> None:
    with pytest.raises((Refused, BadQuery)):
        refers(text)


# ---- Columnstone ----


def arrow_of(value: Any) -> Any:
    """Entries of maps as pyarrow takes them."""
    entries = [(e["key"], e["value"]) for e in value["counts"] or []]
    return {**value, "counts": None if value["counts"] is None else entries}


BATCH = pa.RecordBatch.from_pylist([arrow_of(r) for r in cases.RECORDS], schema=cases.TYPE)


def view_of(text: str, params: dict[str, Any] | None = None) -> cst.View:
    return cst.Query.from_text(text, type=cases.TYPE).view(params)


def rows_of(view: cst.View, columns: list[reference.Column]) -> list[Any]:
    """Of each record the rows, or FAILS."""
    found: list[Any] = []
    for i in range(len(cases.RECORDS)):
        try:
            made = pa.record_batch(view.run(BATCH.slice(i, 1)))
        except cst.errors.SchemaError as error:
            assert error.record == 0
            found.append(FAILS)
            continue
        made.validate(full=True)
        values = {c.name: query_data.values_of(made, c) for c in columns}
        count = len(next(iter(values.values())))
        found.append([{n: v[k] for n, v in values.items()} for k in range(count)])
    return found


def value_rows(text: str) -> list[Any]:
    rows = rows_of(view_of(text), refers(text).columns)
    return [row if row == FAILS else row[0]["x"] for row in rows]


@pytest.mark.parametrize("case", cases.EXPRESSIONS, ids=lambda c: c.text)
def test_the_expression(case: Expression) -> None:
    text = f"output x = {case.text}"
    schema = pa.schema(view_of(text).schema)
    assert query_data.kind_text(schema.field("x").type) == case.type
    found = value_rows(text)
    assert query_data.rows_equal(found, case.values), found


@pytest.mark.parametrize("case", cases.TENSORS, ids=lambda c: c.text)
def test_the_tensor(case: Tensor) -> None:
    found = value_rows(f"output x = {case.text}")
    assert query_data.rows_equal(found, case.values), found


@pytest.mark.parametrize("case", cases.WHOLE, ids=lambda c: c.text)
def test_the_rows(case: Whole) -> None:
    columns = refers(case.text, case.params).columns
    found = rows_of(view_of(case.text, case.params), columns)
    assert query_data.rows_equal(found, case.rows), found


@pytest.mark.parametrize("text", cases.REFUSED)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(cst.Error) as caught:
        view_of(text)
    assert "line 1" in str(caught.value) or "param n" in text


def test_a_struct_that_is_never_null_is_null_in_one_that_is() -> None:
    inner = pa.struct([("a", pa.int64())])
    schema = pa.schema([("u", pa.struct([pa.field("v", inner, nullable=False)]))])
    batch = pa.RecordBatch.from_pylist([{"u": {"v": {"a": 1}}}, {"u": None}], schema=schema)
    made = cst.Query.from_text("output x = u.v output y = u.v is null", type=schema).run(batch)
    assert pa.record_batch(made).to_pydict() == {"x": [{"a": 1}, None], "y": [False, True]}
