"""Files as an engine reads them. The driver determines their types once; then workers read split by
split, independently of each other."""

from __future__ import annotations

import itertools
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from .._api.artifacts import settled
from .._api.open import open
from .._api.plan import plan
from .._arrow.pointers import to_pyarrow, with_columns
from .._base.errors import Error, SchemaError
from .._base.optional import need
from .._core import FORMATS
from .._formats.options import KINDS
from .._lineage.choice import Held
from .._lineage.lease import Hold
from .._source.split import Split
from .names import check_names
from .options import self_contained

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from .._api.open import AnyInput
    from .._api.source import Source
    from .._core import RecordBatch

# The default size of batches in workers: few calls, and bounded memory.
BATCHES = {"batch_size": 16384, "batch_bytes": 16 << 20}
_END = 2**63 - 1  # of a split of unknown size
_LOOK = 4 << 20  # bytes of batches that an estimate looks at
_GROWTH = 4.0  # from disk to memory, where a look does not tell

_TEXTS = [name for name, (_, is_text, _) in FORMATS.items() if is_text]

# The location of files, and the rules for opening them: options of all functions that open files.
_PLACE = ("filesystem", "schemes", "hosts")


class Reading(NamedTuple):
    """How splits are read: the driver sends it to its workers along with the splits. It pickles
    small, and returns the same batches for the same splits on every machine.

    options: of `columnstone.open`; they contain what would otherwise be inferred.
    schema: of the batches.
    container: of the records of the first file; None: it has none, as with Parquet.
    hold: the lease on the artifacts that are read. Every holder of the reading holds it, too.
    """

    options: dict[str, Any]
    schema: pa.Schema
    container: str | None = None
    hold: Hold | None = None

    def select(self, columns: Sequence[str]) -> Reading:
        """The same with only these columns, in this order; no other column is decoded."""
        schema = need("pyarrow", "a projection", least=10).schema(
            [self.schema.field(c) for c in columns]
        )
        options = dict(self.options)
        beside = {options.get("raw_column"), options.get("offset_column")}
        for name in ("raw_column", "offset_column"):
            if options.get(name) is not None and options[name] not in columns:
                options[name] = None
        paths = options.get("columns")
        wanted = [c for c in columns if c not in beside]
        if paths is not None:  # of messages they go further down than to the column
            wanted = [p for p in paths if p in wanted or p.partition(".")[0] in wanted]
        options["columns"] = wanted
        return self._replace(options=options, schema=schema)

    def open(self, splits: Split | Sequence[Split]) -> Source:
        return open(splits, **self.options)

    @property
    def is_numbered(self) -> bool:
        """Whether record_index() asks for the number of a record in its file."""
        view, columns = self.options.get("view"), self.options.get("columns")
        if view is None or not view.uses_record_index:
            return False
        return not columns or bool(view._core.functions or view.select(columns).uses_record_index)

    def batches(self, splits: Sequence[Split]) -> Iterator[pa.RecordBatch]:
        """The batches of these splits. Raises SchemaError for files that have other columns.

        Reports dropped records (on_error="skip") after the last batch, in the log of the process
        that reads, because engines have no other place for it.
        """
        apart = _by_file(splits) if self.is_numbered else [splits]
        for together in apart:
            with self.open(together) as source:
                for given in source:
                    yield self.fitted(given, source)
                if dropped := source.dropped:
                    logging.getLogger("columnstone").warning(
                        "%d records dropped; the first: %s", len(dropped), dropped[0].error
                    )

    def fitted(self, given: RecordBatch, source: Source) -> pa.RecordBatch:
        """A batch of a source that was opened here, with the common columns."""
        names = self.schema.names
        batch = to_pyarrow(given)
        if batch.schema.names != names and set(names) <= set(batch.schema.names):
            batch = with_columns(batch, names)
        if batch.schema != self.schema:
            raise _other_columns(source.files, batch.schema, self.schema)
        return batch


def read_by(paths: AnyInput, options: dict[str, Any]) -> Reading:
    """Opens files in the same way as their workers will. Everything that the options leave to
    inference is determined here, so that all workers have the same columns."""
    need("pyarrow", "an engine", least=10)
    check_names(options, open, ("paths",), options.get("format"))
    paths, options = settled(paths, options)
    hold = paths.hold if isinstance(paths, Held) else None
    options = self_contained(options)
    with open(paths, **options) as source:
        schema = to_pyarrow(source.arrow_schema)
        container = source._core.container()
        found = {**options, **_kind(options, source), **_found(paths, options, source)}
    said = {name: value for name, value in found.items() if value is not None}
    return Reading(said, schema, container, hold)


def splits_of(
    paths: AnyInput,
    options: dict[str, Any],
    target_bytes: int | None = None,
    is_numbered: bool = False,
) -> list[Split]:
    """The splits of files that are opened with these options.

    is_numbered: of the reading; then only files with an index are divided, because the index has
        the numbers.
    """
    named = ("format", "container", *_PLACE)
    given = {name: options[name] for name in named if options.get(name) is not None}
    if target_bytes is not None:
        given["target_bytes"] = target_bytes
    splits = plan(paths, **given)
    return _numbered(splits) if is_numbered else splits


def _numbered(splits: list[Split]) -> list[Split]:
    """Keeps a file in one piece unless all of its splits know the number of their first record."""
    whole: list[Split] = []
    for pieces in _by_file(splits):
        if all(split.begin == 0 or split.record > 0 for split in pieces):
            whole += pieces
        else:
            first, last = pieces[0], pieces[-1]
            whole.append(Split(first.file, first.begin, last.end, task=first.task))
    return whole


def _by_file(splits: Iterable[Split]) -> list[list[Split]]:
    return [list(group) for _, group in itertools.groupby(splits, key=lambda split: split.file)]


def tasks_of(splits: Iterable[Split]) -> list[tuple[Split, ...]]:
    """The splits of each task: neighbours that one worker reads."""
    return [tuple(group) for _, group in itertools.groupby(splits, key=lambda split: split.task)]


def disk_bytes(splits: Iterable[Split]) -> int | None:
    """The bytes of splits on disk; None if a size is unknown."""
    sizes = [split.end - split.begin if split.end != _END else None for split in splits]
    return None if None in sizes else sum(sizes)  # type: ignore[arg-type]


def growth(reading: Reading, split: Split) -> float:
    """The factor by which data grows from disk to memory, estimated from the beginning of a split.
    Errors are left to the readers."""
    on_disk = disk_bytes([split])
    decoded = read = 0
    try:
        with reading.open(split) as source:
            batches = iter(source)
            for batch in batches:
                decoded += to_pyarrow(batch).nbytes
                if decoded >= _LOOK:
                    read = batches.progress()[0]
                    break
            else:
                read = on_disk or batches.progress()[0]
    except Error:
        return _GROWTH
    return max(decoded / read, 0.1) if read > 0 and decoded > 0 else _GROWTH


def _kind(options: dict[str, Any], source: Source) -> dict[str, Any]:
    """Options that describe the records and their container, so that workers do not open each file
    to find out. An empty file says nothing about them."""
    if source._options["view"] is not None or options.get("message_column") is not None:
        return {}
    format, container = source._core.format(), source._core.container()
    if not source._core.total_bytes() or (container is None and format not in _TEXTS):
        return {}
    return {"format": format, "container": container}


def _found(paths: AnyInput, options: dict[str, Any], source: Source) -> dict[str, Any]:
    """Options with what the source has inferred from its whole input."""
    view = source._options["view"]
    if view is not None:
        from .._query.view import View

        found: dict[str, Any] = {"view": View._of(view), "params": None}
        if options.get("message_column") is None:
            found.update(message=None, descriptors=None, message_options=None)
        return found
    if options.get("schema") is not None or options.get("types") is not None:
        return {}
    if source._core.format() not in ("csv", "json"):
        return {"schema": source.schema}
    named = ("format", *KINDS, *_PLACE, "sample_records", "max_inflation", "max_record_size")
    with open(paths, **{name: options[name] for name in named if name in options}) as plain:
        return {"types": plain.arrow_schema, "sample_records": None}


def _other_columns(files: list[str], found: pa.Schema, expected: pa.Schema) -> SchemaError:
    name = files[0]
    hint = "give a schema, or read each kind of file separately"
    for field in expected:
        at = found.get_field_index(field.name)
        if at < 0:
            return SchemaError(f"{name}: there is no column {field.name!r} ({hint})", hint=hint)
        if found.field(at) != field:
            what = f"{found.field(at).type}, but {field.type} in the first file"
            return SchemaError(f"{name}: the column {field.name!r} is {what} ({hint})", hint=hint)
    return SchemaError(
        f"{name}: it has columns that the first file does not have ({hint})", hint=hint
    )
