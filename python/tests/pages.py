"""The code of a Markdown page, run as a reader would: block by block, in one empty folder.

    ```sh        commands, pasted as they stand; all of them have to succeed
    ```console   commands after `$ `, each followed by what it prints
    ```python    statements; a comment `# → …` behind or below one is what it gives or prints
    ```c         a program; it is built, with every warning an error, and run

The folder holds the examples of this repository.

A block is not run if the line above it says so: *Not run: the reason.* Blocks of other kinds are to
be read (text, proto, json, csv, cstq). In what is printed, `…` stands for anything, a line `…` for
any number of lines, and times may differ.

The pages of the engines (docs/beam.md, ...) need packages that the others do not, and leave
processes and settings behind: tests/engines/test_docs.py runs each in a process of its own, which
is `python pages.py PAGE`.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import io
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile

import columnstone as cst

TOP = pathlib.Path(__file__).parents[2]
ENGINES = {
    TOP / "docs" / f"{name}.md": package
    for name, package in (
        ("beam", "apache_beam"),
        ("spark", "pyspark"),
        ("ray", "ray"),
        ("dask", "dask"),
        ("huggingface", "datasets"),
    )
}  # a page: the package that its blocks need

RUN = ("sh", "console", "python", "c")
READ = ("text", "proto", "json", "csv", "cstq")
FENCE = re.compile(r"^```(.*)\n((?:.*\n)*?)^```$", re.M)
NOT_RUN = re.compile(r"^\*Not run: .+\*\n*\Z", re.M)
TIMES = re.compile(r"\b\d+(\.\d+)? m?s\b")
LIMIT = 120  # seconds for a block
MARK = "--- status:"


@dataclasses.dataclass
class Block:
    page: pathlib.Path
    line: int  # of the fence, from 1
    kind: str
    code: str
    runs: bool

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: pathlib.Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        before = text[: match.start()]
        kind = match[1].strip()
        line = before.count("\n") + 1
        drawing = not kind and not match[2].startswith("$ ")
        assert drawing or kind in RUN + READ, f"{page}:{line}: a block is one of {RUN + READ}"
        runs = kind in RUN and not NOT_RUN.search(before.rstrip("\n").rpartition("\n")[2])
        found.append(Block(page, line, kind, match[2], runs))
    return found


# ---- what is printed ----


def fits(wanted: str, found: str) -> bool:
    """Whether lines are those that the page shows."""
    pattern = ""
    for line in wanted.splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*"
        else:
            pattern += ".*".join(map(re.escape, TIMES.sub("T s", line).split("…"))) + r"[ ]*\n"
    return re.fullmatch(pattern, TIMES.sub("T s", found)) is not None


def compare(block: Block, what: str, wanted: str, found: str) -> None:
    if found and not found.endswith("\n"):
        found += "\n"
    assert fits(wanted, found), f"{block}: {what}\n--- shown:\n{wanted}--- printed:\n{found}"


# ---- the kinds of blocks ----


def environment() -> dict[str, str]:
    """That of a shell in which the program and the C library are installed."""
    package = pathlib.Path(cst.__file__).parent
    env = {k: v for k, v in os.environ.items() if not k.startswith(("COLUMNSTONE_", "LC_"))}
    env["PATH"] = f"{sysconfig.get_path('scripts')}:{env['PATH']}"
    env["LD_LIBRARY_PATH"] = f"{package}/lib"
    env["PKG_CONFIG_PATH"] = described(package).name
    return {**env, "LANG": "C.UTF-8"}


@functools.cache
def described(package: pathlib.Path) -> tempfile.TemporaryDirectory[str]:
    """A folder with what pkg-config reads of the library. What that prints is words for a shell,
    which blanks in paths would divide: a link to the package lies in a folder without."""
    made = tempfile.TemporaryDirectory(prefix="columnstone-pc-", dir="/tmp")
    link = pathlib.Path(made.name, "package")
    link.symlink_to(package)
    flags = f"Cflags: -I{link}/include\nLibs: -L{link}/lib -lcolumnstone\n"
    description = "Name: columnstone\nDescription: the library\nVersion: 0\n"
    pathlib.Path(made.name, "columnstone.pc").write_text(description + flags)
    return made


def shell(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=LIMIT,
    )


def run_sh(block: Block) -> None:
    done = shell(f"set -e\n{block.code}")
    assert done.returncode == 0, f"{block}: status {done.returncode}\n{done.stdout}"


def run_console(block: Block) -> None:
    """A page may show how something fails, but no command that is not there."""
    first, *rest = re.split(r"^\$ ", block.code, flags=re.M)
    assert not first and rest, f"{block}: a console begins with `$ ` and a command"
    commands = [part.partition("\n") for part in rest]
    done = shell("".join(f"{command}\necho {MARK} $?\n" for command, _, _ in commands))
    outputs = re.split(rf"^(.*){MARK} (\d+)\n", done.stdout, flags=re.M)
    assert len(outputs) == 3 * len(commands) + 1, f"{block}: ended with\n{done.stdout}"
    for i, (command, _, wanted) in enumerate(commands):
        found, rest_of_line, status = outputs[3 * i : 3 * i + 3]
        compare(block, f"$ {command}", wanted, found + rest_of_line)
        assert int(status) < 126, f"{block}: $ {command}: status {status}"


def shown(lines: list[str], first: int, last: int) -> str | None:
    """What a comment behind or below the statement of these lines says that it gives."""
    mark = re.compile(r"(?:^|\s)# → (.*)$")
    for number in range(first, min(last + 2, len(lines))):
        match = mark.search(lines[number])
        if match and (number <= last or lines[number].startswith("#")):
            more = lines[number + 1 :]
            end = next((i for i, line in enumerate(more) if not line.startswith("#   ")), len(more))
            return "\n".join([match[1], *(line[4:] for line in more[:end])])
    return None


def run_python(block: Block, names: dict[str, object]) -> None:
    lines = block.code.splitlines()
    for statement in ast.parse(block.code, str(block)).body:
        ast.increment_lineno(statement, block.line)
        first, last = (
            statement.lineno - block.line - 1,
            (statement.end_lineno or 0) - block.line - 1,
        )
        wanted = shown(lines, first, last)
        printed = io.StringIO()
        value = None
        with contextlib.redirect_stdout(printed):
            if isinstance(statement, ast.Expr):
                value = eval(
                    compile(ast.Expression(statement.value), str(block.page), "eval"), names
                )
            else:
                exec(compile(ast.Module([statement], []), str(block.page), "exec"), names)
        if wanted is not None:
            found = printed.getvalue() if value is None else repr(value)
            compare(block, lines[first], *(" ".join(s.split()) + "\n" for s in (wanted, found)))


def run_c(block: Block) -> None:
    pathlib.Path("program.c").write_text(block.code)
    strict = "-std=c11 -Wall -Wextra -Werror"
    build = f"${{CC:-cc}} {strict} program.c $(pkg-config --cflags --libs columnstone) -o program"
    done = shell(f"{build} && ./program")
    assert done.returncode == 0, f"{block}: {done.stdout}"


# ---- pages ----


def run(block: Block, names: dict[str, object]) -> None:
    if block.kind == "python":
        run_python(block, names)
    else:
        {"sh": run_sh, "console": run_console, "c": run_c}[block.kind](block)


def run_page(page: pathlib.Path) -> None:
    """In the working folder."""
    os.symlink(TOP / "examples", "examples")
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.runs:
            run(block, names)


def few_are_not_run(pages: list[pathlib.Path]) -> bool:
    found = [block for page in pages for block in blocks(page)]
    left_out = [block for block in found if block.kind in RUN and not block.runs]
    return len(left_out) * 8 <= len(found)


if __name__ == "__main__":
    run_page(pathlib.Path(sys.argv[1]))
