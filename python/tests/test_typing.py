"""The types that the package gives, as a checker sees them where it is installed."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import columnstone as cst
import pytest

HERE = pathlib.Path(__file__).parent


def test_a_training_passes_mypy_strict_without_casts(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mypy")
    pytest.importorskip("torch")
    script = HERE / "typed_training.py"
    assert "cast(" not in script.read_text()
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_the_training_does_what_its_types_say(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("torch")
    import typed_training as script

    schema = """
      feature { name: "price" type: FLOAT shape {} presence { min_fraction: 1 } }
      feature { name: "score" type: FLOAT shape {} presence { min_fraction: 1 } }
      feature { name: "tags" type: INT }
      feature { name: "tokens" type: INT value_count { min: 0 } }
      tensor_representation_group { key: "" value {
        tensor_representation { key: "price" value {
          dense_tensor { column_name: "price" shape {} } } }
        tensor_representation { key: "score" value {
          dense_tensor { column_name: "score" shape {} } } }
        tensor_representation { key: "tags" value { varlen_sparse_tensor {
          column_name: "tags" } } }
        tensor_representation { key: "tokens" value { ragged_tensor {
          feature_path { step: "tokens" } } } }
      } }"""
    rows = [{"price": [i / 2], "score": [1.0], "tags": [i], "tokens": [i] * (i % 3 + 1)}
            for i in range(20)]  # fmt: skip
    cst.write(cst.record_batch(rows), tmp_path / "flat.tfrecord", lossy=True)
    flat = cst.open(tmp_path / "flat.tfrecord", schema=schema)
    assert all(loss >= 0 for loss in script.train(flat))
    assert script.tensors(flat).tolist() == [i / 2 for i in range(20)]

    batch = cst.record_batch([{"price": 1.5}])
    again, data, sequences = script.codecs(batch)
    assert again.to_pydict() == {"price": [[1.5]]}
    assert (data, len(sequences)) == (b'{"price": 1.5}\n', 1)

    nested = [{"price": float(i), "event": {"clicks": [i, 1]}} for i in range(4)]
    cst.write(cst.record_batch(nested), tmp_path / "nested.jsonl")
    assert script.structured(cst.open(tmp_path / "nested.jsonl"))[:3] == [1.5, 6.0, 5.0]
