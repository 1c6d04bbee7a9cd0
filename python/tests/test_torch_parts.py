"""Ragged tensors in PyTorch as values and row splits, without jagged tensors."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any

import columnstone as cst
import pytest
from conftest import SCHEMA

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore:This DataLoader will create")]
RAGGED = SCHEMA + "represent_variable_length_as_ragged: true"


def check(made: Any, ours: Any) -> None:
    """That a ragged tensor of numbers has the parts of one of ours."""
    assert isinstance(made, cst.tensor.RaggedTensor)
    assert isinstance(made.values, torch.Tensor)
    assert len(made.row_splits) == 1
    assert isinstance(made.row_splits[0], torch.Tensor)
    assert made.to_list() == ours.to_list()


def test_parts_of_a_batch(file: pathlib.Path) -> None:
    ours = next(cst.open(file, schema=RAGGED).tensors())
    made = cst.tensor.to_torch(ours, jagged=False)
    check(made["steps"], ours["steps"])
    address = ours["steps"].values.numpy().__array_interface__["data"][0]
    assert made["steps"].values.data_ptr() == address
    assert made["tags"].to_list() == ours["tags"].to_list()
    check(cst.tensor.to_torch(ours["steps"], jagged=False), ours["steps"])


@pytest.mark.parametrize("num_workers", [0, 2])
def test_parts_in_a_loader(file: pathlib.Path, num_workers: int) -> None:
    dataset = cst.open(file, schema=RAGGED).dataset(30, shuffle=True, seed=1, label="id")
    for mapped in (dataset, dataset.map(dict)):
        loader = DataLoader(mapped.torch(jagged=False), batch_size=None, num_workers=num_workers)
        for (features, label), (ours, our_label) in zip(loader, dataset, strict=True):
            check(features["steps"], ours["steps"])
            assert label.tolist() == our_label.numpy().tolist()
            assert features.position == ours.position


def test_parts_of_rows(file: pathlib.Path) -> None:
    rows = cst.open(file, schema=RAGGED).torch_map(jagged=False)
    (batch,) = DataLoader(rows, batch_size=100, collate_fn=rows.collate)
    check(batch["steps"], next(cst.open(file, schema=RAGGED).tensors())["steps"])


PROGRAM = """
import sys
import columnstone as cst
from torch.utils.data import DataLoader

dataset = cst.open(sys.argv[1], schema=sys.argv[2]).dataset(10)
for num_workers in (0, 1):
    for batch in DataLoader(dataset.torch(jagged=False), batch_size=None, num_workers=num_workers):
        values, splits = batch["steps"].values, batch["steps"].row_splits[0]
print(values.sum().item(), splits[-1].item(), "torch._dynamo" in sys.modules)
"""


def test_parts_need_no_compiler(file: pathlib.Path) -> None:
    """Torch loads all of torch._dynamo for the first jagged tensor."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(file), RAGGED],
        capture_output=True,
        text=True,
        check=True,
    )
    steps = [i for row in range(90, 100) for i in range(row % 4)]
    assert run.stdout.split() == [str(sum(steps)), str(len(steps)), "False"]
