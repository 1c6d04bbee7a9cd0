"""A training loop for test_torch.py to kill: KIND PATH SCHEMA STATE WORKERS.

Takes up the state if there is one. For each batch: keeps the state, prints the ids, and waits for a
line of its own input, so that whoever kills it knows what was delivered.
"""

from __future__ import annotations

import os
import pathlib
import pickle
import sys

import columnstone as cst
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader


def main() -> None:
    kind, path, schema, kept, workers = sys.argv[1:]
    state = pathlib.Path(kept)
    dataset = cst.open(path, schema=schema).dataset(16, shuffle=True, seed=3, epochs=2)
    data = dataset.torch()
    if state.exists():
        data.load_state_dict(pickle.loads(state.read_bytes()))
    make = DataLoader if kind == "plain" else StatefulDataLoader
    loader = make(data, batch_size=None, num_workers=int(workers))
    for batch in loader:
        now = dataset.state_of(batch.position) if kind == "plain" else loader.state_dict()
        part = state.with_suffix(".part")
        part.write_bytes(pickle.dumps(now))
        os.replace(part, state)
        print(*batch["id"].tolist(), flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    main()
