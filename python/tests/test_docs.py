"""The Python blocks of the guides run, one after the other."""

from __future__ import annotations

import pathlib
import random
import re

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest

DOCS = pathlib.Path(__file__).parents[2] / "docs"

SCHEMA = """
    feature { name: "fare" type: FLOAT shape { } presence { min_fraction: 1 } }
    feature { name: "company" type: BYTES }
    feature { name: "tokens" type: INT }
    tensor_representation_group { key: "" value { tensor_representation { key: "tokens" value {
      ragged_tensor { feature_path { step: "tokens" } } } } } }
"""


def write_trips() -> None:
    """The files that the guides speak of, in the current folder."""
    dice = random.Random(5)
    rows = range(3000)
    types = pa.schema(
        {
            "fare": pa.large_list(pa.float32()),
            "company": pa.large_list(pa.large_binary()),
            "tokens": pa.large_list(pa.int64()),
        }
    )
    table = pa.table(
        {
            "fare": [[float(row)] for row in rows],
            "company": [dice.choice([[b"Yellow"], [b"Blue"], [], None]) for _ in rows],
            "tokens": [list(range(dice.randrange(9))) for _ in rows],
        },
        schema=types,
    )
    cst.write(table, "trips.tfrecord", schema=SCHEMA)
    cst.convert("trips.tfrecord", "trips-00000-of-00001.tfrecord.gz")
    cst.convert("trips.tfrecord", "trips-00000-of-00001.tfrecord")
    pathlib.Path("schema.pbtxt").write_text(SCHEMA)


def names_of_page(page: str) -> dict[str, object]:
    """What the blocks take for granted."""
    names: dict[str, object] = {"cst": cst}
    if page == "arrays.md":
        batch = next(iter(cst.open("trips.tfrecord", schema="schema.pbtxt")))
        names |= {"other": batch[:5], "mask": [row % 2 == 0 for row in range(len(batch))]}
        names["table"] = pa.table({"a": [1, 2]})
    if page == "tensors.md":
        import torch

        names |= {"torch": torch, "np": np, "pa": pa}
    if page == "datasets.md":
        import torch

        names |= {"torch": torch, "model": torch.nn.Linear(1, 1)}
        names["step"] = lambda batch: None
    return names


@pytest.mark.parametrize(
    "page", ["python.md", "arrays.md", "tensors.md", "datasets.md", "validation.md"]
)
def test_the_page_runs(page: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = DOCS / page
    blocks = re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    if page != "python.md":  # which writes its own files
        write_trips()
        names = names_of_page(page)
    for block in blocks:
        exec(compile(block, str(path), "exec"), names)
