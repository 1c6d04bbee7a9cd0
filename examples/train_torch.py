"""A whole PyTorch training loop that may be stopped anywhere: run it again, and it goes on with the
very batch that would have come next.

    python examples/train_torch.py [--folder FOLDER] [--workers 2] [--stop-after 100]

The data are made up: taxi trips with a distance, an hour, the zones that they pass (a list of any
length) and the minutes that they take.
"""

from __future__ import annotations

import argparse
import os
import pathlib

import columnstone as cst
import numpy as np
import torch
from torch.utils.data import DataLoader

ZONES = 200
SCHEMA = """
feature { name: "distance" type: FLOAT shape { } presence { min_fraction: 1 } }
feature { name: "hour" type: INT shape { } presence { min_fraction: 1 } }
feature { name: "zones" type: INT }
feature { name: "minutes" type: FLOAT shape { } presence { min_fraction: 1 } }
represent_variable_length_as_ragged: true
"""


def make_trips(path: pathlib.Path, count: int) -> None:
    """TFRecords of tf.Examples, and an index beside them, by which rows are found one by one."""
    import pyarrow as pa

    rng = np.random.default_rng(1)
    distance = rng.gamma(2.0, 3.0, count)
    hour = rng.integers(0, 24, count)
    zones = [rng.integers(0, ZONES, n) for n in rng.integers(1, 9, count)]
    delay = np.sin(np.arange(ZONES))  # what every zone adds
    minutes = 3 * distance + [10 * delay[z].sum() for z in zones] + 5 * (hour > 16)
    columns = {
        "distance": pa.array(distance, pa.float32()),
        "hour": hour,
        "zones": zones,
        "minutes": pa.array(minutes, pa.float32()),
    }
    cst.write(pa.table(columns), path, schema=SCHEMA)
    cst.source.Index.build(path)


class Model(torch.nn.Module):
    """The sum of the zones' embeddings beside two numbers, and one hidden layer."""

    def __init__(self) -> None:
        super().__init__()
        self.zones = torch.nn.EmbeddingBag(ZONES, 8, mode="sum")
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)
        )

    def forward(self, trips: dict[str, torch.Tensor]) -> torch.Tensor:
        zones = trips["zones"]  # a jagged nested tensor: all values, and where each row begins
        offsets = zones.offsets()  # pyright: ignore[reportAttributeAccessIssue]
        passed = self.zones(zones.values(), offsets[:-1])
        numbers = torch.stack([trips["distance"] / 6, trips["hour"] / 24], dim=1)
        return self.layers(torch.cat([numbers, passed], dim=1)).squeeze(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/train"))
    parser.add_argument("--trips", type=int, default=50_000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--stop-after", type=int, help="steps of this run")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    data, kept = args.folder / "trips.tfrecord", args.folder / "checkpoint.pt"
    if not data.exists():
        make_trips(data, args.trips)

    torch.manual_seed(1)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    trips = cst.open(data, schema=SCHEMA).dataset(
        512, shuffle=True, seed=7, epochs=args.epochs, label="minutes"
    )
    step = 0
    if kept.exists():
        checkpoint = torch.load(kept)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        trips.load_state_dict(checkpoint["data"])
        step = checkpoint["step"]
        print(f"goes on behind step {step}")

    # batch_size=None: they are batches already. The number of workers may differ from run to run.
    loader = DataLoader(trips.torch(), batch_size=None, num_workers=args.workers)
    last = step + args.stop_after if args.stop_after else None
    loss = torch.zeros(())
    for features, minutes in loader:
        loss = torch.nn.functional.mse_loss(model(features), minutes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 50 == 0 or step == last:
            at = features.position
            print(f"step {step}: epoch {at.epoch}, batch {at.batch}, loss {loss.item():.4f}")
            checkpoint = {
                "model": model.state_dict(),
                "optimizer": optimizer.state_dict(),
                "data": trips.state_of(at),  # the workers are ahead of it
                "step": step,
            }
            part = kept.with_suffix(".part")
            torch.save(checkpoint, part)
            os.replace(part, kept)
        if step == last:
            return
    print(f"done: {step} steps, loss {loss.item():.4f}" if step else "there was nothing left")


if __name__ == "__main__":
    main()
