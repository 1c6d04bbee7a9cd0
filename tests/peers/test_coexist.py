"""Columnstone in one process with TensorFlow, tfx_bsl, protobuf, pyarrow and tfrecord."""

from __future__ import annotations

import subprocess
import sys

import pytest

IMPORTS = {
    "tensorflow": "tf.train.Example.FromString(record)",
    "google.protobuf.descriptor_pool": "module.Default()",
    "pyarrow": "module.table(cst.open(path))",
    "tfx_bsl.coders.example_coder": "module.ExamplesToRecordBatchDecoder().DecodeBatch([record])",
    "tfrecord": "next(module.tfrecord_loader(path, None))",
}
TOGETHER = [name for name in IMPORTS if name != "tfrecord"]  # which cannot stand TensorFlow
ORDERS = [
    ["columnstone", *TOGETHER],
    [*TOGETHER, "columnstone"],
    *([name, "columnstone"] for name in IMPORTS),
    *(["columnstone", name] for name in IMPORTS),
]

PROGRAM = """
import importlib, sys, tempfile, os
modules = {name: importlib.import_module(name) for name in sys.argv[1:]}
cst = modules["columnstone"]
record = bytes.fromhex("0a0d0a0b0a016112061a040a02012a")
folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "one.tfrecord")
with cst.codec.TFRecordWriter(path) as writer:
    writer.write(record)
uses = %r
for name, module in modules.items():
    tf = modules.get("tensorflow")
    if name in uses:
        eval(uses[name])
    assert cst.decoder("example").decode([record]).to_pydict() == {"a": [[1, 42]]}
print("all well")
"""


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "-".join(o[:12] for o in order))
def test_one_process(order: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM % IMPORTS, *order],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "all well\n"


def test_importing_columnstone_imports_none_of_them() -> None:
    heavy = ["pyarrow", "numpy", "torch", "tensorflow", "apache_beam", "google.protobuf", "pandas"]
    check = f"import columnstone, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
