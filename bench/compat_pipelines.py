"""Census and taxi pipelines over tfx_bsl and over columnstone.compat.tfx_bsl: are the results
equal, and what do the decode and encode stages cost?

    python bench/compat_pipelines.py [--rows N] [--rounds N] [--stages] [--taxi trips.csv]

Needs tfx-bsl, tensorflow-transform and Columnstone, built with optimisation, in one environment
(tools/requirements/compat.txt). Each of the two has processes of its own, which take turns. A
process runs

- the stages in a loop of its own over the same batches of 1,000 records: tf.Examples to record
  batches (decode), these to tensors (adapt), tensors to record batches (convert), record batches to
  tf.Examples (encode). CPU seconds of the process, the least of three passes;
- the pipelines of TFT: files to batches (TFExampleRecord, CsvTFXIO, BeamRecordCsvTFXIO), analysis,
  transformation, tf.Examples of what comes out.

What comes out of every stage and pipeline is compared between the two. Ends with 1 where it differs
or where the stages together are less than three times as fast.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

GOAL = 3.0
ROWS = 1000  # of a batch
PASSES = 3
STAGES = ("decode", "adapt", "convert", "encode")
SIDES = ("theirs", "ours")

# ---- the data: name -> (type, may be missing) ----

CENSUS = {
    "age": ("FLOAT", False),
    "workclass": ("BYTES", False),
    "education": ("BYTES", False),
    "education-num": ("FLOAT", True),
    "marital-status": ("BYTES", False),
    "occupation": ("BYTES", False),
    "relationship": ("BYTES", False),
    "race": ("BYTES", False),
    "sex": ("BYTES", False),
    "capital-gain": ("FLOAT", False),
    "capital-loss": ("FLOAT", False),
    "hours-per-week": ("FLOAT", False),
    "native-country": ("BYTES", False),
    "label": ("BYTES", False),
}
_KINDS = {
    "workclass": 8,
    "education": 16,
    "marital-status": 7,
    "occupation": 14,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "native-country": 41,
    "label": 2,
}
TAXI = {
    "pickup_community_area": ("INT", True),
    "fare": ("FLOAT", True),
    "trip_start_month": ("INT", True),
    "trip_start_hour": ("INT", True),
    "trip_start_day": ("INT", True),
    "trip_start_timestamp": ("INT", True),
    "pickup_latitude": ("FLOAT", True),
    "pickup_longitude": ("FLOAT", True),
    "dropoff_latitude": ("FLOAT", True),
    "dropoff_longitude": ("FLOAT", True),
    "trip_miles": ("FLOAT", True),
    "pickup_census_tract": ("INT", True),
    "dropoff_census_tract": ("INT", True),
    "payment_type": ("BYTES", True),
    "company": ("BYTES", True),
    "trip_seconds": ("INT", True),
    "dropoff_community_area": ("INT", True),
    "tips": ("FLOAT", True),
}
Shape = dict[str, tuple[str, bool]]
DATA: dict[str, Shape] = {"census": CENSUS, "taxi": TAXI}


def census_rows(count: int) -> Iterable[dict[str, str]]:
    """Like the census of income: text of each column, one row after the other."""
    pick = random.Random(32)
    for _ in range(count):
        row = {}
        for name, (kind, may_miss) in CENSUS.items():
            if kind == "BYTES":
                row[name] = f"{name}-{int(pick.expovariate(0.4)) % _KINDS[name]}"
            elif may_miss and pick.random() < 0.1:
                row[name] = ""
            elif name.startswith("capital"):
                row[name] = str(pick.choice([0, 0, 0, pick.randrange(100_000)]))
            else:
                row[name] = str(pick.randrange(1, 99))
        yield row


def taxi_rows(count: int, given: pathlib.Path | None) -> Iterable[dict[str, str]]:
    """The trips of a CSV file over and over, or generated ones that look like them."""
    if given is not None:
        with open(given, newline="") as file:
            rows = list(csv.DictReader(file))
        for i in range(count):
            yield rows[i % len(rows)]
        return
    pick = random.Random(33)
    for _ in range(count):
        yield {
            name: ""
            if pick.random() < 0.05
            else f"{name} {pick.randrange(40)}"
            if kind == "BYTES"
            else str(pick.randrange(1, 1000))
            if kind == "INT"
            else str(pick.randrange(1, 4000) / 64)
            for name, (kind, _) in TAXI.items()
        }


def write_data(folder: pathlib.Path, name: str, rows: Iterable[dict[str, str]]) -> None:
    """NAME.csv without a header, and NAME.tfrecord."""
    import tensorflow as tf

    shape = DATA[name]
    with (
        open(folder / f"{name}.csv", "w", newline="") as text,
        tf.io.TFRecordWriter(str(folder / f"{name}.tfrecord")) as records,
    ):
        writer = csv.writer(text, lineterminator="\n")
        for row in rows:
            writer.writerow([row[column] for column in shape])
            made = tf.train.Example()
            for column, (kind, _) in shape.items():
                feature = made.features.feature[column]
                if row[column] == "":
                    continue
                if kind == "BYTES":
                    feature.bytes_list.value.append(row[column].encode())
                elif kind == "INT":
                    feature.int64_list.value.append(int(float(row[column])))
                else:
                    feature.float_list.value.append(float(row[column]))
            records.write(made.SerializeToString())


def schema_of(shape: Shape) -> Any:
    """Features that may be missing are sparse, the others dense."""
    from google.protobuf import text_format
    from tensorflow_metadata.proto.v0 import schema_pb2

    parts = []
    for name, (kind, may_miss) in shape.items():
        how = (
            "value_count { min: 0 max: 1 }"
            if may_miss
            else "presence { min_fraction: 1 } shape { dim { size: 1 } }"
        )
        parts.append(f'feature {{ name: "{name}" type: {kind} {how} }}')
    return text_format.Parse("\n".join(parts), schema_pb2.Schema())


# ---- one process: theirs or ours ----


def digest(parts: Iterable[bytes]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()


def canonical(record: bytes) -> bytes:
    """The same tf.Example, its features in the order of their names."""
    import tensorflow as tf

    made: bytes = tf.train.Example.FromString(record).SerializeToString(deterministic=True)
    return made


def _text_of(tensors: dict[str, Any]) -> bytes:
    """Shapes, types and values of tensors by name."""
    parts = []
    for name, tensor in sorted(tensors.items()):
        arrays = tensor if isinstance(tensor, tuple) else (tensor,)
        parts.append((name, [(str(array.dtype), array.tolist()) for array in arrays]))
    return repr(parts).encode()


def measured(run: Callable[[Any], Any], items: Sequence[Any]) -> tuple[float, list[Any]]:
    """CPU seconds of the process for all items, the least of some passes; and what came out."""
    made = [run(item) for item in items]
    seconds = []
    for _ in range(PASSES):
        start = time.process_time()
        for item in items:
            run(item)
        seconds.append(time.process_time() - start)
    return min(seconds), made


def stages(folder: pathlib.Path, name: str) -> dict[str, Any]:
    """Stage -> (CPU seconds, digest of what came out)."""
    import tensorflow as tf
    from tfx_bsl.coders import example_coder
    from tfx_bsl.tfxio import tensor_adapter, tensor_representation_util, tensor_to_arrow

    schema = schema_of(DATA[name])
    dataset = tf.data.TFRecordDataset(str(folder / f"{name}.tfrecord"))
    records = list(dataset.as_numpy_iterator())
    batches = [records[i : i + ROWS] for i in range(0, len(records), ROWS)]

    decoder = example_coder.ExamplesToRecordBatchDecoder(schema.SerializeToString())
    decode, decoded = measured(decoder.DecodeBatch, batches)
    representations = tensor_representation_util.InferTensorRepresentationsFromMixedSchema(schema)
    config = tensor_adapter.TensorAdapterConfig(decoded[0].schema, representations)
    adapter = tensor_adapter.TensorAdapter(config)
    adapt, tensors = measured(
        lambda batch: adapter.ToBatchTensors(batch, produce_eager_tensors=False), decoded
    )
    converter = tensor_to_arrow.TensorsToRecordBatchConverter(adapter.TypeSpecs())
    convert, converted = measured(converter.convert, tensors)
    encoder = example_coder.RecordBatchToExamplesEncoder(schema)
    encode, encoded = measured(encoder.encode, decoded)
    found = {
        "decode": (decode, digest(repr(batch.to_pydict()).encode() for batch in decoded)),
        "adapt": (adapt, digest(map(_text_of, tensors))),
        "convert": (
            convert,
            digest(
                repr((str(batch.schema), sorted(batch.to_pydict().items()))).encode()
                for batch in converted
            ),
        ),
        "encode": (encode, digest(canonical(record) for part in encoded for record in part)),
    }
    return {stage: {"seconds": seconds, "is": told} for stage, (seconds, told) in found.items()}


def census_fn(inputs: dict[str, Any]) -> dict[str, Any]:
    """Numbers to 0 ... 1, ages to buckets, words to their place in a vocabulary."""
    import tensorflow as tf
    import tensorflow_transform as tft

    outputs = {"age_bucket": tft.bucketize(inputs["age"], 8)}
    for name, (kind, may_miss) in CENSUS.items():
        if kind == "BYTES":
            outputs[name] = tft.compute_and_apply_vocabulary(
                inputs[name], num_oov_buckets=1, vocab_filename=name
            )
        elif may_miss:
            dense = tf.sparse.to_dense(inputs[name], default_value=0.0)
            outputs[name] = tft.scale_to_0_1(tf.squeeze(dense, 1))
        else:
            outputs[name] = tft.scale_to_0_1(inputs[name])
    return outputs


def taxi_fn(inputs: dict[str, Any]) -> dict[str, Any]:
    """z-scores, vocabularies of ten, buckets; a missing value is 0 or "", as in TFX's example."""
    import tensorflow as tf
    import tensorflow_transform as tft

    def filled(name: str) -> Any:
        empty = {"BYTES": "", "INT": 0, "FLOAT": 0.0}[TAXI[name][0]]
        sparse = inputs[name]
        whole = tf.SparseTensor(sparse.indices, sparse.values, [sparse.dense_shape[0], 1])
        return tf.squeeze(tf.sparse.to_dense(whole, empty), 1)

    outputs = {}
    for name in ("trip_miles", "fare", "trip_seconds"):
        outputs[name] = tft.scale_to_z_score(tf.cast(filled(name), tf.float32))
    for name in ("payment_type", "company"):
        outputs[name] = tft.compute_and_apply_vocabulary(
            filled(name), top_k=10, num_oov_buckets=2, vocab_filename=name
        )
    for name in ("pickup_latitude", "pickup_longitude", "dropoff_latitude", "dropoff_longitude"):
        outputs[name] = tft.bucketize(filled(name), 10)
    for name in ("trip_start_hour", "trip_start_day", "trip_start_month"):
        outputs[name] = filled(name)
    outputs["tips"] = tf.cast(filled("tips") > filled("fare") * 0.2, tf.int64)
    return outputs


def tfxio_of(folder: pathlib.Path, name: str, way: str) -> Any:
    """The files of the data as a TFXIO, and what its source is applied to."""
    from tfx_bsl.public import tfxio

    schema = schema_of(DATA[name])
    told = {"telemetry_descriptors": ["bench"], "schema": schema}
    if way == "TFExampleRecord":
        return tfxio.TFExampleRecord(str(folder / f"{name}.tfrecord"), **told)
    if way == "CsvTFXIO":
        return tfxio.CsvTFXIO(str(folder / f"{name}.csv"), column_names=list(DATA[name]), **told)
    return tfxio.BeamRecordCsvTFXIO("text", column_names=list(DATA[name]), **told)


def pipeline(folder: pathlib.Path, name: str, way: str) -> dict[str, Any]:
    """What comes out of TFT's analysis and transformation of all rows."""
    import apache_beam as beam
    import tensorflow_transform as tft
    import tensorflow_transform.beam as tft_beam
    from tfx_bsl.coders import example_coder

    start = time.process_time()
    source = tfxio_of(folder, name, way)
    with tempfile.TemporaryDirectory() as work:
        transforms, output = os.path.join(work, "transform"), os.path.join(work, "out")
        with (
            beam.Pipeline() as root,
            tft_beam.Context(temp_dir=os.path.join(work, "temp"), desired_batch_size=ROWS),
        ):
            begin = root
            if way.startswith("Beam"):
                lines = root | beam.io.ReadFromText(str(folder / f"{name}.csv"))
                begin = lines | beam.Map(str.encode).with_output_types(bytes)
            batches = begin | source.BeamSource(batch_size=ROWS)
            (transformed, metadata), transform = (
                batches,
                source.TensorAdapterConfig(),
            ) | tft_beam.AnalyzeAndTransformDataset(
                census_fn if name == "census" else taxi_fn, output_record_batches=True
            )
            transform | tft_beam.WriteTransformFn(transforms)
            encoder = example_coder.RecordBatchToExamplesEncoder(metadata.schema)
            records = transformed | beam.FlatMapTuple(lambda batch, _: encoder.encode(batch))
            records | beam.io.WriteToTFRecord(output, num_shards=1, shard_name_template="")
        seconds = time.process_time() - start
        made = tft.TFTransformOutput(transforms)
        words = [
            made.vocabulary_file_by_name(column)
            for column, (kind, _) in DATA[name].items()
            if kind == "BYTES" and (name == "census" or column in ("payment_type", "company"))
        ]
        import tensorflow as tf

        written = list(tf.data.TFRecordDataset(output).as_numpy_iterator())
        told = [
            made.transformed_metadata.schema.SerializeToString(deterministic=True),
            *(pathlib.Path(file).read_bytes() for file in words),
            *sorted(map(canonical, written)),
        ]
    return {"seconds": seconds, "records": len(written), "is": digest(told)}


PIPELINES = (
    ("census", "TFExampleRecord"),
    ("census", "CsvTFXIO"),
    ("census", "BeamRecordCsvTFXIO"),
    ("taxi", "TFExampleRecord"),
    ("taxi", "CsvTFXIO"),
)


def child(side: str, folder: pathlib.Path, with_pipelines: bool) -> None:
    """Prints what one of the two has found as JSON, in the last line."""
    if side == "ours":
        from columnstone.compat import tfx_bsl as compat

        compat.install()
    from tfx_bsl.coders import example_coder

    if (side == "ours") != example_coder.__name__.startswith("columnstone"):
        raise SystemExit(f"{side} runs over {example_coder.__name__}")
    found: dict[str, Any] = {"stages": {name: stages(folder, name) for name in DATA}}
    if with_pipelines:
        found["pipelines"] = {
            f"{name} {way}": pipeline(folder, name, way) for name, way in PIPELINES
        }
    print("\n" + json.dumps(found))


# ---- all processes ----


def run(side: str, folder: pathlib.Path, with_pipelines: bool) -> dict[str, Any]:
    command = [sys.executable, "-W", "ignore", __file__, "--side", side, "--work", str(folder)]
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [*command, *([] if with_pipelines else ["--stages"])],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"{side} failed:\n{done.stderr[-4000:]}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def report(found: dict[str, list[dict[str, Any]]]) -> bool:
    """Prints the tables; whether all is equal and fast enough."""
    is_good = True
    print("| data | stage | tfx_bsl, CPU s | Columnstone, CPU s | ratio | results |")
    print("|---|---|---|---|---|---|")
    for name in DATA:
        sums = dict.fromkeys(SIDES, 0.0)
        for stage in STAGES:
            seconds = {
                side: statistics.median(r["stages"][name][stage]["seconds"] for r in found[side])
                for side in SIDES
            }
            told = {r["stages"][name][stage]["is"] for side in SIDES for r in found[side]}
            for side in SIDES:
                sums[side] += seconds[side]
            is_good = is_good and len(told) == 1
            _row(name, stage, seconds, "equal" if len(told) == 1 else "**differ**")
        ratio = sums["theirs"] / sums["ours"]
        is_good = is_good and ratio >= GOAL
        _row(name, "all", sums, f"goal {GOAL:g}x" + ("" if ratio >= GOAL else " **missed**"))
    for name in found["ours"][0].get("pipelines", {}):
        both = {side: found[side][0]["pipelines"][name] for side in SIDES}
        is_equal = both["ours"]["is"] == both["theirs"]["is"]
        is_good = is_good and is_equal
        told_so = "equal" if is_equal else "**differ**"
        _row(
            name,
            "whole pipeline",
            {side: part["seconds"] for side, part in both.items()},
            f"{told_so}, {both['ours']['records']} records",
        )
    return is_good


def _row(name: str, stage: str, seconds: dict[str, float], told: str) -> None:
    theirs, ours = seconds["theirs"], seconds["ours"]
    print(f"| {name} | {stage} | {theirs:.3f} | {ours:.3f} | {theirs / ours:.1f}x | {told} |")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=15_000)
    parser.add_argument("--rounds", type=int, default=3, help="processes of each, for the stages")
    parser.add_argument("--stages", action="store_true", help="without the pipelines")
    parser.add_argument("--taxi", type=pathlib.Path, help="trips as CSV, else generated ones")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=pathlib.Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.side is not None:
        child(chosen.side, chosen.work, not chosen.stages)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_data(folder, "census", census_rows(chosen.rows))
        write_data(folder, "taxi", taxi_rows(chosen.rows, chosen.taxi))
        found: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
        for i in range(chosen.rounds):
            for side in SIDES:
                found[side].append(run(side, folder, i == 0 and not chosen.stages))
    return int(not report(found))


if __name__ == "__main__":
    raise SystemExit(main())
