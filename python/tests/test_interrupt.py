"""Ctrl-C in the midst of long calls: KeyboardInterrupt in the caller, soon."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import columnstone as cst
import pytest

SOON = 2.0  # seconds; it is a fraction of that on a machine that has nothing else to do

# Says when it is about to begin, and how long after the signal the exception was caught.
CHILD = """
import os, signal, sys, time
import columnstone as cst
path, many = sys.argv[1], [sys.argv[1]] * 3000
with open(path, "rb") as file:
    data = file.read()

class Slow:  # a file that never ends
    def __init__(self, data): self.data, self.at = data, 0
    def read(self, size):
        time.sleep(0.01)
        self.at %= len(self.data)
        self.at += size
        return self.data[self.at - size : self.at]

for name in cst.__all__: getattr(cst, name)  # whose import would be interrupted
cst.codec, cst.source
A = bytes.fromhex('0a0161220e0a014112090a0169180120012803')  # message A with an int64 i
def schema(): return cst.open(path).schema
def forever(call):  # CPython 3.11 does not catch what is raised as a loop of the try goes round
    while True: call()
def passed(*args): print(*args, time.monotonic(), flush=True)
{prepare}
try:
    print("ready", flush=True)
    {call}
except {exception}:
    passed("caught")
"""

OWN_HANDLER = """
class Stop(Exception): pass
def stop(*_): raise Stop
signal.signal(signal.SIGINT, stop)
"""

THREAD = """
import threading
done = []
def work(): done.append(sum(len(b) for b in cst.open(many[:1500], schema=schema())))
thread = threading.Thread(target=work)
thread.start()
"""

CALLS = {
    "schema": "cst.open(many).schema",
    "next without a schema": "next(iter(cst.open(many)))",
    "num_rows": "cst.open(many * 5, schema=schema(), on_error='skip').num_rows",
    "a batch": "next(iter(cst.open(many, schema=schema(), batch_size=10**8)))",
    "a batch, threads": "next(iter(cst.open(many, schema=schema(), batch_size=10**8, threads=2)))",
    "a loop": "[len(b) for b in cst.open(many, schema=schema())]",
    "verify": "cst.open(many).verify()",
    "validate": "cst.open(many).validate(schema())",
    "validate, threads": "cst.open(many, threads=2).validate(schema())",
    "infer, threads": "cst.infer_schema(many, threads=2)",
    "propose, threads": "cst.infer_schema(many, threads=2, propose=True)",
    "tensors": "next(iter(cst.open(many, schema=schema(), batch_size=10**8).tensors()))",
    "dataset": "[0 for _ in cst.open(many, schema=schema()).dataset(64, True, epochs=None)]",
    "convert": "cst.convert(many, path + '.out.csv')",
    "write": "cst.write(cst.open(many, schema=schema()), path + '.out.tfrecord.gz')",
    "messages": "records = [bytes([8, 1] * 10**5)] * 10**6;"
    "cst.decoder('message', message='A', descriptors=A).decode(records)",
    "messages, encoded": "b = cst.record_batch({'i': list(range(10**6))});"
    "forever(lambda: cst.encoder('message', message='A', descriptors=A).encode(b))",
    "a slow file": "list(cst.open(Slow(data), schema=schema(), threads=2))",
    "python objects": "forever(lambda: next(iter(cst.open(path, batch_size=10**6))).to_pydict())",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("interrupt") / "a.tfrecord"
    with cst.codec.TFRecordWriter(path) as writer:
        for i in range(10000):
            writer.write(record(i))
    return path


def record(i: int) -> bytes:
    """A tf.Example with an id and a text of 200 bytes, by hand."""
    ints = b"\x1a\x04\x0a\x02" + bytes([0x80 | i & 127, i >> 7])
    text = b"\x0a\xcb\x01\x0a\xc8\x01" + b"x" * 200
    return message(1, feature(b"id", ints) + feature(b"text", text))


def message(number: int, data: bytes) -> bytes:
    size, n = b"", len(data)
    while n > 127:
        size, n = size + bytes([n & 127 | 128]), n >> 7
    return bytes([number << 3 | 2]) + size + bytes([n]) + data


def feature(name: bytes, data: bytes) -> bytes:
    return message(1, message(1, name) + message(2, data))


def interrupt(
    path: pathlib.Path, call: str, prepare: str = "", exception: str = "KeyboardInterrupt"
) -> tuple[float, str]:
    """Seconds until the exception was caught in the child that makes the call; its other output."""
    text = CHILD.format(prepare=prepare, call=call, exception=exception)
    child = subprocess.Popen(
        [sys.executable, "-c", text, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=unignore,
    )
    assert child.stdout is not None
    ready = child.stdout.readline()
    time.sleep(0.2)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    timer = threading.Timer(30, child.kill)
    timer.start()
    output, errors = child.communicate()
    timer.cancel()
    assert (ready, errors) == ("ready\n", "")
    assert child.returncode == 0
    name, caught, *rest = output.split()
    assert name == "caught"
    return float(caught) - sent, " ".join(rest)


def unignore() -> None:
    """A run in the background has SIGINT ignored, and its children too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_left_soon(data: pathlib.Path, name: str) -> None:
    seconds, _ = interrupt(data, CALLS[name])
    assert seconds < SOON
    assert [p.name for p in data.parent.iterdir()] == [data.name]


def test_a_handler_that_raises_something_else(data: pathlib.Path) -> None:
    seconds, _ = interrupt(data, CALLS["schema"], OWN_HANDLER, "Stop")
    assert seconds < SOON


def test_a_handler_that_does_not_raise(data: pathlib.Path) -> None:
    """The call goes on, and its result is right."""
    prepare = "signal.signal(signal.SIGINT, lambda *_: passed('caught'))"
    call = "print(cst.open(many[:1000], threads=2).schema is None)"
    seconds, rest = interrupt(data, call, prepare)
    assert seconds < SOON
    assert rest == "False"


def test_other_threads_go_on(data: pathlib.Path) -> None:
    """The main thread waits, and hears of it; the reading thread reads to its end."""
    call = "while not done: time.sleep(0.01)"
    exception = "KeyboardInterrupt:\n    passed('caught')\n    thread.join(); print(done[0])\nelse"
    seconds, rest = interrupt(data, call, THREAD, exception)
    assert seconds < SOON
    assert rest == "15000000"


def test_a_pass_that_was_interrupted_is_closed(data: pathlib.Path) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    source = cst.open([data] * 3000, schema=cst.open(data).schema, batch_size=10**8)
    batches = iter(source)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            next(batches)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    with pytest.raises(cst.errors.StateError, match="closed"):
        next(batches)
    source.close()
    assert len(next(iter(cst.open(data)))) > 0
