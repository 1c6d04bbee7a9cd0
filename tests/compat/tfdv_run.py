"""What TFDV 1.16 finds in small files, as text: statistics of TFRecords, CSV and a data frame, the
schema inferred of them, anomalies of other data, drift.

    python tfdv_run.py theirs FOLDER                                    writes FOLDER/theirs.txt
    python -m columnstone.compat.tfx_bsl tfdv_run.py ours FOLDER        and FOLDER/ours.txt
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import pandas as pd
import tensorflow as tf
import tensorflow_data_validation as tfdv
from google.protobuf import text_format
from tfx_bsl.arrow import array_util

which, folder = sys.argv[1], pathlib.Path(sys.argv[2])
assert (which == "ours") == array_util.__name__.startswith("columnstone")


def example(i: int) -> tf.train.Example:
    made = tf.train.Example()
    made.features.feature["number"].int64_list.value.append(i * i % 97)
    made.features.feature["word"].bytes_list.value.append(f"w{i % 13}".encode())
    made.features.feature["odd"].bytes_list.value.append(b"\xff" if i % 7 == 0 else b"fine")
    if i % 5:
        made.features.feature["weights"].float_list.value.extend([i / 4] * (i % 4))
    if i % 11 == 0:
        made.features.feature["rare"].int64_list.value.extend([1, 2])
    return made


def text(message: Any) -> str:
    """Features in the order of their names: else it is that of the first batches, whose sizes Beam
    chooses by the clock."""
    for dataset in getattr(message, "datasets", []):
        features = sorted(dataset.features, key=lambda feature: list(feature.path.step))
        del dataset.features[:]
        dataset.features.extend(features)
    for schema in (message, getattr(message, "baseline", None)):
        if hasattr(schema, "feature"):
            named = sorted(schema.feature, key=lambda feature: str(feature.name))
            del schema.feature[:]
            schema.feature.extend(named)
    written: str = text_format.MessageToString(message)
    return written


records = str(folder / f"{which}.tfrecord")
with tf.io.TFRecordWriter(records) as writer:
    for i in range(500):
        writer.write(example(i).SerializeToString())
columns = {
    "a": [i * i % 89 for i in range(300)],
    "b": [f"x{i % 9}" for i in range(300)],
    "c": [i / 8 if i % 3 else None for i in range(300)],
}
frame = pd.DataFrame(columns)
csv = str(folder / f"{which}.csv")
frame.to_csv(csv, index=False)

options = tfdv.StatsOptions(
    num_top_values=5, num_histogram_buckets=4, num_quantiles_histogram_buckets=4
)
sliced = tfdv.StatsOptions(
    experimental_slice_functions=[tfdv.experimental_get_feature_value_slicer({"word": None})],
    weight_feature="number",
)
of_records = tfdv.generate_statistics_from_tfrecord(records, stats_options=options)
of_csv = tfdv.generate_statistics_from_csv(csv, stats_options=options)
of_frame = tfdv.generate_statistics_from_dataframe(frame, stats_options=options)
of_slices = tfdv.generate_statistics_from_tfrecord(records, stats_options=sliced)
schema = tfdv.infer_schema(of_records)
tfdv.get_feature(schema, "word").drift_comparator.infinity_norm.threshold = 0.0001
other = tfdv.generate_statistics_from_dataframe(
    pd.DataFrame({"number": [1.5, 2.5], "word": ["w0", "new"], "extra": [1, 2]})
)
anomalies = tfdv.validate_statistics(other, schema, previous_statistics=of_records)
parts = {
    "tfrecord": of_records,
    "csv": of_csv,
    "frame": of_frame,
    "slices": of_slices,
    "schema": schema,
    "anomalies": anomalies,
}
(folder / f"{which}.txt").write_text(
    "".join(f"== {name}\n{text(part)}" for name, part in parts.items())
)
