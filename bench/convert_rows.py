"""The rows on conversion: gzip TFRecord shards to Parquet, with two threads.

Each contender runs in a process of its own, because TensorFlow's threads are set once per process;
it tells the seconds of the conversion alone, without imports, and the peak of its memory. Of the
command line the whole process counts: with the plug-in over Arrow C++, as a build of the C library
has it, and with the program over pyarrow, as the wheel has it; the memory is that of both
processes, looked at in a run of its own. Pages of libraries are not counted.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import data
import file_rows
import process_rows
from decode_rows import Settings
from report import Figure, Results, faster, rate

THREADS, BATCH = 2, 4096
FOLDER = pathlib.Path(__file__).resolve().parent


def ours(paths: list[str], output: str, num_shards: int | None = None) -> None:
    """With the schema, as the other one has its spec."""
    import columnstone as cst

    schema = cst.Schema.from_text(data.schema_text(data.CLICK_FIELDS))
    options = {"schema": schema, "threads": THREADS, "num_shards": num_shards}
    cst.convert(paths, output, overwrite=True, **options)


def ours_to_two_shards(paths: list[str], output: str) -> None:
    ours(paths, output, num_shards=2)


def tensorflow_and_pyarrow(paths: list[str], output: str) -> None:
    """What one writes with the two: parse in batches, make Arrow lists, append to the file. Values
    of ragged tensors and their row splits are Arrow's lists already."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    tf.config.threading.set_inter_op_parallelism_threads(THREADS)
    dtypes = {"INT": tf.int64, "FLOAT": tf.float32, "BYTES": tf.string}
    spec = {
        name: tf.io.RaggedFeature(dtypes[kind], row_splits_dtype=tf.int64)
        for name, kind in data.CLICK_FIELDS
    }
    records = tf.data.TFRecordDataset(paths, "GZIP", num_parallel_reads=THREADS).batch(BATCH)
    parsed = records.map(lambda r: tf.io.parse_example(r, spec), num_parallel_calls=THREADS)

    def column(tensor: tf.RaggedTensor) -> pa.Array:
        values = tensor.values.numpy()
        binary = pa.large_binary() if values.dtype == np.object_ else None
        items = pa.array(values, type=binary)
        return pa.LargeListArray.from_arrays(pa.array(tensor.row_splits.numpy()), items)

    writer = None
    for tensors in parsed.prefetch(THREADS):
        table = pa.table({name: column(tensors[name]) for name in spec})
        if writer is None:
            writer = pq.ParquetWriter(output, table.schema, compression="zstd")
        writer.write_table(table)
    if writer is not None:
        writer.close()


@dataclasses.dataclass(frozen=True)
class Cost:
    seconds: float
    peak: float  # MB of memory


def own_peak() -> float:
    """Of this process: the peak of all its memory less the pages of files."""
    lines = (line.split() for line in pathlib.Path("/proc/self/status").read_text().splitlines())
    kib = {fields[0]: int(fields[1]) for fields in lines if fields[0] in ("VmHWM:", "RssFile:")}
    return (kib["VmHWM:"] - kib["RssFile:"]) * 1024 / 1e6


def run_apart(script: str, contender: str, paths: list[str], output: pathlib.Path) -> Cost:
    """What the script's own main function tells of this contender, in a process of its own."""
    command = [sys.executable, script, contender, str(output), *paths]
    done = subprocess.run(command, capture_output=True, text=True, cwd=FOLDER, check=True)
    spent, peak = done.stdout.split()[-2:]
    return Cost(float(spent), float(peak))


def tell(start: float) -> None:
    """The end of such a main function."""
    print(time.perf_counter() - start, own_peak())


def figure(
    label: str, peer: str, mine: list[Cost], theirs: list[Cost], size: float, goal: float
) -> Figure:
    """size: of the input, in MB."""
    m, t = (statistics.median(cost.seconds for cost in costs) for costs in (mine, theirs))
    peaks = (max(cost.peak for cost in costs) for costs in (mine, theirs))
    memory = ", ".join(f"{peak:.0f} MB" for peak in peaks)
    text = f"{rate(size / m)}, {rate(size / t)}; peak memory {memory}"
    return faster(label, peer, t / m, text, goal)


def process_cost(command: list[str], environment: dict[str, str]) -> Cost:
    """Of whole processes."""
    start = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    seconds = time.perf_counter() - start
    return Cost(seconds, process_rows.peak_memory(command, environment) / 1e6)


def command_line_cost(environment: dict[str, str], paths: list[str], output: pathlib.Path) -> Cost:
    schema = str(output.with_name("click.pbtxt"))
    command = [str(process_rows.cli()), "convert", *paths, str(output), "--schema", schema]
    command += ["--threads", str(THREADS), "--force"]
    return process_cost(command, environment)


def one_row(settings: Settings) -> list[Figure]:
    """A file of one row from the program of the wheel, from fork to exit."""
    label = "a Parquet file of one row from the CLI of the wheel (wall time)"
    program, goal = process_rows.cli(), "< 300 ms"
    if program is None:
        return [Figure(label, "not measured: no CLI", goal, False)]
    folder = settings.folder / "one-row"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "in.csv").write_text("a,b\n1,x\n")
    command = [program, "convert", str(folder / "in.csv"), str(folder / "out.parquet"), "--force"]
    costs = [process_cost(command, dict(os.environ)) for _ in range(5 * settings.rounds)]
    shutil.rmtree(folder)
    milliseconds = statistics.median(cost.seconds for cost in costs) * 1000
    peak = max(cost.peak for cost in costs)
    text = f"{milliseconds:.0f} ms; peak memory {peak:.0f} MB"
    return [Figure(label, text, goal, milliseconds < 300)]


Contender = Callable[[list[str], pathlib.Path], Cost]


def contenders() -> dict[str, Contender]:
    """Those of ours that can run here, by what their rows say."""

    def from_python(name: str) -> Contender:
        return lambda paths, output: run_apart(__file__, name, paths, output)

    def from_command_line(environment: dict[str, str]) -> Contender:
        return lambda paths, output: command_line_cost(environment, paths, output)

    found = {
        "one file, from Python": from_python("ours"),
        "`num_shards=2`, from Python": from_python("ours_to_two_shards"),
    }
    plugin = process_rows.plugin_environment()
    if process_rows.cli() is not None and plugin is not None:
        found["one file, from the CLI with the plug-in"] = from_command_line(plugin)
    if process_rows.cli() is not None:
        found["one file, from the CLI of the wheel"] = from_command_line(dict(os.environ))
    return found


def to_parquet(settings: Settings) -> list[Figure]:
    paths = file_rows.four_gzip_files(settings)
    folder = settings.folder / "parquet"
    folder.mkdir(exist_ok=True)
    schema = data.make("click", settings.folder).schema_text()
    (folder / "click.pbtxt").write_text(schema)
    ours_by_name = contenders()
    mine: dict[str, list[Cost]] = {name: [] for name in ours_by_name}
    theirs = []
    for _ in range(settings.rounds):
        for name, contender in ours_by_name.items():
            mine[name].append(contender(paths, folder / "click.parquet"))
        theirs.append(
            run_apart(__file__, "tensorflow_and_pyarrow", paths, folder / "click.parquet")
        )
    shutil.rmtree(folder)
    size = sum(pathlib.Path(path).stat().st_size for path in paths) / 1e6
    label = "gzip TFRecord shards to Parquet, 2 threads (wall time)"
    peer = "TensorFlow and pyarrow"
    return [figure(f"{label}: {name}", peer, runs, theirs, size, 6) for name, runs in mine.items()]


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    """What `--only` can name, and what it does."""
    return {
        "gzip_to_parquet": lambda: results.figures.extend(to_parquet(settings)),
        "one_row_to_parquet": lambda: results.figures.extend(one_row(settings)),
    }


def main() -> None:
    name, output, *paths = sys.argv[1:]
    run = {
        "ours": ours,
        "ours_to_two_shards": ours_to_two_shards,
        "tensorflow_and_pyarrow": tensorflow_and_pyarrow,
    }[name]
    if name.startswith("ours"):
        import columnstone
        import pyarrow.parquet

        del columnstone, pyarrow
    else:
        import pyarrow.parquet
        import tensorflow

        del pyarrow, tensorflow
    start = time.perf_counter()
    run(paths, output)
    tell(start)


if __name__ == "__main__":
    main()
