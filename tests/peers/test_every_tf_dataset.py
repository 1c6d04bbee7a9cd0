"""The element_spec of ds.tf() says what comes, for datasets of every source: those of
tests/conform/dataset_cases.py."""

from __future__ import annotations

import pathlib
from typing import Any

import dataset_cases
import pytest
import tensorflow as tf
from columnstone import Error
from columnstone.errors import CorruptError
from dataset_cases import Case, with_tensors


@pytest.mark.parametrize("case", dataset_cases.CASES, ids=[c.id for c in dataset_cases.CASES])
def test_what_is_told_is_what_comes(case: Case, tmp_path: pathlib.Path) -> None:
    try:
        source = with_tensors(case.source(tmp_path, case.on_errors[-1]))
    except CorruptError:
        if not case.id.startswith("parquet-"):
            raise
        pytest.skip("the peers' pyarrow cannot read a null among lists of a fixed size")
    dataset = source.dataset(4, "window", window=8)
    try:
        batches = list(dataset)
    except Error:  # a null where a tensor has no place for one
        return
    count = 0
    specs: Any = dataset.tf().element_spec
    for batch in dataset.tf():  # which refuses tensors of other types
        tf.nest.map_structure(
            lambda spec, tensor: spec.is_compatible_with(tensor) or pytest.fail(f"{spec} {tensor}"),
            specs,
            batch,
        )
        count += 1
    assert count == len(batches)
