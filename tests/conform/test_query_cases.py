"""The cases of queries: the reference first, then Columnstone."""

from __future__ import annotations

from typing import Any

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
