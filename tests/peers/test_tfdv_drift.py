"""Drift and skew as TensorFlow Data Validation measures them, of its statistics and of ours.

TFDV needs the older TensorFlow of struct2tensor's environment, in which this runs.
"""

from __future__ import annotations

import pathlib
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
import tensorflow_data_validation as tfdv
from columnstone import _core
from google.protobuf import text_format
from tensorflow_data_validation.statistics import stats_impl
from tensorflow_metadata.proto.v0 import schema_pb2

Key = tuple[str, str]
NUMBERS = ["even", "shifted", "few", "one", "normal"]
SCHEMA = (
    """
feature { name: 'word' type: BYTES COMPARATOR {
  infinity_norm { threshold: 0 } jensen_shannon_divergence { threshold: 0 } } }
feature { name: 'rare' type: BYTES COMPARATOR { normalized_abs_difference { threshold: 0 } } }
"""
    + "".join(
        f"feature {{ name: '{name}' type: FLOAT COMPARATOR {{ jensen_shannon_divergence {{"
        f" threshold: 0 SOURCE }} }} }}"
        for name in NUMBERS
    )
    + "feature { name: 'count' type: INT COMPARATOR { jensen_shannon_divergence {"
    " threshold: 0 SOURCE } } }"
)


def data(seed: int, rows: int) -> pa.RecordBatch:
    random = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "word": [f"w{i}" for i in random.integers(0, 5 + seed, rows)],
        "rare": [f"r{i}" for i in random.zipf(2, rows) % (3 + seed)],
        "even": random.uniform(0, 1, rows),
        "shifted": random.uniform(0.1 * seed, 1 + 0.1 * seed, rows),
        "few": random.integers(0, 4, rows).astype(float),
        "one": np.full(rows, 0.5),
        "normal": random.normal(seed, 1 + seed, rows),
        "count": random.poisson(3 + seed, rows),
    }
    return pa.RecordBatch.from_pydict(
        {name: pa.array([[v] for v in values]) for name, values in columns.items()}
    )


def theirs(before: Any, after: Any, schema: str, kind: str) -> dict[Key, float]:
    made = text_format.Parse(schema, schema_pb2.Schema())
    other = {"drift": "previous_statistics", "skew": "serving_statistics"}[kind]
    found = tfdv.validate_statistics(after, made, **{other: before})
    names = {1: "linf", 2: "jensen_shannon", 3: "normalized_abs_difference"}
    return {
        (info.path.step[0], names[measure.type]): measure.value
        for info in found.drift_skew_info
        for measure in (info.drift_measurements if kind == "drift" else info.skew_measurements)
    }


def ours(before: Any, after: Any, schema: str, kind: str) -> dict[Key, float]:
    core = cst.Schema(schema)._handle
    found, _ = _core.statistics_compare(before, after, core, (("kind", kind),))
    columns = found.to_pydict()
    return {
        (path, anomaly["measure"]): anomaly["value"]
        for path, anomalies in zip(columns["path"], columns["anomalies"], strict=True)
        for anomaly in anomalies
    }


@pytest.mark.parametrize("kind", ["drift", "skew"])
@pytest.mark.parametrize("source", ["", "source { type: QUANTILES }"])
def test_measures_are_those_of_tfdv(kind: str, source: str, tmp_path: pathlib.Path) -> None:
    schema = SCHEMA.replace("COMPARATOR", f"{kind}_comparator").replace("SOURCE", source)
    batches = [data(1, 3000), data(2, 2000)]
    made = [stats_impl.generate_statistics_in_memory(batch) for batch in batches]
    wanted = {key: value for key, value in theirs(*made, schema, kind).items() if value > 1e-12}
    assert len(wanted) == 8  # all but the constant
    read = [_core.statistics_from_tfdv(m.SerializeToString(), None)[0] for m in made]
    check(ours(*read, schema, kind), wanted, 1e-6 if source == "" else 2e-4)
    # Ours have other quantiles than theirs, of the same data.
    check(ours(*[statistics(b, tmp_path) for b in batches], schema, kind), wanted, 0.01)


def statistics(batch: pa.RecordBatch, folder: pathlib.Path) -> Any:
    path = folder / "batch.arrow"
    with pa.ipc.new_file(path, batch.schema) as writer:
        writer.write_batch(batch)
    return cst.open(path).accumulate("statistics")


def check(found: dict[Key, float], wanted: dict[Key, float], error: float) -> None:
    """Quantiles of numbers of which there are few say less: TFDV tells weights with them."""
    assert found.keys() == wanted.keys()
    for key, value in wanted.items():
        is_exact = key[0] in ("word", "rare")
        allowed = 0.015 if key[0] in ("few", "count") and error > 1e-6 else error
        assert found[key] == pytest.approx(value, abs=1e-9 if is_exact else allowed), key
