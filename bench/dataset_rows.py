"""The rows on datasets: the click log to shuffled batches of PyTorch, with 1 and 2 workers."""

from __future__ import annotations

import pathlib
import pickle
import statistics
import subprocess
import sys
from collections.abc import Callable

import columnstone as cst
import data
from decode_rows import Settings
from report import Figure, Results, faster

BATCH = 1024
TF_DATA = "tf.data and parse_example"
WINDOW = (
    16_384  # rows that the peers' shuffle buffers hold; ours shuffles the whole file, or so many
)

# Each runs in a process of its own (the package tfrecord cannot live in one with TensorFlow) and
# prints rows per second of wall clock, from the first batch on, so that no start of workers counts.
# PyTorch has no strings. `opened` asks for them as bytes objects, which the package tfrecord always
# makes; else they stay what they are, in ours as in TensorFlow. Ours runs twice: with workers of
# the DataLoader, as the package tfrecord does, and with as many threads, as tf.data does.

CLOCK = """
import pickle, sys, time
path, index, fields, batch_size, window, workers, seconds, opened = pickle.load(sys.stdin.buffer)
strings = [name for name, kind in fields if kind == "BYTES"] if opened else []

def rate(batches):
    batches = iter(batches)
    next(batches)
    rows, start = 0, time.perf_counter()
    for batch in batches:
        for name in strings:
            if hasattr(batch[name], "numpy"):
                batch[name].numpy()
        rows += len(batch["label"])
        if time.perf_counter() - start > seconds:
            break
    print(rows / (time.perf_counter() - start))
"""

OURS = (
    CLOCK
    + """
import columnstone as cst
from torch.utils.data import DataLoader
defaults = {"INT": "int_value: 0", "FLOAT": "float_value: 0", "BYTES": 'bytes_value: ""'}
text = "".join('feature { name: "%s" type: %s }' % field for field in fields)
text += 'tensor_representation_group { key: "" value { '
for name, kind in fields:
    text += 'tensor_representation { key: "%s" value { dense_tensor { ' % name
    text += 'column_name: "%s" shape { } default_value { %s } } } } ' % (name, defaults[kind])
text += "} }"
schema = cst.Schema.from_text(text)
source = cst.open(path, schema=schema, batch_size=batch_size, memory_map=mapped)
options = {"shuffle": shuffle, "window": window, "seed": 1, "epochs": None}
if threads:
    options |= {"threads": workers, "prefetch": 2 * workers}
dataset = source.dataset(**options).torch()
rate(DataLoader(dataset, batch_size=None, num_workers=0 if threads else workers))
"""
)
WORKERS = "threads, mapped, shuffle = False, False, True" + OURS
THREADS = "threads, mapped, shuffle = True, False, True" + OURS
MAPPED = "threads, mapped, shuffle = True, True, True" + OURS
WINDOWS = "threads, mapped, shuffle = True, False, 'window'" + OURS

# Features that a record lacks are filled in, as parse_example and ours do, so that rows collate.
TFRECORD = (
    CLOCK
    + """
from tfrecord.torch.dataset import TFRecordDataset
from torch.utils.data import DataLoader
absent = {name: [0] if kind == "INT" else b"00000000" for name, kind in fields}

def whole(record):
    return {name: record.get(name, value) for name, value in absent.items()}

def endless(dataset):
    while True:
        yield from DataLoader(dataset, batch_size=batch_size, num_workers=workers)

rate(endless(TFRecordDataset(path, index, None, shuffle_queue_size=window, transform=whole)))
"""
)

TENSORFLOW = (
    CLOCK
    + """
import tensorflow as tf
kinds = {"INT": (tf.int64, 0), "BYTES": (tf.string, b"")}
spec = {name: tf.io.FixedLenFeature([], *kinds[kind]) for name, kind in fields}
numbers = [name for name, kind in fields if kind == "INT"]
dataset = tf.data.TFRecordDataset(path).repeat().shuffle(window).batch(batch_size)
dataset = dataset.map(lambda r: tf.io.parse_example(r, spec), num_parallel_calls=workers)
options = tf.data.Options()
options.threading.private_threadpool_size = workers

def as_numpy(batches):  # PyTorch takes numpy's memory
    for batch in batches:
        for name in numbers:
            batch[name] = batch[name].numpy()
        yield batch

rate(as_numpy(dataset.prefetch(2).with_options(options)))
"""
)


def run(script: str, *arguments: object) -> float:
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, input=pickle.dumps(arguments), capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    return float(done.stdout.split()[-1])


def index_of(path: pathlib.Path) -> str:
    """The index of the tfrecord package, which its workers divide the file by; and ours."""
    text = path.with_suffix(".tfindex")
    if not text.exists():
        cst.source.Index.build(path).export_text(text)
    return str(text)


def loading(settings: Settings) -> list[Figure]:
    """The file lies in the page cache; the contenders take turns."""
    click = data.make("click", settings.folder)
    seconds = 1.0 if settings.quick else 2.0
    figures = []
    for count, opened in ((1, False), (2, False), (2, True)):
        fixed = (str(click.path), index_of(click.path), click.fields, BATCH, WINDOW)
        rates: dict[str, list[float]] = {
            script: [] for script in (WORKERS, THREADS, MAPPED, WINDOWS, TFRECORD, TENSORFLOW)
        }
        for _ in range(settings.rounds):
            for script, found in rates.items():
                found.append(run(script, *fixed, count, seconds, opened))
        workers, threads, mapped, windows, tfrecord, tensorflow = map(
            statistics.median, rates.values()
        )
        ending = "s" if count > 1 else ""
        strings = ", the 26 strings of a row as bytes objects" if opened else ""
        for how, ours, peer, theirs, goal in (
            (f"{count} worker{ending}", workers, "tfrecord and DataLoader", tfrecord, 20),
            (f"{count} thread{ending}", threads, TF_DATA, tensorflow, 5),
            (f"{count} thread{ending}, memory_map", mapped, TF_DATA, tensorflow, 4),
            (f"{count} thread{ending}, windows as the peer's", windows, TF_DATA, tensorflow, 4),
            (f"{count} worker{ending}", workers, TF_DATA, tensorflow, 4),
        ):
            label = f"click log to shuffled torch batches, {how}{strings}, against {peer}"
            details = f"{ours:,.0f} rows/s, {theirs:,.0f} rows/s"
            wanted = None if opened else goal
            figures.append(faster(label, peer.split()[0], ours / theirs, details, wanted))
    return figures


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    return {"dataset": lambda: results.figures.extend(loading(settings))}
