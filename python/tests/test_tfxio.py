"""tfxio without TensorFlow. tests/peers/test_tfxio.py compares it with tfx_bsl."""

from __future__ import annotations

import pathlib
import pickle
import subprocess
import sys

import pyarrow as pa
import pytest
from columnstone import tfxio
from conftest import SCHEMA, MakeFile

OPTIONS = tfxio.RecordBatchesOptions(30)


def test_examples(file: pathlib.Path) -> None:
    source = tfxio.TFExampleRecord(str(file), schema=SCHEMA)
    batches = list(source.RecordBatches(OPTIONS))
    assert [b.num_rows for b in batches] == [30, 30, 30, 10]
    assert all(isinstance(b, pa.RecordBatch) for b in batches)
    assert source.ArrowSchema().names == ["id", "pair", "tags", "steps"]
    adapter = source.TensorAdapter()
    tensors = adapter.ToBatchTensors(batches[1], ["id", "pair"])
    assert tensors["id"].tolist() == list(range(30, 60))
    assert adapter.ToBatchTensors(batches[1], []) == {}
    assert adapter.TensorRepresentations() == source.TensorRepresentations()
    assert adapter.ToBatchTensors(batches[0].slice(0, 0))["id"].shape == (0,)


def test_schema_is_inferred(file: pathlib.Path) -> None:
    source = tfxio.TFExampleRecord(str(file))
    assert sorted(source.TensorRepresentations()) == ["id", "pair", "steps", "tags"]
    batch = next(source.Project(["id"]).RecordBatches(OPTIONS))
    assert batch.schema.names == ["id"]


def test_projection_reads_its_columns(file: pathlib.Path) -> None:
    some = tfxio.TFExampleRecord(str(file), schema=SCHEMA).Project(["pair"])
    batch = next(some.RecordBatches(OPTIONS))
    assert batch.schema.names == ["pair"] == some.ArrowSchema().names
    assert list(some.TensorAdapter().ToBatchTensors(batch)) == ["pair"]


def test_pickles(file: pathlib.Path) -> None:
    source = pickle.loads(pickle.dumps(tfxio.TFExampleRecord(str(file), schema=SCHEMA)))
    assert sum(b.num_rows for b in source.RecordBatches(OPTIONS)) == 100


@pytest.mark.parametrize("name", ["x.tfrecord", "x.tfrecord.gz"])
def test_shuffled(make_file: MakeFile, name: str) -> None:
    source = tfxio.TFExampleRecord(str(make_file(name, 1000)), schema=SCHEMA)
    options = tfxio.RecordBatchesOptions(64, shuffle=True, shuffle_buffer_size=100, shuffle_seed=5)
    batches = list(source.RecordBatches(options))
    assert [b.num_rows for b in batches] == [64] * 15 + [40]
    ids = [v[0] for b in batches for v in b["id"].to_pylist()]
    assert sorted(ids) == list(range(1000)) != ids
    within = max(abs(i - at) for at, i in enumerate(ids)) < 200
    assert within == name.endswith(".gz")  # only these have to be read in order


def test_needs_no_tensorflow(file: pathlib.Path) -> None:
    code = (
        "import sys\nfrom columnstone import tfxio\n"
        "source = tfxio.TFExampleRecord(sys.argv[1], schema=sys.argv[2])\n"
        "batch = next(source.RecordBatches(tfxio.RecordBatchesOptions(5)))\n"
        "source.TensorAdapter().ToBatchTensors(batch)\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, str(file), SCHEMA], check=True)
