"""Sources of every payload, container, stage and format, with all types of columns that each can
give: what datasets are tried on. The tests are in test_every_dataset.py and, with TensorFlow, in
tests/peers/test_every_tf_dataset.py.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import columnstone as cst
import formats
import message_types
import message_wire
import messages
import pyarrow as pa
import pytest
from google.protobuf.message import DecodeError

ROWS = 12  # of a file; there are two
SKIPS = ("raise", "skip", "call")
MAY_BE_NULL = (*SKIPS, "null")
CONTAINERS = {"tfrecord": "tfrecord", "gzip": "tfrecord.gz", "delimited": "bin"}


def with_tensors(source: Any) -> Any:
    """The columns of a source that tensors can be made of."""
    while True:
        try:
            cst.tensor.TensorAdapter(source.arrow_schema, source.tensor_representations())
        except cst.errors.UnsupportedError as error:
            if error.path is None:
                pytest.skip("no tensors of this format")
            leave_out = (error.path.split(".")[0], source._options["offset_column"])
            names = [name for name in source.arrow_schema.names if name not in leave_out]
            source = source.select(names)
        else:
            return source


class Case(NamedTuple):
    """Where a source comes from."""

    id: str
    write: Callable[[pathlib.Path], list[pathlib.Path]]  # makes its files in a folder
    open: Callable[..., Any]  # of these files, with further options
    on_errors: tuple[str, ...] = ("raise",)  # "call": a function

    def source(self, folder: pathlib.Path, on_error: str = "raise", **options: Any) -> Any:
        options["on_error"] = (lambda dropped: None) if on_error == "call" else on_error
        return self.open(self.write(folder), **options)


# Messages


def records(case: message_types.Case, r: Random, count: int) -> list[bytes]:
    """Sound ones; some have enums of numbers without a name."""
    made: list[bytes] = []
    while len(made) < count:
        data = message_wire.random_record(r, case, loose=len(made) % 2 == 0)
        try:
            case.cls.FromString(data)
            cst.decoder("message", message=case.message, descriptors=case.descriptors).decode(
                [data]
            )
        except (DecodeError, cst.Error):
            continue
        made.append(data)
    return made


def written(ending: str, files: list[list[bytes]]) -> Callable[[pathlib.Path], list[pathlib.Path]]:
    def write(folder: pathlib.Path) -> list[pathlib.Path]:
        paths = [folder / f"{i}.{ending}" for i in range(len(files))]
        for path, data in zip(paths, files, strict=True):
            container = "delimited" if ending == "bin" else None
            with cst.Writer(path, "raw", container=container) as writer:
                writer.write(pa.record_batch({"record": pa.array(data, pa.large_binary())}))
        return paths

    return write


def opened(**fixed: Any) -> Callable[..., Any]:
    return lambda paths, **options: cst.open(paths, **fixed, **options)


def message_cases() -> Iterator[Case]:
    plain = {"enums": "text", "plain_types": True, "nullable_lists": True}
    layouts = {"offsets": 32, "binary_views": True, "offset_column": "its offset"}
    for message in ("Scalars", "Lists"):  # without nulls, of which most tensors have none
        case = message_types.stored_case("everything3", message)
        r = Random(message)
        files = [records(case, r, ROWS) for _ in range(2)]
        given = {"message": case.message, "descriptors": case.descriptors}
        yield Case(message, written("tfrecord", files), opened(**given), SKIPS)
        yield from column_cases(message, files, {**given, "message_column": "value"}, False)
    for name in ("everything2", "everything3", "editions"):
        case = message_types.stored_case(name)
        r = Random(name)
        files = [records(case, r, ROWS) for _ in range(2)]
        given = {"message": case.message, "descriptors": case.descriptors}
        write = written("tfrecord", files)
        yield Case(name, write, opened(**given), MAY_BE_NULL)
        yield Case(f"{name}-layouts", write, opened(**given, **layouts), MAY_BE_NULL)
        yield Case(f"{name}-plain", write, opened(**given, message_options=plain), SKIPS)
        yield Case(
            f"{name}-gzip", written("tfrecord.gz", files), opened(**given), ("raise", "skip")
        )
        yield Case(
            f"{name}-delimited",
            written("bin", files),
            opened(**given, container="delimited"),
            ("raise", "null"),
        )
        yield from column_cases(name, files, {**given, "message_column": "value"})
    yield from view_cases()


def message_table(data: list[bytes], nulls: bool) -> pa.Table:
    values = [None if nulls and i % 7 == 6 else value for i, value in enumerate(data)]
    return pa.table(
        {"row": pa.array(range(len(data))), "value": pa.array(values, pa.large_binary())}
    )


def column_cases(
    name: str, files: list[list[bytes]], given: dict[str, Any], nulls: bool = True
) -> Iterator[Case]:
    """Messages in a column of what other formats have."""
    for ending in ("parquet", "arrow", "jsonl"):

        def write(folder: pathlib.Path, ending: str = ending) -> list[pathlib.Path]:
            paths = [folder / f"{i}.{ending}" for i in range(len(files))]
            for path, data in zip(paths, files, strict=True):
                cst.write(message_table(data, nulls), path)
            return paths

        types = pa.schema({"row": pa.int64(), "value": pa.large_binary()})
        told = {"types": types} if ending == "jsonl" else {}
        yield Case(f"{name}-column-{ending}", write, opened(**given, **told), ("raise", "null"))
    yield Case(
        f"{name}-column-tables",
        lambda folder: [],
        lambda paths, **options: cst.open(
            [message_table(data, nulls) for data in files], **given, **options
        ),
        ("raise", "null"),
    )


VIEWS = {
    "outputs": """
from message shop.Session
output id = dense(id)
output device = dense(device)
output queries = ragged(event.query)
output prices = ragged(event.result.price)
output sparse = sparse(event.price)
""",
    "rows": "from message shop.Session rows event keep query, result, price",
    "all": "from message shop.Session keep **",
}


def view_cases() -> Iterator[Case]:
    data = messages.sessions(2 * ROWS)
    files = [data[:ROWS], data[ROWS:]]
    for name, text in VIEWS.items():
        for container, ending in CONTAINERS.items():
            told = {"container": "delimited"} if container == "delimited" else {}

            def open(
                paths: list[pathlib.Path],
                text: str = text,
                told: dict[str, Any] = told,
                **options: Any,
            ) -> Any:
                query = paths[0].parent / "query.cstq"
                query.write_text(text)
                return cst.open(paths, view=query, descriptors=messages.SHOP, **told, **options)

            yield Case(f"view-{name}-{container}", written(ending, files), open, SKIPS)


# Formats


def format_cases() -> Iterator[Case]:
    """All that the conformance suite has, with all columns that each holds."""
    for format in formats.variants():
        if format.name == "lines" or format.compression == "zst":
            continue
        on_errors = SKIPS if format.skips else ("raise",)

        def write(folder: pathlib.Path, format: formats.Format = format) -> list[pathlib.Path]:
            paths = [folder / f"{i}.{format.ending}" for i in range(2)]
            for i, path in enumerate(paths):
                format.write(format.table(i * ROWS, (i + 1) * ROWS), path, 10)
            return paths

        yield Case(format.id, write, format.open, on_errors)
        if format.name in ("example", "sequence_example"):
            layouts = {"offsets": 32, "binary_views": True}

            def open(
                paths: list[pathlib.Path],
                format: formats.Format = format,
                layouts: dict[str, Any] = layouts,
                **options: Any,
            ) -> Any:
                extra = {"raw_column": "raw", "offset_column": "at"}
                return format.open(paths, **layouts, **extra, **options)

            yield Case(f"{format.id}-layouts", write, open, on_errors)
        if format.name in ("example", "parquet", "tables"):
            yield from stage_cases(format, write)


def stage_cases(
    format: formats.Format, write: Callable[[pathlib.Path], list[pathlib.Path]]
) -> Iterator[Case]:
    """What stands between decoding and delivery."""

    def mapped(paths: list[pathlib.Path], **options: Any) -> Any:
        """One column more, which a function makes as a dictionary."""

        def encoded(batch: Any) -> pa.RecordBatch:
            plain = pa.record_batch(batch)
            words = pa.array([str(row)[-2:] for row in plain["row"].to_pylist()], pa.string())
            return plain.append_column("word", words.dictionary_encode())

        return format.open(paths, **options).map(encoded)

    def filtered(paths: list[pathlib.Path], **options: Any) -> Any:
        def even(batch: Any) -> pa.Array:
            rows = pa.record_batch(batch)["row"].to_pylist()
            return pa.array([(row[0] if isinstance(row, list) else row) % 3 != 0 for row in rows])

        return format.open(paths, **options).filter(even)

    yield Case(f"{format.id}-map", write, mapped)
    yield Case(f"{format.id}-filter", write, filtered)
    if format.name == "example":
        yield Case(
            f"{format.id}-flat", write, lambda paths, **o: format.open(paths, flat=True, **o), SKIPS
        )


def dictionaries() -> pa.Table:
    words = pa.array(["a", None, "b", "a", "c"] * 5).dictionary_encode()
    numbers = pa.array([300, 4, None, 300, 5] * 5).dictionary_encode()
    lists = pa.ListArray.from_arrays(pa.array(range(len(words) + 1), pa.int32()), words)
    return pa.table({"row": range(len(words)), "word": words, "number": numbers, "words": lists})


def save_dictionaries(folder: pathlib.Path) -> list[pathlib.Path]:
    path = folder / "encoded.arrow"
    with pa.ipc.new_file(path, dictionaries().schema) as writer:
        writer.write_table(dictionaries(), 10)
    return [path]


CASES = [
    *message_cases(),
    *format_cases(),
    Case("dictionaries-arrow", save_dictionaries, cst.open),
    Case("dictionaries-table", lambda folder: [], lambda _, **o: cst.open(dictionaries(), **o)),
]
