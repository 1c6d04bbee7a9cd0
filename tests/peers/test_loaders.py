"""Loaders in PyTorch: the same values as the tfrecord package's dataset in a DataLoader."""

from __future__ import annotations

import pathlib
import pickle
import subprocess
import sys
from typing import Any

import pytest
from support import framed
from wire import Feature, example

pytest.importorskip("torch")

SCHEMA = """
feature { name: "id" type: INT shape { } presence { min_fraction: 1 } }
feature { name: "pair" type: FLOAT shape { dim { size: 2 } } presence { min_fraction: 1 } }
feature { name: "name" type: BYTES shape { } presence { min_fraction: 1 } }
"""

# The tfrecord package cannot live in one process with TensorFlow, which this one has loaded; and
# processes with TensorFlow's threads should not fork.
LOAD = """
import pickle, sys
from torch.utils.data import DataLoader
who, path, schema, workers = pickle.load(sys.stdin.buffer)
if who == "ours":
    import columnstone as cst
    data = cst.open(path, schema=schema).dataset(8).torch()
    loader = DataLoader(data, batch_size=None, num_workers=workers)
else:
    from tfrecord.torch.dataset import TFRecordDataset
    data = TFRecordDataset(path, None, {"id": "int", "pair": "float", "name": "byte"})
    loader = DataLoader(data, batch_size=8)
found = [
    [(t if isinstance(t, list) else t.reshape(len(t), -1).tolist() if n != "name" else t.tolist())
     for n, t in ((n, batch[n]) for n in ("id", "pair", "name"))]
    for batch in loader
]
pickle.dump(found, sys.stdout.buffer)
"""


def load(*arguments: Any) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", LOAD], input=pickle.dumps(arguments), capture_output=True, check=True
    )
    return pickle.loads(done.stdout)


@pytest.mark.parametrize("workers", [0, 2])
def test_the_same_batches_as_the_tfrecord_package(tmp_path: pathlib.Path, workers: int) -> None:
    path = tmp_path / "d.tfrecord"
    path.write_bytes(
        framed(
            example(
                [
                    Feature("id", "INT", (i,)),
                    Feature("pair", "FLOAT", (i + 0.5, -float(i))),
                    Feature("name", "BYTES", (b"%d" % i * (i % 3),)),
                ]
            )
            for i in range(50)
        )
    )
    ours = load("ours", str(path), SCHEMA, workers)
    assert ours == load("theirs", str(path), SCHEMA, workers)
    assert len(ours) == 7
