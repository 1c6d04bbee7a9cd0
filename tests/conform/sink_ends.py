"""Processes that end with an open writer, for test_sink_lives.py: every output in a folder of its
own below the one that is given.

It is a program because a child of pytest would end what pytest, and all that is imported there, has
to end.
"""

from __future__ import annotations

import os
import pathlib
import signal
import sys
from collections.abc import Callable

import columnstone as cst
from sink_outputs import OUTPUTS, Output

KEPT: list[cst.Writer] = []  # until the interpreter ends
LARGE = 100_000  # rows that are more than writers hold back


def place(folder: pathlib.Path, output: Output, name: str) -> pathlib.Path:
    """Where the file of that name lies."""
    return folder / output.id / name / f"a.{output.ending}"


def status_of_child(work: Callable[[], None]) -> int:
    """Of one that does the work and then ends as programs do."""
    child = os.fork()
    if child == 0:
        work()
        sys.exit(0)
    return os.waitpid(child, 0)[1]


def write(output: Output, path: pathlib.Path) -> None:
    KEPT.append(output.writer(path))
    KEPT[0].write(output.rows(0))


def write_and_die(output: Output, path: pathlib.Path) -> None:
    write(output, path)
    os.kill(os.getpid(), signal.SIGKILL)


def end_children_of_a_writer(output: Output, path: pathlib.Path, threads: int) -> None:
    writer = output.writer(path, threads=threads)
    writer.write(output.rows(0))
    assert status_of_child(lambda: KEPT.append(writer)) == 0, output.id
    writer.write(output.rows(10))
    writer.close()


def end_children_of_a_url(output: Output, path: pathlib.Path) -> None:
    writer = cst.Writer(f"file://{path}", **output.options)
    writer.write(output.rows(0))
    assert status_of_child(lambda: KEPT.append(writer)) == 0, output.id
    writer.write(output.rows(10, LARGE))
    assert status_of_child(lambda: KEPT.append(writer)) == 0, output.id
    writer.write(output.rows(LARGE + 10))
    writer.close()


def main(folder: pathlib.Path) -> None:
    for output in OUTPUTS:
        names = ["exit", "kill", "1", "2", *(["url"] if output.has_urls else [])]
        paths = {name: place(folder, output, name) for name in names}
        for path in paths.values():
            path.parent.mkdir(parents=True)
        for name in ("exit", "kill"):
            for file in output.files(paths[name]):
                file.write_bytes(b"before")
        assert status_of_child(lambda o=output, p=paths: write(o, p["exit"])) == 0, output.id
        status = status_of_child(lambda o=output, p=paths: write_and_die(o, p["kill"]))
        assert os.WTERMSIG(status) == signal.SIGKILL, output.id
        end_children_of_a_writer(output, paths["1"], threads=1)
        end_children_of_a_writer(output, paths["2"], threads=2)
        if output.has_urls:
            end_children_of_a_url(output, paths["url"])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
