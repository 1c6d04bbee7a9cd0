"""open and Source: files, globs, streams and file objects to record batches and tensors."""

from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from . import _core
from ._errors import Error, argument_error, name_file
from ._files import as_inputs
from ._schema import Schema, as_column_flags, as_columns, as_core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import Self, TypeAlias
    from weakref import WeakSet

    from ._core import ArrowSchema, Pass, RecordBatch, Tensor
    from ._files import Path, ReadableFile
    from ._schema import SchemaLike
    from ._spec import FeatureSpec, TensorRepresentation
    from ._tensor import RaggedTensor, SparseTensor

    AnyTensor: TypeAlias = "Tensor | SparseTensor | RaggedTensor"
    Inputs: TypeAlias = "Path | ReadableFile | Iterable[Path] | Iterable[ReadableFile]"


class FileCount(NamedTuple):
    """The totals of one file: record_bytes are those of the records alone, stream_bytes the
    uncompressed ones with the framing, file_bytes those on disk."""

    file: str
    records: int
    record_bytes: int
    stream_bytes: int
    file_bytes: int


class Fault(NamedTuple):
    """One fault that `verify` found.

    kind is "length-crc", "data-crc", "truncated", "record", "compression" or "format"; error is the
    exception that reading would have raised, with file, record and offset.
    """

    kind: str
    error: Exception


class Verification(NamedTuple):
    """What `verify` found."""

    faults: list[Fault]
    files: list[FileCount]


def open(
    paths: Inputs,
    format: str | None = None,
    schema: SchemaLike | None = None,
    columns: Iterable[str] | None = None,
    tensor_group: str = "",
    batch_size: int = 1024,
    threads: int = 1,
    *,
    batch_bytes: int | None = None,
    check_crc: bool = True,
    offsets: int = 64,
    binary_views: bool = False,
    fixed_size: bool = False,
    memory_map: bool = False,
    max_record_size: int | None = None,
    max_inflation: int | None = None,
    legacy: bool = False,
) -> Source:
    """Opens files as a Source of record batches and tensors.

    paths: a path, a glob (*, ?, [ in a name that is no file; matches sorted bytewise), "-" for
        standard input, a binary file object (read or readinto; seek if it has it), or a list of
        these, whose order is kept. Compression (gzip, zlib, zstd) is found from the bytes.
    format: "example" (tf.Example, the default for TFRecords), "raw" (one column `record` of
        undecoded bytes), or the name of a plug-in.
    schema: anything that Schema takes. Without one, the schema is inferred: over all input for
        files, over the first 10,000 records for pipes; give one where reading everything twice is
        too slow.
    columns: the wanted columns in the wanted order; other features are skipped, unseen.
    tensor_group: the schema's tensor_representation_group for `tensors`.
    batch_size: rows of every batch but the last one, across files.
    threads: that read and decode; the batches are the same for every number.
    batch_bytes: ends a batch also when its records reach this many bytes.
    check_crc: check the CRCs of the data (those of the lengths always are).
    offsets, binary_views, fixed_size: the columns' layout, as for ExampleDecoder; views are
        zero-copy for TFRecord blocks below 2 GiB.
    memory_map: map plain files; a file that shrinks meanwhile kills the process.
    max_record_size: in bytes; 256 MiB by default.
    max_inflation: by how much a compressed file may grow, as a ratio, once it has given 64 MiB; 200
        by default.
    legacy: derive tensors by the rules of generate_legacy_feature_spec.

    Raises at once NotFoundError for a missing file, an empty glob or an unknown column (with near
    names), SchemaError for a bad schema, ArgumentError or TypeError for wrong arguments; everything
    else when it is met while reading.
    """
    return Source(
        paths,
        format,
        schema,
        columns,
        tensor_group,
        batch_size,
        threads,
        batch_bytes=batch_bytes,
        check_crc=check_crc,
        offsets=offsets,
        binary_views=binary_views,
        fixed_size=fixed_size,
        memory_map=memory_map,
        max_record_size=max_record_size,
        max_inflation=max_inflation,
        legacy=legacy,
    )


class Source:
    """Opened files: iterate it for record batches, call tensors() for tensors, or hand it to
    pyarrow, Polars or DuckDB.

    Each iter() and each __arrow_c_stream__() is a new and independent pass over the files; an input
    that can be read only once, such as a pipe, raises StateError on the second. Passes may run at
    once, in threads as well. A Source is a context manager, and pickles by its paths and options
    (not with file objects); threads start with the first batch, so it may be sent to worker
    processes.
    """

    __slots__ = ("__weakref__", "_core", "_options", "_passes", "_portable")

    def __init__(
        self,
        paths: Inputs,
        format: str | None = None,
        schema: SchemaLike | None = None,
        columns: Iterable[str] | None = None,
        tensor_group: str = "",
        batch_size: int = 1024,
        threads: int = 1,
        *,
        batch_bytes: int | None = None,
        check_crc: bool = True,
        offsets: int = 64,
        binary_views: bool = False,
        fixed_size: bool = False,
        memory_map: bool = False,
        max_record_size: int | None = None,
        max_inflation: int | None = None,
        legacy: bool = False,
    ) -> None:
        path_list, files = as_inputs(paths)
        self._passes: WeakSet[Pass[Any]] | None = None
        self._options: dict[str, Any] = {
            "format": _text("format", format),
            "schema": as_core(schema),
            "columns": as_columns(columns),
            "tensor_group": _text("tensor_group", tensor_group) or "",
            "batch_size": _positive("batch_size", batch_size),
            "batch_bytes": 0 if batch_bytes is None else _positive("batch_bytes", batch_bytes),
            "threads": _positive("threads", threads, 1024),
            "flags": (0 if check_crc else _core.SOURCE_SKIP_CRC)
            | (_core.SOURCE_MEMORY_MAP if memory_map else 0),
            "column_flags": as_column_flags(offsets, binary_views, fixed_size),
            "max_record_size": 0
            if max_record_size is None
            else _positive("max_record_size", max_record_size),
            "max_inflation": 0
            if max_inflation is None
            else _positive("max_inflation", max_inflation),
            "legacy": bool(legacy),
        }
        try:
            self._core = _core.Source(paths=path_list, files=files, **self._options)
        except Error as error:
            if path_list is not None and len(path_list) == 1:
                name_file(error, path_list[0])
            raise
        self._portable = path_list is not None and b"-" not in path_list

    # What it holds

    @property
    def schema(self) -> Schema | None:
        """The schema, given or inferred (which reads the input); None for formats without one."""
        core = self._core.schema()
        return None if core is None else Schema._wrap(core)

    @property
    def arrow_schema(self) -> ArrowSchema:
        """The schema of the batches. Without a given schema the first use reads the input."""
        return self._core.arrow_schema()

    @property
    def column_names(self) -> list[str]:
        """Names of the batches' columns, in order."""
        return self.arrow_schema.names

    @property
    def files(self) -> list[str]:
        """The files in reading order, globs resolved."""
        return self._core.files()

    @property
    def total_bytes(self) -> int | None:
        """Size of all files on disk; None if it is not known."""
        return self._core.total_bytes()

    @property
    def batch_size(self) -> int:
        """Rows of every batch but the last."""
        size: int = self._options["batch_size"]
        return size

    def tensor_representations(self) -> dict[str, TensorRepresentation]:
        """How each tensor of `tensors` is made, by name."""
        from ._spec import representations_of

        return representations_of(self._core.specs())

    @overload
    def feature_spec(self, tensorflow: Literal[False] = False) -> dict[str, FeatureSpec]: ...

    @overload
    def feature_spec(self, tensorflow: Literal[True]) -> dict[str, Any]: ...

    def feature_spec(self, tensorflow: bool = False) -> dict[str, Any]:
        """The parsing spec of the tensors, as Schema.feature_spec gives it."""
        from ._spec import feature_specs

        return feature_specs(self.tensor_representations(), tensorflow)

    # Passes

    def __iter__(self) -> Pass[RecordBatch]:
        made = self._core.batches()
        self._keep(made)
        return made

    def tensors(self) -> Pass[dict[str, AnyTensor]]:
        """One pass as tensors: per batch a dict of name -> Tensor | SparseTensor | RaggedTensor.

        Raises SchemaError with record and tensor for a row that does not fit, such as a missing
        value of a dense tensor.
        """
        from ._tensor import RaggedTensor, SparseTensor

        made = self._core.tensors(SparseTensor, RaggedTensor)
        self._keep(made)
        return made

    def _keep(self, made: Pass[Any]) -> None:
        """Remembers a pass for close()."""
        if self._passes is None:
            import weakref

            self._passes = weakref.WeakSet()
        self._passes.add(made)

    def __arrow_c_schema__(self) -> object:
        return self.arrow_schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """One pass as an Arrow PyCapsule. requested_schema is ignored: consumers cast."""
        return self._core.stream()

    @property
    def last_error(self) -> BaseException | None:
        """The last failure of any pass, as the exception object with its fields. Through pyarrow,
        Polars and DuckDB only its text survives."""
        return self._core.last_error()

    # Without decoding

    def count(self) -> list[FileCount]:
        """Counts the records of each file, without decoding them; checks the CRCs of the lengths
        and that each file ends at a record's end. Raises at the first fault."""
        return [FileCount(*entry) for entry in self._core.count()]

    def verify(self) -> Verification:
        """Checks everything: compression, both CRCs, and that every record parses and fits the
        schema if one was given. Goes on after a fault where that is possible."""
        faults, files = self._core.verify()
        return Verification([Fault(*f) for f in faults], [FileCount(*f) for f in files])

    # Life

    def close(self) -> None:
        """Stops the running passes, and gives the files back. Streams in other hands go on."""
        for running in list(self._passes or ()):
            running.close()
        self._passes = None
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., Source], tuple[Any, ...]]:
        if not self._portable:
            raise TypeError("a source over file objects or standard input cannot be pickled")
        options = dict(self._options)
        if options["schema"] is not None:
            options["schema"] = options["schema"].to_binary()
        return _restore, (tuple(os.fsencode(name) for name in self.files), options)

    def __repr__(self) -> str:
        try:
            files = self.files
        except Exception:
            return "<columnstone.Source, closed>"
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        return f"<columnstone.Source {files[0]!r}{more}>"


def _restore(paths: tuple[bytes, ...], options: dict[str, Any]) -> Source:
    """The other end of pickling."""
    if options["schema"] is not None:
        options["schema"] = _core.Schema.parse(options["schema"], "binary")
    source = object.__new__(Source)
    source._passes = None
    source._portable = True
    source._options = options
    source._core = _core.Source(paths=paths, files=None, **options)
    return source


def infer_schema(
    paths: Inputs,
    format: str | None = None,
    *,
    threads: int = 1,
    check_crc: bool = True,
    max_record_size: int | None = None,
    max_inflation: int | None = None,
) -> Schema:
    """Infers a schema from all records: types, presence, value counts, and a shape for features
    that have the same number of values in every record. The arguments are those of `open`.

    Raises SchemaError with the record's number if a feature changes its type.
    """
    with open(
        paths,
        format,
        threads=threads,
        check_crc=check_crc,
        max_record_size=max_record_size,
        max_inflation=max_inflation,
    ) as source:
        return Schema._wrap(source._core.infer())


def _positive(name: str, value: int, most: int = 2**63 - 1) -> int:
    """An int argument of at least 1."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is an int, not {type(value).__name__}") from None
    if not 1 <= number <= most:
        raise argument_error(f"{name} is {number}, and must be from 1 to {most}")
    return number


def _text(name: str, value: str | None) -> str | None:
    """A str argument or None."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} is a str, not {type(value).__name__}")
    return value
