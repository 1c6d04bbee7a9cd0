"""The rows on files: reading and decoding together, and what a second thread brings."""

from __future__ import annotations

import pathlib
import shutil
import time
from collections.abc import Callable
from typing import Any

import columnstone as cst
import contenders as c
import data
import timing
from decode_rows import Settings
from report import Figure, Results, faster

Paths = list[str]


def reader(name: str, schema_text: str, threads: int = 1, batch_size: int = 1000) -> c.Contender:
    """Opens files and decodes every batch, each released before the next."""
    schema = cst.Schema.from_text(schema_text)

    def run(paths: Paths) -> None:
        source = cst.open(paths, schema=schema, batch_size=batch_size, threads=threads)
        for batch in source:
            del batch

    return c.Contender(name, lambda paths: paths, run)


def tf_reader(fields: list[data.Field]) -> c.Contender:
    tf = c.tensorflow_one_thread()
    spec = c.tf_features(fields, {})

    def run(paths: Paths) -> None:
        records = tf.data.TFRecordDataset(paths, compression_type="GZIP").batch(1000)
        for tensors in records.map(lambda serialized: tf.io.parse_example(serialized, spec)):
            del tensors

    return c.Contender("TensorFlow", lambda paths: paths, run)


def gzip_file(settings: Settings) -> pathlib.Path:
    """The click log as one gzip file, compressed by TensorFlow's writer."""
    _, records = settings.records("click")
    path = settings.folder / f"click-{len(records)}.tfrecord.gz"
    if not path.exists():
        data.write_framed(path, iter(records), "GZIP")
    return path


def plain_file(settings: Settings) -> Figure:
    """One thread, CPU time: the file with both CRCs checked against the records in memory."""
    made = data.make("click", settings.folder)
    path = made.path
    size = path.stat().st_size / 1e6
    decode = c.ours(made.schema_text()).run

    def decode_all(batches: list[c.Records]) -> None:
        for batch in batches:
            decode(batch)

    batches = timing.batches_of(made.records())
    whole = c.Contender("memory", lambda batches: batches, decode_all)
    tasks = [reader("file", made.schema_text()), whole]
    inputs: list[Any] = [[str(path)], batches]
    seconds = timing.alternating(tasks, inputs, settings.rounds)
    share = seconds[1] / seconds[0]
    return Figure(
        "plain file to Arrow with CRCs, speed against decode only (CPU time)",
        f"{share:.0%} ({size / seconds[0]:.0f} MB/s)",
        "≥ 80 %",
        share >= 0.8,
    )


def gzip_against_tensorflow(settings: Settings) -> Figure:
    made = data.make("click", settings.folder)
    path = gzip_file(settings)
    tasks = [reader("columnstone", made.schema_text()), tf_reader(made.fields)]
    ours, theirs = timing.alternating(tasks, [[str(path)]] * 2, max(3, settings.rounds // 2))
    label = "gzip file to Arrow against TensorFlow's read and parse (CPU time)"
    return faster(label, "TensorFlow", theirs / ours, f"{ours:.2f} s, {theirs:.2f} s", 2.5)


def two_threads(
    settings: Settings, label: str, paths: Paths, batch_size: int, goal: float
) -> Figure:
    """Wall time of one thread over that of two; the files lie in the page cache."""
    text = data.make("click", settings.folder).schema_text()
    tasks = [reader(f"{n} threads", text, n, batch_size) for n in (1, 2)]
    rounds = max(3, settings.rounds // 2)
    one, two = timing.alternating(tasks, [paths] * 2, rounds, time.perf_counter)
    return Figure(
        f"two threads against one, wall time: {label}",
        f"{one / two:.2f}x ({one:.2f} s, {two:.2f} s)",
        f"≥ {goal}x",
        one / two >= goal,
    )


def big_file(settings: Settings) -> Paths:
    size = 100_000_000 if settings.quick else 1_000_000_000
    source = data.make("click", settings.folder).path
    return [str(data.grow(source, settings.folder / f"click-{size}.tfrecord", size))]


def four_gzip_files(settings: Settings) -> Paths:
    source = gzip_file(settings)
    paths = [source.with_name(f"{source.name}.{i}") for i in range(4)]
    for path in paths:
        if not path.exists():
            shutil.copy(source, path)
    return [str(path) for path in paths]


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    def add(figure: Figure) -> None:
        results.figures.append(figure)

    return {
        "plain_file": lambda: add(plain_file(settings)),
        "gzip_file": lambda: add(gzip_against_tensorflow(settings)),
        "threads_plain": lambda: add(
            two_threads(settings, "one plain file of 1 GB", big_file(settings), 1000, 1.8)
        ),
        "threads_small_batches": lambda: add(
            two_threads(settings, "the same, batch_size 100", big_file(settings), 100, 1.5)
        ),
        "threads_gzip": lambda: add(
            two_threads(settings, "four gzip files", four_gzip_files(settings), 1000, 1.8)
        ),
    }
