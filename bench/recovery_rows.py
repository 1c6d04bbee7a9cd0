"""The rows on damaged files: verify, count, and what recovery costs and saves."""

from __future__ import annotations

import ctypes
import ctypes.util
import pathlib
import shutil
import time
from collections.abc import Callable

import columnstone as cst
import contenders as c
import timing
from decode_rows import Settings
from file_rows import big_file
from report import Figure, Results, faster

Paths = list[str]
BLOCK = 256 << 10


def isal_crc() -> Callable[[int, int], int]:
    """ISA-L's CRC-32C of bytes at an address: the machine's speed, by other people's code."""
    library = ctypes.CDLL(ctypes.util.find_library("isal") or "libisal.so.2")
    function = library.crc32_iscsi
    function.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint]
    function.restype = ctypes.c_uint
    return lambda address, size: int(function(address, size, 0))


def verifier(threads: int, *, memory_map: bool = False) -> c.Contender:
    def run(paths: Paths) -> None:
        source = cst.open(paths, format="raw", threads=threads, memory_map=memory_map)
        assert not source.verify().faults

    return c.Contender(f"verify, {threads} threads", lambda paths: paths, run)


def read_and_check(crc: Callable[[int, int], int]) -> c.Contender:
    """Nothing but reading the bytes block by block, and one CRC of each block."""
    block = (ctypes.c_char * BLOCK)()
    address = ctypes.addressof(block)

    def run(paths: Paths) -> None:
        for path in paths:
            with pathlib.Path(path).open("rb", buffering=0) as file:
                while size := file.readinto(block):
                    crc(address, size)

    return c.Contender("read and CRC", lambda paths: paths, run)


def verify_speed(settings: Settings, results: Results) -> None:
    """Wall time; the file lies in the page cache, from where reading copies it."""
    paths = big_file(settings)
    size = pathlib.Path(paths[0]).stat().st_size
    crc = isal_crc()
    memory = ctypes.create_string_buffer(size)
    with pathlib.Path(paths[0]).open("rb") as file:
        file.readinto(memory)
    address = ctypes.addressof(memory)

    def whole(_: Paths) -> None:
        for at in range(0, size, 1 << 30):
            crc(address + at, min(1 << 30, size - at))

    whole_crc = c.Contender("CRC", lambda paths: paths, whole)
    mapped = verifier(1, memory_map=True)
    tasks = [verifier(1), verifier(2), mapped, read_and_check(crc), whole_crc]
    seconds = timing.alternating(tasks, [paths] * len(tasks), settings.rounds, time.perf_counter)
    one, two, by_map, reading, memory_speed = (size / each / 1e9 for each in seconds)

    def add(label: str, speed: float, peer: float) -> None:
        figure = f"{speed / peer:.0%} ({speed:.1f} of {peer:.1f} GB/s)"
        results.figures.append(Figure(label, figure, "≥ 70 %", speed >= 0.7 * peer))

    add("verify a plain file with 2 threads, against crc32c over memory", two, memory_speed)
    add("the same with one thread", one, memory_speed)
    add("the same with one thread, with memory_map", by_map, memory_speed)
    add("the same against reading the file in blocks and their crc32c alone", one, reading)


def count_speed(settings: Settings) -> Figure:
    tf = c.tensorflow_one_thread()
    paths = big_file(settings)

    def ours(names: Paths) -> None:
        cst.open(names, format="raw").count()

    def theirs(names: Paths) -> None:
        for batch in tf.data.TFRecordDataset(names).batch(1000):
            del batch

    tasks = [
        c.Contender("columnstone", lambda paths: paths, ours),
        c.Contender("TensorFlow", lambda paths: paths, theirs),
    ]
    rounds = max(3, settings.rounds // 2)
    mine, other = timing.alternating(tasks, [paths] * 2, rounds, time.perf_counter)
    label = "count a plain TFRecord file against reading it with tf.data"
    return faster(label, "tf.data", other / mine, f"{mine:.3f} s, {other:.2f} s", 10)


def damaged_copy(path: pathlib.Path) -> pathlib.Path:
    """The same file with one byte of a length flipped, about a third into it."""
    copy = path.with_suffix(".damaged")
    if not copy.exists():
        shutil.copy(path, copy)
        with copy.open("r+b") as file:
            at = 0
            while at < path.stat().st_size // 3:
                file.seek(at)
                size = int.from_bytes(file.read(8), "little")
                begin, at = at, at + size + 16
            file.seek(begin + 1)
            byte = file.read(1)[0]
            file.seek(begin + 1)
            file.write(bytes([byte ^ 64]))
    return copy


def recovery(settings: Settings) -> Figure:
    clean = pathlib.Path(big_file(settings)[0])
    damaged = damaged_copy(clean)
    rows = [0, 0]

    def reader(i: int, on_error: str) -> c.Contender:
        def run(paths: Paths) -> None:
            source = cst.open(paths, format="raw", on_error=on_error)
            rows[i] = sum(batch.num_rows for batch in source)

        return c.Contender(on_error, lambda paths: paths, run)

    tasks = [reader(0, "raise"), reader(1, "skip")]
    rounds = max(3, settings.rounds // 2)
    inputs = [[str(clean)], [str(damaged)]]
    whole, rest = timing.alternating(tasks, inputs, rounds, time.perf_counter)
    share = rows[1] / rows[0]
    return Figure(
        "recover a file of 1 GB with one flipped length byte",
        f"{share:.5%} of the records ({rows[0] - rows[1]} lost) in {rest / whole:.2f}x of the"
        " clean time",
        "≥ 99 % in ≤ 3x",
        share >= 0.99 and rest <= 3 * whole,
    )


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    return {
        "verify": lambda: verify_speed(settings, results),
        "count": lambda: results.figures.append(count_speed(settings)),
        "recovery": lambda: results.figures.append(recovery(settings)),
    }
