"""Programs for the command line: Parquet through pyarrow, as Arrow IPC over pipes, and the bytes of
URLs.

docs/plugins.md describes how such programs are called. These are small and start quickly: they
import nothing that they do not need.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from ._formats.reader import Reader

_STEP = 1 << 18


class _Usage(Exception):
    """Wrong arguments."""


def _arguments() -> tuple[str, dict[str, list[str]], str]:
    """The verb, the options as lists of values, and the file. Unknown options are ignored: a later
    version of the caller may have them."""
    arguments = sys.argv[1:]
    if len(arguments) < 2:
        raise _Usage("expected: read|write [--option=value ...] FILE")
    verb, *options, file = arguments
    found: dict[str, list[str]] = {}
    for option in options:
        name, _, value = option.partition("=")
        found.setdefault(name, []).append(value)
    return verb, found, file


def _say(error: BaseException) -> None:
    """Prints an exception of the package with its fields, in a form that the caller can parse."""
    from ._base.errors import Error

    if not isinstance(error, Error):
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return
    text = str(error).replace(f" ({error.hint})", "") if error.hint else str(error)
    if error.file is not None:
        text = text.removeprefix(f"{error.file}: ")
    if error.record is not None:
        text = text.removeprefix(f"record {error.record}: ")
    print(" ".join(text.split()), file=sys.stderr)
    fields = {"code": error.code, "hint": error.hint, "record": error.record, "path": error.path}
    for name, value in fields.items():
        if value is not None:
            print(f"columnstone-{name}: {' '.join(str(value).split())}", file=sys.stderr)


def _run(serve: Callable[[], None]) -> NoReturn:
    status = 0
    try:
        sys.stderr.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        serve()
        sys.stdout.flush()
    except BrokenPipeError:
        status = 1  # the caller has had enough
    except BaseException as error:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()  # what came before the error is read before it is told
        _say(error)
        status = 1
    sys.stderr.flush()
    os._exit(status)  # nothing is left to do, and the end of an interpreter takes its time


def _serve_parquet() -> None:
    # pyarrow imports numpy if it can, which takes longer than all else; nothing here needs it.
    sys.modules.setdefault("numpy", None)  # type: ignore[arg-type]
    # pyarrow keeps a row group's memory for the next one: given back, it would be cleared anew. To
    # clear large pages takes longer than they save.
    os.environ.setdefault("MIMALLOC_PURGE_DELAY", "-1")
    os.environ.setdefault("MIMALLOC_ALLOW_THP", "0")
    verb, options, file = _arguments()
    if verb == "read":
        _read_parquet(file, options)
    elif verb == "write":
        _write_parquet(file, options)
    else:
        raise _Usage(f"there is no verb {verb!r}")


def _read_parquet(file: str, options: dict[str, list[str]]) -> None:
    columns = options.get("--column")
    batch_size = int(options.get("--batch-size", ["1024"])[-1])
    threads = int(options.get("--threads", ["1"])[-1])
    reader = _open_parquet(file, columns, batch_size, threads, _max_inflation(options))
    import pyarrow as pa

    with pa.ipc.new_stream(sys.stdout.buffer, reader.schema) as out:
        for batch in reader.batches():
            out.write_batch(batch)


def _max_inflation(options: dict[str, list[str]]) -> int | None:
    ratio = options.get("--max-inflation")
    return int(ratio[-1]) if ratio else None


def _open_parquet(
    file: str, columns: list[str] | None, batch_size: int, threads: int, max_inflation: int | None
) -> Reader:
    from ._formats.parquet.reader import open_file, open_remote
    from ._io.remote import open_one
    from ._io.rules import rule
    from ._io.urls import is_remote

    if is_remote(file) and not os.path.exists(file):
        opened = open_one(file, rule(None, None, max_inflation))
        return open_remote(opened, columns, batch_size, threads, max_inflation=max_inflation)
    return open_file(file, columns, batch_size, threads, max_inflation=max_inflation)


class _Pipe(io.BufferedReader):
    """A pipe for pyarrow, read into memory of its pool: that of bytes would be new each time."""

    def read_buffer(self, size: int) -> pa.Buffer:
        import pyarrow as pa

        buffer = pa.allocate_buffer(size)
        return buffer.slice(0, self.readinto(memoryview(buffer)))


def _write_parquet(file: str, options: dict[str, list[str]]) -> None:
    from ._formats.parquet.sink import write_file

    level = int(options.get("--level", ["0"])[-1])
    write_file(_Pipe(io.FileIO(0, closefd=False)), file, level)


def parquet() -> NoReturn:
    """The program columnstone-format-parquet."""
    _run(_serve_parquet)


def _serve_urls() -> None:
    verb, options, url = _arguments()
    from ._io.remote import open_one, urls_of
    from ._io.rules import rule

    allowed = rule(None, None, _max_inflation(options))
    if verb == "read":
        file = open_one(url, allowed)
        file.limit(_max_inflation(options))
        file.seek(int(options.get("--offset", ["0"])[-1]))
        while data := file.read(_STEP):
            sys.stdout.buffer.write(data)
    elif verb == "list":
        for found in urls_of(url, allowed):
            sys.stdout.buffer.write(os.fsencode(found) + b"\0")
    else:
        raise _Usage(f"there is no verb {verb!r}")


def open_url() -> NoReturn:
    """The program columnstone-open-url."""
    _run(_serve_urls)
