"""TFDV's side of the rows on statistics; runs in the environment of struct2tensor, because it needs
an older TensorFlow: `python stats_tfdv.py memory FILE.arrow ROUNDS`, or `records FILE ROUNDS`.

Prints the CPU seconds of each round as JSON, and the number of features: from one record batch in
memory, or from a file of tf.Examples by Beam's DirectRunner in this process.
"""

from __future__ import annotations

import json
import logging
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
logging.disable(logging.WARNING)

import pyarrow as pa  # noqa: E402
import tensorflow_data_validation as tfdv  # noqa: E402
from tensorflow_data_validation.statistics import stats_impl  # noqa: E402


def in_memory(path: pathlib.Path) -> Callable[[], int]:
    (batch,) = pa.ipc.open_file(path).read_all().combine_chunks().to_batches()
    return lambda: len(stats_impl.generate_statistics_in_memory(batch).datasets[0].features)


def from_records(path: pathlib.Path) -> Callable[[], int]:
    def run() -> int:
        with tempfile.TemporaryDirectory() as folder:
            made = tfdv.generate_statistics_from_tfrecord(
                str(path), output_path=str(pathlib.Path(folder, "stats.tfrecord"))
            )
        return len(made.datasets[0].features)

    return run


def main() -> None:
    what, path, rounds = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    run = in_memory(path) if what == "memory" else from_records(path)
    features = run()
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    print(json.dumps({"seconds": seconds, "features": features}))


if __name__ == "__main__":
    main()
