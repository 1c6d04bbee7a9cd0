"""The last step of the demo: a query, saved as a view, feeds a ranking model, and then serves it.

The model gives each event of a session a score; the softmax over a session's events says which of
them is clicked. Lists stay ragged: what a query makes of all events of a batch is one flat tensor,
and the row splits say where a session begins.
"""

from __future__ import annotations

import logging
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import columnstone as cst
import torch

NUMBERS = ["position", "num_results", "best_score", "relative_price"]
FEATURES = [*NUMBERS, "query", "device"]
logging.getLogger("torch.fx").setLevel(logging.ERROR)  # of PyTorch's own use of itself, in 2.13
QUERIES, DEVICES = 64, 4  # hash(events.query, 64); the values of the enum Device


class Events(NamedTuple):
    """The events of a batch of sessions, one after the other."""

    numbers: torch.Tensor  # [events, len(NUMBERS)]
    query: torch.Tensor  # [events]
    device: torch.Tensor  # [events], that of their session
    session: torch.Tensor  # [events], its number in the batch
    num_sessions: int


def events_of(tensors: dict[str, Any]) -> Events:
    """Of the dense tensors and jagged ones of a batch."""
    lengths = tensors["query"].offsets().diff()
    session = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    return Events(
        numbers=torch.stack([tensors[name].values().float() for name in NUMBERS], dim=1),
        query=tensors["query"].values(),
        device=tensors["device"][session],
        session=session,
        num_sessions=len(lengths),
    )


class Model(torch.nn.Module):
    """One hidden layer over embedded categories and numbers; a score for each event."""

    def __init__(self) -> None:
        super().__init__()
        self.query = torch.nn.Embedding(QUERIES, 4)
        self.device = torch.nn.Embedding(DEVICES, 2)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(len(NUMBERS) + 6, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)
        )

    def forward(self, events: Events) -> torch.Tensor:
        embedded = self.query(events.query), self.device(events.device)
        return self.layers(torch.cat([events.numbers, *embedded], dim=1)).squeeze(1)


def log_softmax(scores: torch.Tensor, events: Events) -> torch.Tensor:
    """Of the scores of each session by itself."""
    sums = torch.zeros(events.num_sessions).index_add(0, events.session, scores.exp())
    return scores - sums.log()[events.session]


class Result(NamedTuple):
    sessions: int  # that the model has learned from
    hits: float  # the share of unseen sessions whose click has the highest score
    guess: float  # the same of scores by chance


def train(files: list[pathlib.Path], unseen: pathlib.Path, view: cst.View, epochs: int) -> Result:
    torch.manual_seed(13)
    torch.set_num_threads(1)  # so small a model only loses by more
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    source = cst.open(files, view=view, columns=[*FEATURES, "clicked"])
    sessions = 0
    for tensors in source.dataset(1024, shuffle=True, seed=13, epochs=epochs).torch():
        events, clicked = events_of(tensors), tensors["clicked"].values()
        loss = -log_softmax(model(events), events)[clicked].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sessions += events.num_sessions
    held_out = cst.open(unseen, view=view, columns=[*FEATURES, "clicked"])
    return Result(sessions, *evaluate(model, iter(held_out.dataset(1024).torch())))


@torch.no_grad()
def evaluate(model: Model, batches: Iterator[dict[str, Any]]) -> tuple[float, float]:
    hits, guesses = [], []
    for tensors in batches:
        events, clicked = events_of(tensors), tensors["clicked"].values()
        scores, session = model(events), events.session
        highest = torch.full((events.num_sessions,), -torch.inf)
        highest = highest.scatter_reduce(0, session, scores, "amax")
        lengths = torch.bincount(session, minlength=events.num_sessions)
        hits.append((scores == highest[session])[clicked].float())
        guesses.append((1 / lengths)[session][clicked])
    return torch.cat(hits).mean().item(), torch.cat(guesses).mean().item()


def serve(view: cst.View, file: pathlib.Path, count: int) -> list[str]:
    """What a server does: the bytes of `count` requests in, tensors out. Returns the names of those
    that are not the same as in training."""
    requests = next(iter(cst.open(file, format="raw", batch_size=count)))["record"]
    served = view.tensors(requests)
    trained = next(iter(cst.open(file, view=view, batch_size=count).tensors()))
    return [name for name in view.outputs if values(served[name]) != values(trained[name])]


def values(tensor: Any) -> list[Any]:
    return tensor.to_list() if isinstance(tensor, cst.tensor.RaggedTensor) else tensor.tolist()
