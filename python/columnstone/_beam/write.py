"""Sinks: PCollections of record batches become files.

Every attempt of a bundle writes a file of a name of its own in a temporary folder beside the
output. The last step alone gives the files of the bundles that count their names, and deletes the
folder: what was written twice, or by a worker that died, is never seen.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.transforms.window import GlobalWindow, GlobalWindows
from apache_beam.utils.timestamp import MAX_TIMESTAMP
from apache_beam.utils.windowed_value import WindowedValue

from .._base.arguments import positive
from .._base.errors import (
    FileError,
    UnsupportedError,
    argument_error,
)
from .._base.public import public_in
from .._engines.names import check_names
from .._engines.options import check_writing, self_contained
from .._engines.place import ending_of
from .._formats.names import named_by, split_endings
from .._sink.writer import Writer

_MOVES_AT_ONCE = 32


class _Written(NamedTuple):
    """A file of one attempt."""

    shard: int  # -1: any
    path: str
    schema: bytes  # of Arrow, for shards without batches


_OF_BEAM = ("num_shards", "shard_bytes")  # of Writer's options


class _Output:
    """What the workers know of an output: the names of its files, and how they are written."""

    def __init__(
        self, prefix: str, format: str | None, arrow_schema: Any, options: dict[str, Any]
    ) -> None:
        check_names(options, Writer.__init__, ("self", "file", "format", *_OF_BEAM))
        if format is None and "message" in options:
            format = "message"
        self.stem, self.endings = split_endings(prefix)
        compression = options.get("compression")
        if self.endings or format is None:
            format, compression = named_by(prefix, format, compression)
        else:
            self.endings = ending_of(format, options.get("container"), compression)
        self.format = format
        self.options = self_contained({**options, "compression": compression})
        self.arrow_schema = None if arrow_schema is None else pa.schema(arrow_schema)
        check_writing(self.format, self.options, self.arrow_schema)

    def writer(self, file: Any) -> Writer:
        return Writer(file, self.format, **self.options)

    def name(self, shard: int, num_shards: int) -> str:
        return f"{self.stem}-{shard:05}-of-{num_shards:05}{self.endings}"

    def temporary_folder(self) -> str:
        """The name of a new one."""
        folder, name = FileSystems.split(self.stem)
        path: str = FileSystems.join(folder, f"beam-temp-{name}-{uuid.uuid4().hex}")
        return path


class _Attempt:
    """A file that one attempt writes, in the temporary folder."""

    def __init__(self, output: _Output, folder: str, name: str | None = None) -> None:
        self._folder = folder
        self._schema = output.arrow_schema
        self.path = FileSystems.join(folder, (name or uuid.uuid4().hex) + output.endings)
        self._file = FileSystems.create(self.path, compression_type=CompressionTypes.UNCOMPRESSED)
        self._writer: Writer | None = None
        try:
            self._writer = output.writer(self._file)
            if self._schema is not None:
                self._writer.begin(self._schema)
        except BaseException:
            self.abort()
            raise

    def write(self, batch: Any) -> None:
        assert self._writer is not None
        if self._schema is None:
            self._schema = batch.schema
        self._writer.write(batch)

    def close(self, schema_if_empty: Any = None) -> Any:
        """Completes the file, and gives the schema of its batches."""
        assert self._writer is not None
        if self._schema is None:
            self._schema = pa.schema([]) if schema_if_empty is None else schema_if_empty
            self._writer.begin(self._schema)
        self._writer.close()
        self._file.close()
        return self._schema

    def abort(self) -> None:
        """Leaves nothing."""
        if self._writer is not None:
            with contextlib.suppress(Exception):
                self._writer.abort()
        with contextlib.suppress(Exception):
            self._file.close()
        with contextlib.suppress(Exception):
            FileSystems.delete([self.path])
        if FileSystems.get_scheme(self._folder) is None:
            with contextlib.suppress(OSError):  # others may write there
                os.rmdir(self._folder)


class _Writing(beam.DoFn):  # type: ignore[misc]
    """A bundle's attempts, which are there until it is done: if it fails, here or in another step,
    they leave nothing."""

    def __init__(self, output: _Output) -> None:
        self._output = output
        self._attempts: list[_Attempt] = []

    def start_bundle(self) -> None:
        self.teardown()

    def teardown(self) -> None:
        for attempt in self._attempts:
            attempt.abort()
        self._attempts.clear()

    def _begin(self, folder: str) -> _Attempt:
        self._attempts.append(_Attempt(self._output, folder))
        return self._attempts[-1]


class _WriteBundle(_Writing):
    """A file of each bundle."""

    def process(self, element: Any, folder: str) -> None:
        attempt = self._attempts[0] if self._attempts else self._begin(folder)
        attempt.write(element)

    def finish_bundle(self) -> Iterator[Any]:
        for attempt in self._attempts:
            attempt.close()
            written = _Written(-1, attempt.path, b"")
            yield WindowedValue(written, MAX_TIMESTAMP, [GlobalWindow()])
        self._attempts.clear()


class _WriteShard(_Writing):
    """A file of all batches of a shard."""

    def process(self, element: tuple[int, Iterable[Any]], folder: str) -> Iterator[_Written]:
        shard, batches = element
        attempt = self._begin(folder)
        for batch in batches:
            attempt.write(batch)
        schema = attempt.close()
        yield _Written(shard, attempt.path, schema.serialize().to_pybytes())

    def finish_bundle(self) -> None:
        self._attempts.clear()


class _InTurn(beam.DoFn):  # type: ignore[misc]
    """Batches go to the shards in turn; chance says to which goes the first one of a bundle."""

    def __init__(self, num_shards: int) -> None:
        self._num_shards = num_shards
        self._next = 0

    def start_bundle(self) -> None:
        self._next = random.randrange(self._num_shards)

    def process(self, element: Any) -> Iterator[tuple[int, Any]]:
        yield self._next, element
        self._next = (self._next + 1) % self._num_shards


# ---- the last step ----


def _publish(
    _: None, output: _Output, num_shards: int, folder: str, written: Iterable[_Written]
) -> list[str]:
    """Gives the files their names, which it returns. Done again after a failure, it goes on where
    the first one stopped."""
    files = sorted(written)
    paths = {i if file.shard < 0 else file.shard: file.path for i, file in enumerate(files)}
    count = max(num_shards, len(files), 1)
    schema = pa.ipc.read_schema(pa.py_buffer(files[0].schema)) if num_shards and files else None
    for shard in sorted(set(range(count)) - set(paths)):
        empty = _Attempt(output, folder, f"empty-{shard:05}")
        empty.close(schema)
        paths[shard] = empty.path
    names = [output.name(shard, count) for shard in range(count)]
    with ThreadPoolExecutor(_MOVES_AT_ONCE) as threads:
        list(threads.map(_move, (paths[shard] for shard in range(count)), names))
    _remove_folder(folder)
    return names


def _move(path: str, name: str) -> None:
    if FileSystems.exists(path):
        FileSystems.rename([path], [name])
    elif not FileSystems.exists(name):  # else it was moved before
        raise FileError(f"{name}: the file that was written for it is gone", file=name)


def _remove_folder(folder: str) -> None:
    """With what attempts have left there that do not count."""
    if FileSystems.get_scheme(folder) is None:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        with contextlib.suppress(Exception):  # the output is complete all the same
            (left,) = FileSystems.match([FileSystems.join(folder, "*")])
            if left.metadata_list:
                FileSystems.delete([file.path for file in left.metadata_list])


# ---- what users see ----


@public_in("columnstone.beam")
class Write(beam.PTransform):  # type: ignore[misc]
    """Writes record batches to files of any format, and gives the names of the files.

    prefix: of the files: "out/trips" becomes "out/trips-00000-of-00010.tfrecord". The number
        stands before the endings that mean a format or a compression, as in
        "out/trips.tfrecord.gz". Any file system of Beam's.
    format: as for columnstone.Writer; None goes by the ending of the prefix.
    num_shards: so many files, to which the batches go in turn; that shuffles all data. None: a file
        of each bundle, as the runner has made them.
    arrow_schema: of the batches. Files without batches have these columns; without it those of
        another shard's, or none.
    Further options are those of columnstone.Writer, such as compression, schema, message.

    Files get their names when all are complete, and replace others of these names. A bundle that
    fails leaves no file. The input is bounded.
    """

    def __init__(
        self,
        prefix: str | os.PathLike[str],
        format: str | None = None,
        *,
        num_shards: int | None = None,
        arrow_schema: Any = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self._num_shards = 0
        if num_shards is not None:
            self._num_shards = positive("num_shards", num_shards, 99_999)
        self._output = _Output(os.fspath(prefix), format, arrow_schema, options)

    def expand(self, batches: Any) -> Any:
        if not batches.is_bounded:
            raise UnsupportedError("batches without an end are not written: there is no last file")
        once = batches.pipeline | "Once" >> beam.Create([None])
        folder = beam.pvalue.AsSingleton(
            once
            | "NameFolder" >> beam.Map(lambda _, output: output.temporary_folder(), self._output)
        )
        batches |= "Unwindow" >> beam.WindowInto(GlobalWindows())
        if self._num_shards:
            batches |= "AssignShards" >> beam.ParDo(_InTurn(self._num_shards)).with_output_types(
                beam.typehints.KV[int, pa.RecordBatch]
            )
            batches |= beam.GroupByKey()
            written = batches | "WriteShards" >> beam.ParDo(_WriteShard(self._output), folder)
        else:
            written = batches | "WriteBundles" >> beam.ParDo(_WriteBundle(self._output), folder)
        files = beam.pvalue.AsIter(written)
        publish = beam.FlatMap(_publish, self._output, self._num_shards, folder, files)
        return once | "Publish" >> publish.with_output_types(str)


@public_in("columnstone.beam")
class WriteTFRecord(Write):
    """Writes record batches to TFRecords, "out/trips-00000-of-00010.tfrecord", and gives the names
    of the files.

    payload: "example", "sequence_example", "message" (which `message=` implies) or "raw", one
        binary column.
    All else as for Write; container= for other records than TFRecords.
    """

    def __init__(
        self, prefix: str | os.PathLike[str], payload: str | None = None, **options: Any
    ) -> None:
        if payload is None:
            payload = "example" if options.get("message") is None else "message"
        if payload not in _PAYLOADS:
            raise argument_error(
                f"there is no payload {ascii(payload)[:40]}", f"one of {', '.join(_PAYLOADS)}"
            )
        super().__init__(prefix, payload, **options)


_PAYLOADS = ("example", "sequence_example", "message", "raw")


@public_in("columnstone.beam")
class WriteParquet(Write):
    """Writes record batches to Parquet files, "out/trips-00000-of-00010.parquet", and gives the
    names of the files. Options as for Write."""

    def __init__(self, prefix: str | os.PathLike[str], **options: Any) -> None:
        super().__init__(prefix, "parquet", **options)


@public_in("columnstone.beam")
class WriteArrow(Write):
    """Writes record batches to Arrow files, "out/trips-00000-of-00010.arrow", and gives the names
    of the files. Options as for Write."""

    def __init__(self, prefix: str | os.PathLike[str], **options: Any) -> None:
        super().__init__(prefix, "arrow", **options)
