"""The row on conversion: gzip TFRecord shards to one Parquet file, with two threads.

Each contender runs in a process of its own, because TensorFlow's threads are set once per process;
it tells the seconds of the conversion alone, without imports.
"""

from __future__ import annotations

import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import file_rows
from decode_rows import Settings
from report import Figure, Results, faster, rate

THREADS, BATCH = 2, 4096
FOLDER = pathlib.Path(__file__).resolve().parent


def ours(paths: list[str], output: str) -> None:
    """With the schema, as the other one has its spec."""
    import columnstone as cst
    import data

    schema = cst.Schema.from_text(data.schema_text(data.CLICK_FIELDS))
    cst.convert(paths, output, schema=schema, threads=THREADS, overwrite=True)


def tensorflow_and_pyarrow(paths: list[str], output: str) -> None:
    """What one writes with the two: parse in batches, make Arrow lists, append to the file. Values
    of ragged tensors and their row splits are Arrow's lists already."""
    import data
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


def seconds(contender: str, paths: list[str], output: pathlib.Path) -> float:
    command = [sys.executable, __file__, contender, str(output), *paths]
    done = subprocess.run(command, capture_output=True, text=True, cwd=FOLDER, check=True)
    return float(done.stdout.split()[-1])


def to_parquet(settings: Settings) -> Figure:
    paths = file_rows.four_gzip_files(settings)
    output = settings.folder / "click.parquet"
    mine, theirs = [], []
    for _ in range(settings.rounds):
        mine.append(seconds("ours", paths, output))
        theirs.append(seconds("tensorflow_and_pyarrow", paths, output))
    output.unlink()
    size = sum(pathlib.Path(path).stat().st_size for path in paths) / 1e6
    m, t = statistics.median(mine), statistics.median(theirs)
    label = "gzip TFRecord shards to Parquet, end to end, 2 threads (wall time)"
    return faster(label, "TensorFlow", t / m, f"{rate(size / m)}, {rate(size / t)}", 6)


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    """What `--only` can name, and what it does."""
    return {"gzip_to_parquet": lambda: results.figures.append(to_parquet(settings))}


def main() -> None:
    name, output, *paths = sys.argv[1:]
    run = {"ours": ours, "tensorflow_and_pyarrow": tensorflow_and_pyarrow}[name]
    if name == "ours":
        import columnstone
        import pyarrow.parquet

        del columnstone, pyarrow
    else:
        import pyarrow.parquet
        import tensorflow

        del pyarrow, tensorflow
    start = time.perf_counter()
    run(paths, output)
    print(time.perf_counter() - start)


if __name__ == "__main__":
    main()
