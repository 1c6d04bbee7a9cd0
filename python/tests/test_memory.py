"""Out of memory: each allocation of Python's in turn fails, and nothing but MemoryError follows."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest
from conftest import MakeFile

SCRIPT = """
import io, sys
from _testcapi import remove_mem_hooks, set_nomemory
import columnstone as cst
import pyarrow
from columnstone import _core as core

path = sys.argv[1]
schema = cst.infer_schema(path)
with open(path, "rb") as f:
    data = f.read()
records = [r for b in cst.open(path, format="raw") for r in b["record"]]
decoder, free = cst.decoder("example", schema), cst.decoder("example")
encoder = cst.encoder("example")
batch = decoder.decode(records)
array = encoder.encode(batch)
tensors = next(cst.open(path, schema=schema).tensors())
dense = tensors["id"]

table = pyarrow.table(pyarrow.record_batch(batch))
rows = cst.open(path, schema=schema)
wrong = records[:2] + [b"\\xff"] + records[2:]
with cst.codec.TFRecordWriter(path + ".damaged") as w:
    for r in wrong: w.write(r)
sequences = cst.decoder("sequence_example")
sequence_batch = sequences.decode([b""] * 3)

def dropping():
    told = []
    source = cst.open(path + ".damaged", schema=schema, on_error=told.append)
    for b in source: pass
    assert told == source.dropped and len(told) == 1

class Stream:
    def __init__(self): self.file = io.BytesIO(data)
    def read(self, size): return self.file.read(size)

def failing():
    try:
        decoder.decode([b"", b"\\xff"])
    except cst.errors.CorruptError:
        pass

USES = {
    "decode": lambda: decoder.decode(records),
    "decode without a schema": lambda: free.decode(records),
    "decode buffers": lambda: decoder.decode([bytearray(r) for r in records]),
    "decode arrow": lambda: decoder.decode(array),
    "fail": failing,
    "encode": lambda: encoder.encode(batch),
    "values": lambda: (batch.to_pydict(), array[0:1].to_pylist()),
    "export": lambda: (batch.__arrow_c_array__(), batch["tags"].__arrow_c_array__()),
    "arrow schema": lambda: (repr(batch.schema), batch.schema.names, batch.schema.children),
    "schema": lambda: (cst.Schema(schema.to_text()), schema.feature_spec(), schema.features),
    "read": lambda: list(cst.open(path, schema=schema)),
    "read a file object": lambda: list(cst.open(io.BytesIO(data), schema=schema)),
    # in one thread: CPython 3.11 crashes when it cannot make the state of another one
    "read a stream": lambda: list(cst.open(Stream(), schema=schema)),
    "export a stream": lambda: cst.open(path).__arrow_c_stream__(),
    "tensors": lambda: [list(t) for t in cst.open(path, schema=schema).tensors()],
    "dlpack": lambda: (dense.__dlpack__(), dense.__dlpack__(max_version=(1, 0), copy=True)),
    "buffers": lambda: (memoryview(dense), dense.tolist(), dense.__arrow_c_array__()),
    "verify": lambda: (cst.open(path).verify(), cst.open(path).count()),
    "write": lambda: cst.codec.TFRecordWriter(io.BytesIO()).close(),
    "read tables": lambda: list(cst.open([table, batch], columns=["id"], batch_size=4)),
    "drop": dropping,
    "rows": lambda: (rows[3], rows[[4, 5]], rows[1:3][0]),
    "write batches": lambda: cst.write([batch, batch], io.BytesIO(), "json"),
    "pickle a schema": lambda: batch.schema.__reduce__(),
    "types": lambda: core.arrow_schema(batch.schema),
    "sequences": lambda: cst.encoder("sequence_example").encode(sequences.decode([b""] * 3)),
    "index": lambda: cst.source.Index.build(path)[0],
}

failures = 0
for name, use in USES.items():
    use()
    n = fine = 0
    while fine < 20:
        n += 1
        set_nomemory(n, n + 1)
        try:
            use()
        except MemoryError:
            fine, failures = 0, failures + 1
        except SystemError as e:
            # CPython 3.11 loses an exception when it cannot make the frame of a traceback
            remove_mem_hooks()
            raises = name == "fail" or name.startswith("read")  # list() asks for a length first
            lost = "without exception set" in str(e) or "without setting an exc" in str(e)
            assert lost and raises, (name, n, e)
            fine, failures = 0, failures + 1
        else:
            fine += 1
        finally:
            remove_mem_hooks()
    use()
assert failures > 200
print("done")
"""


# CPython 3.13 itself frees garbage when it cannot make a StopIteration.
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="CPython itself has to survive it")
def test_every_allocation_of_python_fails_in_turn(make_file: MakeFile) -> None:
    pytest.importorskip("_testcapi")
    path: pathlib.Path = make_file("d.tfrecord", 6)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", SCRIPT, path],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
