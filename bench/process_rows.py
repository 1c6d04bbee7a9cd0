"""The rows on whole processes: import time, first use, start of the CLI, and its peak memory."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable

import data
from decode_rows import Settings
from report import Figure, Results

TOP = pathlib.Path(__file__).resolve().parents[1]
IMPORT = """
import time
start = time.perf_counter()
import columnstone
{use}
print(time.perf_counter() - start)
"""


def cli() -> str | None:
    beside = pathlib.Path(sysconfig.get_path("scripts"), "columnstone")
    return str(beside) if beside.exists() else shutil.which("columnstone")


def import_time(settings: Settings, label: str, use: str) -> Figure:
    """In a fresh process each time; `use` is what comes after the import."""
    command = [sys.executable, "-c", IMPORT.format(use=use)]
    runs = [
        float(subprocess.run(command, capture_output=True, check=True).stdout)
        for _ in range(5 * settings.rounds)
    ]
    milliseconds = statistics.median(runs) * 1000
    return Figure(label, f"{milliseconds:.1f} ms", "< 50 ms", milliseconds < 50)


def imports(settings: Settings) -> list[Figure]:
    """Bare, and with all parts that are only loaded when they are used."""
    return [
        import_time(settings, "`import columnstone`", ""),
        import_time(
            settings,
            "`import columnstone` and every name in it",
            "[getattr(columnstone, name) for name in columnstone.__all__]",
        ),
    ]


FIRST_USE = """
import sys
import columnstone
for _ in columnstone.open(sys.argv[1]).tensors():
    break
"""


def child_cpu(command: list[str]) -> float:
    """CPU seconds of a process, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_use(settings: Settings) -> Figure:
    """A process that opens a file of one record, less one that does nothing: the interpreter, and
    what the packages of this environment add to its start. The shortest of many, in turns."""
    import columnstone as cst

    file = settings.folder / "first-use.tfrecord"
    file.parent.mkdir(parents=True, exist_ok=True)
    cst.write([{"x": 1}], file, overwrite=True)
    bare, used = [], []
    for _ in range(10 * settings.rounds):
        bare.append(child_cpu([sys.executable, "-c", "pass"]))
        used.append(child_cpu([sys.executable, "-c", FIRST_USE, str(file)]))
    cost = (min(used) - min(bare)) * 1000
    packages = sum(1 for _ in importlib.metadata.distributions())
    return Figure(
        f"first tensors in a fresh process, {packages} packages installed",
        f"{cost:.0f} ms CPU, beside {min(bare) * 1000:.0f} ms of the interpreter",
        "< 50 ms",
        cost < 50,
    )


def start_time(settings: Settings) -> Figure:
    """From fork to exit of `columnstone --version`, the time of starting any process included."""
    program = cli()
    if program is None:
        return Figure("start of the CLI", "the CLI is not installed", "< 10 ms", False)
    runs = []
    for _ in range(5 * settings.rounds):
        start = time.perf_counter()
        subprocess.run([program, "--version"], stdout=subprocess.DEVNULL, check=True)
        runs.append(time.perf_counter() - start)
    milliseconds = statistics.median(runs) * 1000
    return Figure("start of the CLI", f"{milliseconds:.1f} ms", "< 10 ms", milliseconds < 10)


def private_memory(pid: int) -> int:
    """Anonymous and shared memory of a process, in bytes; 0 when it is gone."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    lines = (line.split() for line in status.splitlines())
    return sum(int(f[1]) * 1024 for f in lines if f and f[0] in ("RssAnon:", "RssShmem:"))


def tree_memory(pid: int) -> int:
    """Of a process and of the programs that it runs."""
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return private_memory(pid) + sum(tree_memory(int(child)) for child in children)


def peak_memory(command: list[str], environment: dict[str, str]) -> int:
    """The most that the process and those that it runs held, looked at every two milliseconds."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        command, env=environment, stdout=quiet, stderr=subprocess.PIPE
    ) as process:
        peak = 0
        while process.poll() is None:
            peak = max(peak, tree_memory(process.pid))
            time.sleep(0.002)
        if process.returncode != 0 and process.stderr is not None:
            raise RuntimeError(process.stderr.read().decode(errors="replace"))
    return peak


def plugin_environment() -> dict[str, str] | None:
    """The environment in which the CLI finds the newest Parquet plug-in of build/, if any."""
    built = list((TOP / "build").glob("**/columnstone-parquet.so"))
    if not built:
        return None
    newest = max(built, key=lambda path: path.stat().st_mtime)
    return {**os.environ, "COLUMNSTONE_PLUGIN_PATH": str(newest.parent)}


def memory(settings: Settings, suffix: str) -> list[Figure]:
    label = f"peak memory of the CLI, click log to {suffix}"
    goal = "< 150 MB, and the same for 2 GB"
    program = cli()
    environment = dict(os.environ) if suffix == ".arrow" else plugin_environment()
    if program is None or environment is None:
        return [Figure(label, "not measured: no CLI, or no Parquet plug-in in build/", goal, False)]
    source = data.make("click", settings.folder).path
    schema = str(source.with_suffix(".pbtxt"))
    peaks = []
    for size in (100_000_000, 2_000_000_000):
        if settings.quick:
            size //= 10
        file = data.grow(source, settings.folder / f"click-{size}.tfrecord", size)
        target = settings.folder / f"converted{suffix}"
        command = [program, "convert", str(file), str(target), "--schema", schema]
        command += ["--batch-size", "1000", "--threads", "2"]
        peaks.append(peak_memory(command, environment) / 1e6)
        target.unlink()
    good = max(peaks) < 150 and peaks[1] <= 1.1 * peaks[0] + 2
    text = f"{peaks[0]:.0f} MB for 100 MB, {peaks[1]:.0f} MB for 2 GB"
    return [Figure(label, text, goal, good)]


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    return {
        "import": lambda: results.figures.extend(imports(settings)),
        "first_use": lambda: results.figures.append(first_use(settings)),
        "cli_start": lambda: results.figures.append(start_time(settings)),
        "memory_arrow": lambda: results.figures.extend(memory(settings, ".arrow")),
        "memory_parquet": lambda: results.figures.extend(memory(settings, ".parquet")),
    }
