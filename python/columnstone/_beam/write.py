"""Sinks: PCollections of record batches become files.

Every attempt of a bundle writes a file with a name of its own in a hidden folder beside the output.
One single step renames the files of the successful bundles, and the last step deletes the folder:
duplicates, and files of workers that died, never become visible.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import uuid
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

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
from .._engines.commit import Staging
from .._engines.folder import check_mode, staging_of
from .._engines.names import check_names
from .._engines.options import check_writing, self_contained
from .._engines.place import ending_of
from .._formats.names import named_by, split_endings
from .._sink.writer import Writer
from .place import place_of

if TYPE_CHECKING:
    from .._engines.folder import Mode


class _Written(NamedTuple):
    """A file of one attempt."""

    shard: int  # -1: any
    name: str  # in the hidden folder
    schema: bytes  # of Arrow, for shards without batches


_OF_BEAM = ("num_shards", "shard_bytes")  # of Writer's options


class _Output:
    """What the workers know about an output: the names of its files, and how to write them."""

    def __init__(
        self, prefix: str, format: str | None, mode: str, arrow_schema: Any, options: dict[str, Any]
    ) -> None:
        check_mode(mode)
        self.mode = mode
        check_names(options, Writer.__init__, ("self", "file", "format", *_OF_BEAM), format)
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
        check_writing(prefix, self.format, self.options, self.arrow_schema)

        self.folder, self._name = FileSystems.split(self.stem)

    def writer(self, file: Any) -> Writer:
        return Writer(file, self.format, **self.options)

    def suffix(self, shard: int, num_shards: int, job: str) -> str:
        """The part of a file's name after the prefix."""
        added = f"-{job[:12]}" if self.mode == "append" else ""
        return f"{added}-{shard:05}-of-{num_shards:05}{self.endings}"

    def final(self, suffix: str) -> str:
        """The name of a file in the output's folder."""
        return f"{self._name}{suffix}"

    def old(self) -> list[str]:
        """The names of the files with this prefix and these endings, from any run."""
        run = re.compile(
            re.escape(self._name) + r"(-[0-9a-f]{12})?-\d{5}-of-\d{5,}" + re.escape(self.endings)
        )
        files = place_of(self.folder).files("", f"{self._name}-")
        return [name for name in files if run.fullmatch(name)]

    def check_no_old(self) -> None:
        """FileError if files exist that are not allowed."""
        old = self.old() if self.mode == "error" else []
        if old:
            hint = 'name another prefix, or mode="overwrite" or "append"'
            raise FileError(
                f"{self.stem}: the output exists: {old[0]} ({hint})", file=self.stem, hint=hint
            )

    def begin(self) -> str:
        """Names a job, before anything is written."""
        self.check_no_old()
        return uuid.uuid4().hex

    def staging(self, job: str) -> Staging:
        return Staging(place_of(self.folder), staging_of(job))


class _Attempt:
    """A file that one attempt writes, in the hidden folder of its job."""

    def __init__(self, output: _Output, job: str, name: str | None = None) -> None:
        self._folder = FileSystems.join(output.folder, staging_of(job))
        self._schema = output.arrow_schema
        self.name = (name or uuid.uuid4().hex) + output.endings
        self._path = FileSystems.join(self._folder, self.name)
        self._file = FileSystems.create(self._path, compression_type=CompressionTypes.UNCOMPRESSED)
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
        """Completes the file, and returns the schema of its batches."""
        assert self._writer is not None
        if self._schema is None:
            self._schema = pa.schema([]) if schema_if_empty is None else schema_if_empty
            self._writer.begin(self._schema)
        self._writer.close()
        self._file.close()
        return self._schema

    def abort(self) -> None:
        """Removes the file."""
        if self._writer is not None:
            with contextlib.suppress(Exception):
                self._writer.abort()
        with contextlib.suppress(Exception):
            self._file.close()
        with contextlib.suppress(Exception):
            FileSystems.delete([self._path])
        if FileSystems.get_scheme(self._folder) is None:
            with contextlib.suppress(OSError):  # others may write there
                os.rmdir(self._folder)


class _Writing(beam.DoFn):  # type: ignore[misc]
    """The attempts of a bundle. They exist until the bundle is finished: if it fails, here or in
    another step, they leave no files."""

    def __init__(self, output: _Output) -> None:
        self._output = output
        self._attempts: list[_Attempt] = []

    def start_bundle(self) -> None:
        self.teardown()

    def teardown(self) -> None:
        for attempt in self._attempts:
            attempt.abort()
        self._attempts.clear()

    def _begin(self, job: str) -> _Attempt:
        self._attempts.append(_Attempt(self._output, job))
        return self._attempts[-1]


class _WriteBundle(_Writing):
    """Writes one file per bundle."""

    def process(self, element: Any, job: str) -> None:
        attempt = self._attempts[0] if self._attempts else self._begin(job)
        attempt.write(element)

    def finish_bundle(self) -> Iterator[Any]:
        for attempt in self._attempts:
            attempt.close()
            written = _Written(-1, attempt.name, b"")
            yield WindowedValue(written, MAX_TIMESTAMP, [GlobalWindow()])
        self._attempts.clear()


class _WriteShard(_Writing):
    """Writes one file with all batches of a shard."""

    def process(self, element: tuple[int, Iterable[Any]], job: str) -> Iterator[_Written]:
        shard, batches = element
        attempt = self._begin(job)
        for batch in batches:
            attempt.write(batch)
        schema = attempt.close()
        yield _Written(shard, attempt.name, schema.serialize().to_pybytes())

    def finish_bundle(self) -> None:
        self._attempts.clear()


class _InTurn(beam.DoFn):  # type: ignore[misc]
    """Distributes batches to the shards in turn; the shard of the first batch of a bundle is
    random."""

    def __init__(self, num_shards: int) -> None:
        self._num_shards = num_shards
        self._next = 0

    def start_bundle(self) -> None:
        self._next = random.randrange(self._num_shards)

    def process(self, element: Any) -> Iterator[tuple[int, Any]]:
        yield self._next, element
        self._next = (self._next + 1) % self._num_shards


# ---- the last steps ----


def _publish(
    _: None, output: _Output, num_shards: int, job: str, written: Iterable[_Written]
) -> list[str]:
    """Renames the files and returns their names. If it is run again after a failure or after it has
    finished, it continues where it stopped: the hidden folder records its progress. Therefore a
    later step deletes the folder, after the runner has marked this one as done."""
    files = sorted(written)
    staged = {i if file.shard < 0 else file.shard: file.name for i, file in enumerate(files)}
    count = max(num_shards, len(files), 1)
    schema = pa.ipc.read_schema(pa.py_buffer(files[0].schema)) if num_shards and files else None
    for shard in sorted(set(range(count)) - set(staged)):
        empty = _Attempt(output, job, f"empty-{shard:05}")
        empty.close(schema)
        staged[shard] = empty.name
    suffixes = [output.suffix(shard, count, job) for shard in range(count)]
    pairs = [
        (f"{staging_of(job)}/{staged[shard]}", output.final(suffix))
        for shard, suffix in enumerate(suffixes)
    ]
    staging = output.staging(job)
    if not staging.is_begun(pairs):
        output.check_no_old()  # that have come meanwhile
    staging.publish(pairs, output.old() if output.mode == "overwrite" else ())
    return [output.stem + suffix for suffix in suffixes]


def _clean(_: None, output: _Output, job: str, names: Iterable[str]) -> None:
    """Removes the hidden folder, with the files of unsuccessful attempts."""
    with contextlib.suppress(Exception):  # the output is complete all the same
        output.staging(job).remove()


# ---- what users see ----


@public_in("columnstone.beam")
class Write(beam.PTransform):  # type: ignore[misc]
    """Writes record batches to files of any format, and returns the names of the files.

    prefix: of the files: "out/trips" becomes "out/trips-00000-of-00010.tfrecord". The number comes
        before the endings of a format and a compression, as in "out/trips.tfrecord.gz". Any file
        system of Beam's.
    format: as for columnstone.Writer; None: from the ending of the prefix.
    mode: what to do with files of earlier runs that have the same prefix and endings. "overwrite"
        removes them, whatever their number of shards, once all new files have their names; "append"
        keeps them, and names the new ones "out/trips-<job>-00000-of-00010.tfrecord"; "error" raises
        FileError when the pipeline runs.
    num_shards: the number of files; batches are distributed to them in turn, which shuffles all
        data. None: one file per bundle of the runner.
    arrow_schema: of the batches. Files without batches get these columns; without arrow_schema, the
        columns of another shard, or none.
    Further options are those of columnstone.Writer, such as compression, schema, message.

    Files get their names when all of them are complete. A failed bundle leaves no file. The input
    must be bounded.
    """

    def __init__(
        self,
        prefix: str | os.PathLike[str],
        format: str | None = None,
        *,
        mode: Mode = "overwrite",
        num_shards: int | None = None,
        arrow_schema: Any = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self._num_shards = 0
        if num_shards is not None:
            self._num_shards = positive("num_shards", num_shards, 99_999)
        self._output = _Output(os.fspath(prefix), format, mode, arrow_schema, options)

    def expand(self, batches: Any) -> Any:
        if not batches.is_bounded:
            raise UnsupportedError("cannot write an unbounded PCollection")
        once = batches.pipeline | "Once" >> beam.Create([None])
        job = beam.pvalue.AsSingleton(
            once | "NameJob" >> beam.Map(lambda _, output: output.begin(), self._output)
        )
        batches |= "Unwindow" >> beam.WindowInto(GlobalWindows())
        if self._num_shards:
            batches |= "AssignShards" >> beam.ParDo(_InTurn(self._num_shards)).with_output_types(
                beam.typehints.KV[int, pa.RecordBatch]
            )
            batches |= beam.GroupByKey()
            written = batches | "WriteShards" >> beam.ParDo(_WriteShard(self._output), job)
        else:
            written = batches | "WriteBundles" >> beam.ParDo(_WriteBundle(self._output), job)
        files = beam.pvalue.AsIter(written)
        publish = beam.FlatMap(_publish, self._output, self._num_shards, job, files)
        names = once | "Publish" >> publish.with_output_types(str)
        _ = once | "Clean" >> beam.Map(_clean, self._output, job, beam.pvalue.AsIter(names))
        return names


@public_in("columnstone.beam")
class WriteTFRecord(Write):
    """Writes record batches to TFRecords, "out/trips-00000-of-00010.tfrecord", and returns the
    names of the files.

    payload: "example", "sequence_example", "message" (implied by `message=`) or "raw" (one binary
        column).
    Other options are those of Write; container= selects a container other than TFRecord.
    """

    def __init__(
        self, prefix: str | os.PathLike[str], payload: str | None = None, **options: Any
    ) -> None:
        if payload is None:
            payload = "example" if options.get("message") is None else "message"
        if payload not in _PAYLOADS:
            raise argument_error(
                f"unknown payload {ascii(payload)[:40]}", f"one of {', '.join(_PAYLOADS)}"
            )
        super().__init__(prefix, payload, **options)


_PAYLOADS = ("example", "sequence_example", "message", "raw")


@public_in("columnstone.beam")
class WriteParquet(Write):
    """Writes record batches to Parquet files, "out/trips-00000-of-00010.parquet", and returns the
    names of the files. Options are those of Write."""

    def __init__(self, prefix: str | os.PathLike[str], **options: Any) -> None:
        super().__init__(prefix, "parquet", **options)


@public_in("columnstone.beam")
class WriteArrow(Write):
    """Writes record batches to Arrow files, "out/trips-00000-of-00010.arrow", and returns the names
    of the files. Options are those of Write."""

    def __init__(self, prefix: str | os.PathLike[str], **options: Any) -> None:
        super().__init__(prefix, "arrow", **options)
