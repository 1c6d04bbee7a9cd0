"""The last step of the flights demo: tensors from TFRecords into a small PyTorch model.

Features that every flight has arrive as dense tensors, those with gaps (the delays) as sparse ones,
whose indices tell which flights arrived at all. Numbers cross to PyTorch by DLPack, without a copy.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Iterator

import columnstone as cst
import torch

LABEL = "arr_delay"
NUMBERS = {  # feature: about its mean and spread
    "dep_delay": (12.6, 40.0),
    "distance": (1040.0, 730.0),
    "hour": (13.2, 4.7),
    "month": (6.5, 3.4),
}
NAMES = ["carrier", "origin", "dest"]
NUM_IDS = 512  # rows of each embedding, more than there are airports


@dataclasses.dataclass(frozen=True)
class Batch:
    numbers: torch.Tensor  # [flights, len(NUMBERS)], scaled
    ids: torch.Tensor  # [len(NAMES), flights]
    dep_delay: torch.Tensor  # [flights], minutes
    label: torch.Tensor  # [flights], minutes


class Model(torch.nn.Module):
    """Embedded categories beside scaled numbers and one hidden layer; what comes out is what the
    flight gains or loses in the air, and so the delay at arrival.
    """

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.ModuleList(torch.nn.Embedding(NUM_IDS, 8) for _ in NAMES)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(len(NUMBERS) + 8 * len(NAMES), 64),
            torch.nn.ReLU(),
            torch.nn.Linear(64, 1),
        )

    def forward(self, batch: Batch) -> torch.Tensor:
        embedded = [embed(batch.ids[i]) for i, embed in enumerate(self.embed)]
        change = self.layers(torch.cat([batch.numbers, *embedded], dim=1)).squeeze(1)
        return batch.dep_delay + 10 * change


@dataclasses.dataclass(frozen=True)
class Result:
    flights: int
    error: float  # mean absolute error in minutes, for flights that the model has not seen
    naive_error: float  # the same if one guesses that the delay stays what it was at departure


def per_row(tensor: cst.tensor.Tensor | cst.tensor.SparseTensor, rows: int) -> torch.Tensor:
    """One float per row from a dense or a sparse feature; 0 where there is no value."""
    if isinstance(tensor, cst.tensor.SparseTensor):
        dense = torch.zeros(rows)
        dense[torch.from_dlpack(tensor.indices)[:, 0]] = torch.from_dlpack(tensor.values).float()
        return dense
    return torch.from_dlpack(tensor).reshape(rows).float()


class Vocabulary(dict[bytes, int]):
    """Numbers names in the order in which they are first seen."""

    def __missing__(self, name: bytes) -> int:
        return self.setdefault(name, len(self))

    def ids(self, tensor: cst.tensor.Tensor) -> list[int]:
        return [self[name] for name in tensor.numpy().ravel()]


def batches(
    files: list[pathlib.Path], schema: cst.Schema, names: dict[str, Vocabulary]
) -> Iterator[Batch]:
    """The flights that arrived, 1,024 flights at a time."""
    source = cst.open(files, schema=schema, columns=[LABEL, *NUMBERS, *NAMES], batch_size=1024)
    for tensors in source.tensors():
        rows = tensors[NAMES[0]].shape[0]
        arrived = torch.from_dlpack(tensors[LABEL].indices)[:, 0]
        numbers = [per_row(tensors[name], rows)[arrived] for name in NUMBERS]
        scaled = [(n - m) / s for n, (m, s) in zip(numbers, NUMBERS.values(), strict=True)]
        yield Batch(
            numbers=torch.stack(scaled, dim=1),
            ids=torch.tensor([names[n].ids(tensors[n]) for n in NAMES])[:, arrived],
            dep_delay=numbers[0],
            label=torch.from_dlpack(tensors[LABEL].values).float(),
        )


def train(
    files: list[pathlib.Path],
    unseen: pathlib.Path,
    schema: cst.Schema,
    progress: Callable[[int], None],
) -> Result:
    """One epoch over `files`; the errors are those for the flights of `unseen`."""
    torch.manual_seed(13)
    torch.set_num_threads(1)  # so small a model only loses by more
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    names = {name: Vocabulary() for name in NAMES}
    flights = 0
    for batch in batches(files, schema, names):
        loss = torch.nn.functional.smooth_l1_loss(model(batch), batch.label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        flights += len(batch.label)
        progress(flights)
    return Result(flights, *evaluate(model, batches([unseen], schema, names)))


@torch.no_grad()
def evaluate(model: Model, data: Iterator[Batch]) -> tuple[float, float]:
    errors, naive = [], []
    for batch in data:
        errors.append((model(batch) - batch.label).abs())
        naive.append((batch.dep_delay - batch.label).abs())
    return torch.cat(errors).mean().item(), torch.cat(naive).mean().item()
