"""A PyTorch model trained by two workers of Ray Train, on TFRecords that Ray Data reads for them.

    python examples/train_ray.py [--folder FOLDER] [--workers 2] [--epochs 3]

The data are made up: taxi trips with a distance, an hour, and the fare that they cost. Needs
`pip install columnstone[ray] ray[train] torch`.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import ray
import torch
from ray.train import Checkpoint, CheckpointConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, prepare_model

SCHEMA = """
feature { name: "distance" type: FLOAT shape { } presence { min_fraction: 1 } }
feature { name: "hour" type: INT shape { } presence { min_fraction: 1 } }
feature { name: "fare" type: FLOAT shape { } presence { min_fraction: 1 } }
feature { name: "company" type: BYTES }
"""


def make_trips(folder: pathlib.Path, count: int, files: int = 4) -> None:
    """Compressed TFRecords of tf.Examples. The fare goes by distance, and more so in the night."""
    rng = np.random.default_rng(1)
    distance = rng.gamma(2.0, 2.0, count)
    hour = rng.integers(0, 24, count)
    trips = pa.table(
        {
            "distance": pa.array(distance, pa.float32()),
            "hour": hour,
            "fare": pa.array(3 + distance * np.where(hour < 6, 3.0, 2.0), pa.float32()),
            "company": ["Blue" if h % 2 else "Yellow" for h in hour],
        }
    )
    for i in range(files):
        part = trips.slice(i * count // files, count // files)
        cst.write(part, folder / f"trips-{i}.tfrecord.gz", schema=SCHEMA)


def train(config: dict[str, Any]) -> None:
    """What each worker does: Ray Data gives it a share of the rows of each epoch."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = prepare_model(
        torch.nn.Sequential(torch.nn.Linear(3, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    trips = ray.train.get_dataset_shard("train")
    for epoch in range(config["epochs"]):
        total = rows = 0.0
        for batch in trips.iter_torch_batches(batch_size=128, local_shuffle_buffer_size=1024):
            night = (batch["hour"] < 6).float()
            inputs = torch.stack([batch["distance"], night, batch["distance"] * night], dim=1)
            fare = model(inputs).squeeze(1)
            loss = torch.nn.functional.mse_loss(fare, batch["fare"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(fare)
            rows += len(fare)
        with tempfile.TemporaryDirectory() as kept:
            torch.save(model.state_dict(), pathlib.Path(kept) / "model.pt")
            first = ray.train.get_context().get_world_rank() == 0
            ray.train.report(
                {"epoch": epoch, "loss": total / rows, "rows": rows},
                checkpoint=Checkpoint.from_directory(kept) if first else None,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/train_ray"))
    parser.add_argument("--trips", type=int, default=10_000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    folder = args.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "trips-0.tfrecord.gz").exists():
        make_trips(folder, args.trips)

    ray.data.DataContext.get_current().enable_progress_bars = False
    # The company is not asked for: no worker decodes it.
    trips = cst.ray.read_tfrecords(
        folder / "trips-*.tfrecord.gz",
        columns=["distance", "hour", "fare"],
        schema=SCHEMA,
        flat=True,
        target_bytes=1 << 20,
    )
    trainer = TorchTrainer(
        train,
        train_loop_config={"epochs": args.epochs},
        # Less than a CPU each, so that some are left for reading.
        scaling_config=ScalingConfig(num_workers=args.workers, resources_per_worker={"CPU": 0.5}),
        run_config=RunConfig(
            name="trips",
            storage_path=str(folder / "runs"),
            checkpoint_config=CheckpointConfig(num_to_keep=1),
        ),
        datasets={"train": trips},
    )
    result = trainer.fit()
    found = result.metrics
    print(f"done: epoch {found['epoch']}, {found['rows']:.0f} rows, loss {found['loss']:.3f}")
    if not found["loss"] < 2:
        raise SystemExit("the model has not learned")


if __name__ == "__main__":
    main()
