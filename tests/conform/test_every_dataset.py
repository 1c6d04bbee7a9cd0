"""What holds for datasets of every source: valid batches of the source's own types, and every row
once, in every order.

The sources are the table in dataset_cases.py.
"""

from __future__ import annotations

import pathlib
from collections import Counter
from itertools import chain
from typing import Any

import columnstone as cst
import dataset_cases
import jax
import numpy as np
import pyarrow as pa
import pytest
from dataset_cases import Case, with_tensors
from test_every_format import read, rows_of

BATCH = 4
ORDERS: list[Any] = [False, True, "window", "global"]
every_case = pytest.mark.parametrize(
    ("case", "on_error"),
    [
        pytest.param(case, on_error, id=f"{case.id}-{on_error}")
        for case in dataset_cases.CASES
        for on_error in case.on_errors
    ],
)


def tables_of(batches: Any, schema: pa.Schema) -> list[pa.Table]:
    made = []
    for item in batches:
        batch = pa.record_batch(item)
        batch.validate(full=True)
        assert batch.schema.equals(schema)
        made.append(pa.Table.from_batches([batch]))
    return made


def marked(rows: list[Any]) -> list[str]:
    return [repr(row) for row in rows]


@every_case
def test_every_row_once_in_every_order(case: Case, on_error: str, tmp_path: pathlib.Path) -> None:
    source = case.source(tmp_path, on_error)
    schema = pa.schema(source.arrow_schema)
    rows = marked(rows_of(read(source)))
    assert len(rows) > 3 * BATCH
    for order in ORDERS:
        dataset = source.dataset(BATCH, order, window=2 * BATCH, seed=3, as_batches=True)
        try:
            batches = list(dataset)
        except cst.errors.UnsupportedError:
            assert order == "global"
            continue
        found = [marked(rows_of(table)) for table in tables_of(batches, schema)]
        flat = [row for batch in found for row in batch]
        if order is False:
            assert flat == rows
        assert Counter(flat) == Counter(rows)
        rest = tables_of(dataset.iterate(start=batches[-3].position), schema)
        assert [marked(rows_of(table)) for table in rest] == found[-2:]


def columns_with_length(source: Any) -> list[str]:
    """Three of different types, if there are as many."""
    found: dict[str, str] = {}
    for child in source.arrow_schema.children:
        try:
            source.dataset(BATCH, bucket_by=child.name, as_batches=True)
        except cst.errors.ArgumentError:
            continue
        found.setdefault(child.format, child.name)
    return list(found.values())[:3]


@every_case
def test_every_row_once_in_buckets(case: Case, on_error: str, tmp_path: pathlib.Path) -> None:
    """By each column that has a length: the same rows in each bucket, sorted; taken up again."""
    source = case.source(tmp_path, on_error)
    schema = pa.schema(source.arrow_schema)
    for order in (False, True):
        plain = source.dataset(BATCH, order, window=4 * BATCH, seed=3, as_batches=True)
        before = [marked(rows_of(table)) for table in tables_of(plain, schema)]
        for name in columns_with_length(source):
            options: dict[str, Any] = {"window": 4 * BATCH, "seed": 3, "bucket_by": (name, 2)}
            dataset = source.dataset(BATCH, order, as_batches=True, **options)
            batches = list(dataset)
            found = [marked(rows_of(table)) for table in tables_of(batches, schema)]
            for at in range(0, len(before), 2):
                assert [len(rows) for rows in found[at : at + 2]] == [
                    len(rows) for rows in before[at : at + 2]
                ]
                assert Counter(chain(*found[at : at + 2])) == Counter(chain(*before[at : at + 2]))
            rest = tables_of(dataset.iterate(start=batches[-3].position), schema)
            assert [marked(rows_of(table)) for table in rest] == found[-2:]


@every_case
def test_every_row_knows_where_it_comes_from(
    case: Case, on_error: str, tmp_path: pathlib.Path
) -> None:
    """ids: in every order the same file and record for the same row, ascending in the source's."""
    source = case.source(tmp_path, on_error)
    found: list[list[tuple[int, int, str]]] = []
    for order in (False, "window", True):
        dataset = source.dataset(
            BATCH, order, window=2 * BATCH, seed=3, as_batches=True, ids=("a file", "a record")
        )
        rows: list[tuple[int, int, str]] = []
        for table in tables_of(dataset, pa.schema(dataset.source.arrow_schema)):
            files, records = (table[name].to_pylist() for name in ("a file", "a record"))
            content = marked(rows_of(table.drop(["a file", "a record"])))
            rows += zip(files, records, content, strict=True)
        found.append(rows)
        assert len(dataset.files) > max(file for file, _, _ in rows)
    assert [row[:2] for row in found[0]] == sorted(row[:2] for row in found[0])
    assert min(min(row[:2]) for row in found[0]) >= 0
    assert [row for _, _, row in found[0]] == marked(rows_of(read(source)))
    for rows in found[1:]:
        assert Counter(rows) == Counter(found[0])


def same(found: Any, wanted: Any) -> None:
    """Tensors of any kind, by their values."""
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        for name in wanted:
            same(found[name], wanted[name])
    elif isinstance(wanted, cst.tensor.RaggedTensor):
        same(found.values, wanted.values)
        for level, expected in zip(found.row_splits, wanted.row_splits, strict=True):
            same(level, expected)
    elif isinstance(wanted, cst.tensor.SparseTensor):
        for part in ("indices", "values", "dense_shape"):
            same(getattr(found, part), getattr(wanted, part))
    else:
        ours, expected = np.asarray(found), np.asarray(wanted)
        assert ours.dtype == expected.dtype
        assert ours.shape == expected.shape
        assert ours.tolist() == expected.tolist() or ours.tobytes() == expected.tobytes()


@every_case
def test_tensors_are_those_of_the_batches(
    case: Case, on_error: str, tmp_path: pathlib.Path
) -> None:
    source = with_tensors(case.source(tmp_path, on_error))
    specs = source.tensor_representations()
    adapter = cst.tensor.TensorAdapter(source.arrow_schema, specs)
    for order in (False, "window"):
        options: dict[str, Any] = {"window": 2 * BATCH, "seed": 3}
        batches = source.dataset(BATCH, order, as_batches=True, **options)
        tensors = iter(source.dataset(BATCH, order, **options).numpy())
        for batch in batches:
            try:
                expected = cst.tensor.to_numpy(adapter.convert(batch))
            except cst.Error as error:  # a null where there is no place for one
                with pytest.raises(type(error)):
                    next(tensors)
                return
            same(next(tensors), expected)
        assert next(tensors, None) is None
    dataset = source.dataset(BATCH)
    with jax.enable_x64(True):
        first = next(iter(dataset.jax()))
    assert list(first) == list(next(iter(dataset.torch()))) == list(specs)
