"""convert: any input to any output, as a stream."""

from __future__ import annotations

import os
import sys
import time
from inspect import signature
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.errors import argument_error
from .._base.files import name_of, path_bytes
from .._base.public import public
from .._formats.options import KINDS, Only, writers_of
from .._sink.writer import Writer, refuse_to_overwrite
from .open import open as open_source
from .source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .._base.files import WritableFile
    from .._formats.names import Compression
    from .._message.descriptors import DescriptorsLike
    from .._message.options import MessageLike
    from .._schema.schema import SchemaLike

    # (bytes read, rows written) -> None
    Progress = Callable[[int, int], object]

_SECONDS = 0.1  # between two looks of the bar
_ROWS, _BYTES = 4096, 16 << 20  # of a batch: few calls, and bounded memory
_PARQUET_ROWS = 8192  # encoded column by column, which costs the less the more rows there are
_PIECE_ROWS = 1024  # the fewest of a batch that go to a shard, but for the last ones


@public
def convert(
    source: Any,
    output: str | os.PathLike[str] | WritableFile,
    *,
    format: str | None = None,
    to: str | None = None,
    schema: SchemaLike | None = None,
    columns: Iterable[str] | None = None,
    threads: int = 1,
    compression: Compression | None = None,
    level: int = 0,
    lossy: bool = False,
    num_shards: int | None = None,
    shard_bytes: int | None = None,
    to_container: str | None = None,
    message: MessageLike | None = None,
    descriptors: DescriptorsLike | None = None,
    message_options: dict[str, Any] | None = None,
    progress: bool | Progress = False,
    overwrite: bool = False,
    **options: Any,
) -> int:
    """Converts files from one format to another and returns the number of rows.

    source: anything that `open` accepts: paths, URLs, file objects, Arrow objects; or an opened
        Source, which has its format, columns and reading options already.
    output: a path, a URL or a binary file object. The file extension selects the format and the
        compression.
    format: of the input; to: of the output. By default they are detected from the content and from
        the names.
    threads: how many threads read and decode; with 2 or more, writing runs in parallel too.
    lossy: round values that the output cannot represent exactly, instead of raising
        UnsupportedError with row and column.
    progress: True shows a bar with bytes, rows, rate and remaining time (on a terminal only). A
        function is called after each batch with the bytes read and the rows written.
    overwrite: replace an existing file; otherwise that is a FileError.
    message, descriptors, message_options: as for `open` and `Writer`; they apply to the side that
        has the format "message". They imply this format for the input unless `to` is "message";
        then format says whether the input has it too.
    to_container: the container of the output, as for `Writer`; container is the one of the input.

    Further options are those of `open` and of the output format, such as delimiter. An option that
    both formats have applies to both.

    The data is streamed: memory use does not depend on its size. The output file appears when it is
    complete. docs/formats.md says what each pair of formats preserves.

    >>> cst.convert("trips.csv", "copy.tfrecord")
    4
    >>> len(cst.open("copy.tfrecord"))
    4
    """
    if not overwrite:
        refuse_to_overwrite(output, bool(num_shards or shard_bytes))
    chooses_size = not isinstance(source, Source) and "batch_size" not in options
    if chooses_size:
        options["batch_size"] = _PARQUET_ROWS if _is_parquet(output, to) else _ROWS
    if chooses_size or (num_shards is None and not isinstance(source, Source)):
        options.setdefault("batch_bytes", _BYTES)
    about = {"message": message, "descriptors": descriptors, "message_options": message_options}
    writes = to == "message"
    reads = not writes or format == "message" or "message_column" in options
    reads = reads and not (writes and isinstance(source, Source))
    of_output = _of_output(options, output, to, to_container)
    opened = _open(
        source,
        dict(
            options,
            **(about if reads else {}),
            format=format,
            schema=schema,
            columns=columns,
            threads=threads,
        ),
    )
    if writes and not isinstance(source, Source) and format is None and opened._core.container():
        # A message is also a tf.Example, one without features: as such its fields would be lost.
        raise argument_error(
            "the records of the input may be messages or tf.Examples",
            'format="message" or format="example"',
        )
    writer = Writer(
        output,
        to,
        schema=schema,
        compression=compression,
        level=level,
        lossy=lossy,
        threads=threads,
        num_shards=num_shards,
        shard_bytes=shard_bytes,
        container=to_container,
        **of_output,
        **(_encoding(about, reads) if writes else {}),
    )
    with writer:
        writer._overwrite(overwrite)
        _copy(opened, writer, (chooses_size and num_shards) or 1, _reporter(progress, opened))
    return writer.num_rows


def _encoding(about: dict[str, Any], reads: bool) -> dict[str, Any]:
    """The arguments about messages for the writer: of options that the reader has got, those of an
    encoder."""
    from .._message.options import ENCODING

    options = about["message_options"]
    if reads and options is not None:
        options = {name: value for name, value in options.items() if name in ENCODING}
    return {**about, "message_options": options}


def _of_output(
    options: dict[str, Any], output: object, to: str | None, container: str | None
) -> Any:
    """Those of the options that the output's format has, taken out; the input gets them if it is of
    this format, too. Where the columns will tell which records are written, any format of records
    counts."""
    path = name_of(output) if hasattr(output, "write") else path_bytes(output)
    format = _core.sink_format(path, to, container)
    found = {}
    for name in options.keys() & KINDS.keys():
        writers = [
            of
            for of in writers_of(name)
            if format == of or (format is None and not _core.FORMATS[of][0])
        ]
        if writers:
            found[name] = Only(writers[0], options[name])
            reads = _core.FORMAT_OPTIONS[writers[0]][name][2]
            options[name] = found[name] if reads else None
    if format is not None and format not in _core.FORMATS:  # a plug-in has options of its own
        for name in options.keys() - KINDS.keys() - signature(open_source).parameters.keys():
            found[name] = options[name] = Only(format, options[name])
    return found


def _open(source: Any, options: dict[str, Any]) -> Source:
    kept = ("view",)  # None: artifacts as they are
    given = {n: value for n, value in options.items() if value is not None or n in kept}
    if not isinstance(source, Source):
        return open_source(source, **given)
    for name, value in given.items():
        if name in ("schema", "threads") or value is None or isinstance(value, Only):
            continue
        raise argument_error(f"{name} is given, but the source is already open", "pass it to open")
    return source


def _is_parquet(output: object, to: str | None) -> bool:
    if to is None and isinstance(output, str | os.PathLike):
        return os.path.splitext(os.fsdecode(output))[1] in _core.FORMATS["parquet"][0]
    return to == "parquet"


def _copy(source: Source, writer: Writer, num_pieces: int, report: Progress) -> None:
    """Shards get whole batches in turn. Batches whose size nobody chose are cut into so many
    pieces: large ones are decoded and encoded with less work, and the shards grow evenly."""
    writer.begin(source.arrow_schema)
    batches = iter(source)
    for batch in batches:
        rows = max(_PIECE_ROWS, -(-batch.num_rows // num_pieces))
        if num_pieces == 1 or batch.num_rows <= rows:
            writer.write(batch)
        else:
            for start in range(0, batch.num_rows, rows):
                writer.write(batch.slice(start, min(rows, batch.num_rows - start)))
        read, _ = batches.progress()
        report(read, writer.num_rows)
    if isinstance(report, _Bar):
        report.end()


def _reporter(progress: bool | Progress, source: Source) -> Progress:
    if callable(progress):
        return progress
    if progress and sys.stderr.isatty():
        return _Bar(source.total_bytes)
    return lambda read, rows: None


class _Bar:
    """One line on the terminal."""

    def __init__(self, total: int | None) -> None:
        self._total = total
        self._begin = self._shown = time.monotonic()

    def __call__(self, read: int, rows: int) -> None:
        now = time.monotonic()
        if now - self._shown < _SECONDS:
            return
        self._shown = now
        seconds = now - self._begin
        text = f"convert  {_bytes(read)}, {rows} rows, {_bytes(read / seconds)}/s"
        if self._total and 0 < read < self._total:
            left = int((self._total - read) * seconds / read + 0.5)
            text += f", {100 * read // self._total} %, {left // 60}:{left % 60:02} left"
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()

    def end(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
