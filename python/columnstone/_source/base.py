"""The base of sources: opened inputs as record batches, tensors, rows and parts."""

from __future__ import annotations

import operator
import os
from contextlib import closing
from typing import TYPE_CHECKING, Any, Literal, overload

from .. import _core
from .._base.arguments import integer, positive
from .._base.errors import Error, StateError, UnsupportedError, argument_error, name_file
from .._base.files import PlacedFile
from .._base.markup import counted, or_text
from .._schema.schema import Schema, as_columns
from .inputs import Inputs, reopen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import Self
    from weakref import ref

    from .._core import (
        ArrowArrayExportable,
        ArrowSchema,
        ArrowSchemaExportable,
        Loader,
        Pass,
        RecordBatch,
    )
    from .._schema.schema import SchemaLike
    from .._schema.spec import FeatureSpec, TensorRepresentation
    from .._schema.validate import SchemaCheck
    from .._tensor.adapter import CorePad, PadsLike
    from .._types import AnyTensor
    from .dropped import Dropped
    from .inputs import Opener
    from .scan import FileCount, Verification
    from .workers import ReportPlace, Reports


def _end_reports(all_reports: list[Reports], one: Reports) -> None:
    one.end()
    all_reports.remove(one)


def _and_type_error(error: type[Error]) -> type[Error]:
    return type(error.__name__, (error, TypeError), {"__module__": error.__module__})


class SourceBase:
    """Opened inputs, and everything that is read from them: the part of Source that is not for
    training."""

    __slots__ = (
        "__weakref__",
        "_again",
        "_before",
        "_core",
        "_first_rows",
        "_inputs",
        "_options",
        "_parts",
        "_passes",
        "_pickle",
        "_registered",
        "_reports",
        "_rows",
        "_seen",
    )

    def __init__(self, inputs: Inputs, options: dict[str, Any]) -> None:
        """`columnstone.open` creates sources; the options are those of the extension."""
        self._options = options
        self._open(inputs)

    def _open(self, inputs: Inputs) -> None:
        """Opens the source with self._options."""
        self._passes: list[ref[Pass[Any] | Loader]] = []
        self._reports: list[Reports] = []  # of worker processes
        self._parts: tuple[tuple[Any, ...], ...] = ()
        self._before: Self | None = None  # without the last of the parts
        self._inputs = inputs
        self._pickle = inputs.pickle
        self._again = inputs.again
        self._registered = inputs.format is not None
        self._rows: int | None = None  # of plain TFRecord files, once counted
        self._seen: ArrowSchema | None = None  # for repr()
        self._first_rows: RecordBatch | None = None  # that it has shown
        try:
            streams = self._streams(inputs)
            for file, *_ in inputs.files or ():
                if isinstance(file, PlacedFile):
                    file.limit(self._options["max_inflation"])
            self._core = _core.Source(inputs.paths, inputs.files, streams, self._told(inputs))
            if inputs.hold is not None and inputs.hold.lease is not None:
                self._core.hold(inputs.hold.lease)
            if inputs.splits is not None:
                self._core = self._core.read_splits(inputs.splits)
        except Error as error:
            if inputs.paths is not None and len(inputs.paths) == 1:
                name_file(error, inputs.paths[0])
            raise

    def _streams(
        self, inputs: Inputs
    ) -> tuple[tuple[Callable[..., object], bytes, bool, bool, int], ...] | None:
        """The streams, each restricted to the fields that the wanted outputs of a view need."""
        view, outputs = self._options["view"], self._options["columns"]
        paths: tuple[str, ...] | None = None
        if view is not None and view.input == "table" and inputs.streams is not None:
            wanted = (None,) if outputs is None else outputs
            paths = tuple({path: None for o in wanted for path in view.source_paths(o)})
        if inputs.streams is None:
            return None
        return tuple(stream.core(paths, self._options) for stream in inputs.streams)

    def _told(self, inputs: Inputs) -> dict[str, Any]:
        """The options for the compiled part, which does not get those of a registered format."""
        if any(stream.format is not None for stream in inputs.streams or ()):
            return {**self._options, "format_options": ()}
        return self._options

    # Properties

    @property
    def schema(self) -> Schema | None:
        """The schema: the one given, or the inferred one (inferring reads the input). None for
        formats without a schema."""
        core = self._core.schema()
        return None if core is None else Schema._wrap(core)

    @property
    def arrow_schema(self) -> ArrowSchema:
        """The Arrow schema of the batches. Inferring it reads the input."""
        self._seen = self._core.arrow_schema()
        return self._seen

    @property
    def column_names(self) -> list[str]:
        """Names of the batches' columns, in order."""
        return self.arrow_schema.names

    @property
    def files(self) -> list[str]:
        """The files in reading order, with globs expanded."""
        return self._core.files()

    @property
    def total_bytes(self) -> int | None:
        """The size of all files on disk; None if unknown."""
        return self._core.total_bytes()

    @property
    def batch_size(self) -> int:
        """The number of rows of each batch; only the last batch may have fewer."""
        size: int = self._options["batch_size"]
        return size

    def tensor_representations(self) -> dict[str, TensorRepresentation]:
        """How each tensor of `tensors` is made, by name."""
        from .._schema.spec import representations_of

        return representations_of(self._core.specs())

    @overload
    def feature_spec(self, tensorflow: Literal[False] = False) -> dict[str, FeatureSpec]: ...

    @overload
    def feature_spec(self, tensorflow: Literal[True]) -> dict[str, Any]: ...

    def feature_spec(self, tensorflow: bool = False) -> dict[str, Any]:
        """The parsing spec of the tensors, as Schema.feature_spec gives it."""
        from .._schema.spec import feature_specs

        return feature_specs(self.tensor_representations(), tensorflow)

    # Passes

    def __iter__(self) -> Pass[RecordBatch]:
        made = self._core.batches()
        self._keep(made)
        return made

    def tensors(self, pad: PadsLike = None) -> Pass[dict[str, AnyTensor]]:
        """Reads all rows as tensors. Returns for each batch a dict of name -> Tensor, SparseTensor
        or RaggedTensor; a structured tensor is a dict of its fields.

        pad: makes ragged, varlen and sparse tensors dense: name -> (value, length) or Pad, as in
            pad={"tokens": (0, 512)}. A length of None is the longest row of each batch.

        Raises SchemaError with the record and the tensor if a row does not fit, for example if a
        dense tensor has no value.

        >>> src = cst.open("trips.tfrecord", schema="trips.pbtxt")
        >>> for tensors in src.tensors(pad={"zones": (0, 3)}):
        ...     print(tensors["zones"].numpy())
        [[1 2 0]
         [3 0 0]
         [0 0 0]
         [2 4 5]]
        """
        from .._tensor.tensor import RaggedTensor, SparseTensor

        pads: tuple[CorePad, ...] = ()
        if pad:
            from .._tensor.adapter import core_pads

            pads = core_pads(pad, self.tensor_representations())
        made = self._core.tensors(SparseTensor, RaggedTensor, pads)
        self._keep(made)
        return made

    def head(self, n: int = 5) -> RecordBatch:
        """Returns the first `n` rows as one batch, or fewer if the input has fewer. Each call reads
        the beginning again. An input that can be read only once, such as standard input, cannot be
        read afterwards.

        >>> cst.open("trips.csv").head(1).to_pydict()
        {'company': ['Blue'], 'fare': [9.5]}
        """
        from .._arrow.table import concat

        wanted = integer("n", n)
        if wanted < 0:
            raise argument_error(f"n is {wanted}, and must be at least 0")
        found: list[RecordBatch] = []
        if wanted > 0:
            with closing(iter(self)) as batches:
                for batch in batches:
                    found.append(batch.slice(0, wanted))
                    wanted -= len(found[-1])
                    if wanted == 0:
                        break
        batch = concat(found) if found else self.empty_batch()
        self._seen = batch.schema
        return batch

    def to_pandas(self) -> Any:
        """Returns all rows as a pandas DataFrame with Arrow-typed columns (pandas.ArrowDtype):
        integers stay integers even with nulls, and lists, bytes and times keep their types. Needs
        pandas and pyarrow. Raises the same errors as a pass."""
        from .._arrow.table import frame_of

        return frame_of(self, self.arrow_schema)

    def _keep(self, made: Pass[Any] | Loader) -> None:
        """Remembers a pass or a loader for close()."""
        import weakref

        # Without callbacks: a callback would run wherever a pass is released, and swallow a
        # KeyboardInterrupt.
        self._passes = [alive for alive in self._passes if alive() is not None]
        self._passes.append(weakref.ref(made))

    def __arrow_c_schema__(self) -> object:
        return self.arrow_schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """One pass as an Arrow PyCapsule. requested_schema is ignored: consumers cast."""
        return self._core.stream()

    @property
    def last_error(self) -> BaseException | None:
        """The last error of any pass, as an exception object with all its fields. pyarrow, Polars
        and DuckDB keep only its text."""
        return self._core.last_error()

    @property
    def dropped(self) -> list[Dropped]:
        """The records that the latest pass (or the latest epoch of a dataset) has dropped so far;
        see on_error of `open`. Each pass also has its own list: `iter(source).dropped`. Records
        dropped by the workers of a DataLoader are included once each; workers run ahead of the
        loop."""
        for reports in self._reports:
            reports.take()
        return self._core.dropped()

    def _reported(self) -> ReportPlace | None:
        """Where worker processes report their dropped records, as long as it is referenced; None:
        they drop none."""
        if self._options["on_error"] is None:
            return None
        import weakref

        from .workers import ReportPlace, Reports

        made = Reports(self._core)
        place = ReportPlace(made.path, os.getpid())
        self._reports.append(made)
        weakref.finalize(place, _end_reports, self._reports, made)
        return place

    # Rows and parts

    @property
    def num_rows(self) -> int:
        """Returns the number of rows. It is taken from the index files if there are any; otherwise
        the record lengths are read once, or all of the data if the format has no record lengths."""
        return self._core.num_rows()

    def __len__(self) -> int:
        """The number of rows of plain TFRecord files, as num_rows. TypeError for sources that would
        have to be read, for file objects, and if on_error may drop records: use num_rows for these.
        StateError if the source is closed. Errors in the frames, such as CorruptError, are
        TypeErrors as well, so that `list` continues with the rows.

        `list(source)` uses the length as a hint: for this, it only reads the frames of uncompressed
        files without an index.
        """
        self._core.total_bytes()  # StateError
        if self._pickle is not None and self._options["on_error"] is None:
            try:
                return self._count()
            except UnsupportedError as error:
                raise TypeError(f"this source has no length: {error}") from error
            except Error as error:
                error.__class__ = _and_type_error(type(error))
                raise
        raise TypeError("the length of this source is not known without reading: use num_rows")

    def _count(self) -> int:
        """The number of rows; UnsupportedError unless all files are uncompressed TFRecord files."""
        if self._rows is None:
            self._core.range(0, 0)
            self._rows = self._core.num_rows()
        return self._rows

    def __bool__(self) -> bool:
        return True

    @overload
    def __getitem__(self, rows: slice) -> Self: ...

    @overload
    def __getitem__(self, rows: int | Iterable[int]) -> RecordBatch: ...

    def __getitem__(self, rows: int | slice | Iterable[int]) -> RecordBatch | Self:
        """Rows of uncompressed TFRecord files, numbered over all files: source[i] is a batch of one
        row, source[[3, 5]] a batch of several (like `take`), source[a:b] a Source of these rows.
        Negative numbers count from the end. UnsupportedError for other sources. A damaged row
        raises an error, because on_error applies only to passes."""
        if isinstance(rows, slice):
            return self._range(rows)
        one = hasattr(rows, "__index__") and not hasattr(rows, "__len__")  # arrays have both
        return self.take((rows,) if one else rows)  # type: ignore[arg-type]

    def take(self, rows: Iterable[int]) -> RecordBatch:
        """Returns the rows with these numbers as one batch, in this order; a row may be repeated.
        IndexError if a row does not exist, UnsupportedError unless all files are uncompressed
        TFRecord files. A damaged row raises an error, whatever on_error says."""
        if isinstance(rows, str | bytes) or not hasattr(rows, "__iter__"):
            raise TypeError(f"rows must be a list of ints, not {type(rows).__name__}")
        count = self._count()
        return self._core.take(tuple(rows), count)

    def _range(self, rows: slice) -> Self:
        if rows.step is not None and operator.index(rows.step) != 1:
            raise argument_error("slices of a source have a step of 1", "take() takes any rows")
        begin = 0 if rows.start is None else operator.index(rows.start)
        end = 2**63 - 1 if rows.stop is None else operator.index(rows.stop)
        if begin < 0 or end < 0:
            begin, end, _ = slice(begin, end).indices(self._count())
        begin = min(begin, 2**63 - 1)
        return self._part("range", begin, min(max(begin, end), 2**63 - 1))

    def split(self, i: int, n: int) -> Self:
        """Returns part i of n (from 0). Each record is in exactly one part, and the order is kept.
        Uncompressed TFRecord files are cut between records: if all of them have index files, the
        sizes of the parts differ by at most one record; otherwise they are cut by bytes. Compressed
        files and other formats are divided file by file."""
        parts = positive("n", n, 2**32 - 1)
        number = integer("i", i)
        if not 0 <= number < parts:
            raise argument_error(f"i is {number}, and must be from 0 to {parts - 1}")
        return self._part("split", number, parts)

    # Stages

    def map(
        self,
        fn: Callable[[Any], Any],
        *,
        schema: ArrowSchemaExportable | None = None,
        columns: Iterable[str] | None = None,
        keeps_rows: bool = True,
    ) -> Self:
        """Returns a source that replaces each batch with fn(batch).

        fn gets a pyarrow.RecordBatch and returns anything that `record_batch` accepts: a batch, a
        table, a data frame, or a dict of columns. Batches can have any number of rows; unless
        schema is given, fn is also called with a batch of 0 rows to find the schema. The decoding
        threads call it, one at a time. The pass raises exceptions of fn, with a note that names the
        batch. You can chain maps and filters. Needs pyarrow.

        schema: the schema of the result, as anything with __arrow_c_schema__; results are cast to
            it.
        columns: the columns that fn gets. In the first stage, only these are decoded.
        keeps_rows: fn returns as many rows as it gets, and computes each from that row alone. This
            allows random access and global shuffling. False: fn may return any number of rows.

        >>> src = cst.open("trips.csv")
        >>> dear = src.map(lambda batch: batch.select(["fare"]))
        >>> dear.head(2).to_pydict()
        {'fare': [9.5, 12.0]}
        """
        from .stages import Mapped

        return self._part("stage", Mapped(fn, schema, bool(keeps_rows)), as_columns(columns))

    def filter(self, condition: Any) -> Self:
        """Returns a source of the rows for which the condition is true, in full batches of
        batch_size.

        condition: a function that gets a pyarrow.RecordBatch and returns one bool for each row, as
            an Arrow or numpy array or a list; or a pyarrow expression such as pc.field("fare") > 0;
            or the name of a column of bools. Null counts as false. Needs pyarrow.

        Filtered rows have no numbers: use `take`, slices, len and shuffle="global" before the
        filter. `num_rows` reads all of the data.
        """
        from .stages import Filtered

        return self._part("stage", Filtered(condition), None)

    def _part(self, how: str, a: Any, b: Any) -> Self:
        part = object.__new__(type(self))
        part._before = self
        part._passes = []
        part._reports = self._reports if how == "ids" else []  # the same records
        part._rows = None
        part._seen = None
        part._first_rows = None
        part._options = self._options
        part._registered = self._registered
        part._pickle = self._resolved()
        part._again = self._again
        part._inputs = self._inputs
        part._parts = (*self._parts, (how, a, b))
        if how == "ids":
            part._core = self._core.with_ids(a[0], a[1], b)
        elif how == "stage":
            part._core = self._core.with_stage(a, b, a is not None and a.keeps_rows)
        else:
            part._core = self._core.range(a, b) if how == "range" else self._core.split(a, b)
        return part

    def _with_ids(self, names: tuple[str, str], first_file: int = 0) -> Self:
        """The same source with two additional columns: the file and the record number of each
        row."""
        return self._part("ids", names, first_file)

    def _numbered(self, first_file: int) -> Self:
        """The same source, if it has ids, with files numbered from this number on."""
        if self._before is None or self._parts[-1][0] != "ids" or first_file == self._parts[-1][2]:
            return self
        return self._before._with_ids(self._parts[-1][1], first_file)

    def _resolved(self) -> tuple[bytes, ...] | None:
        """The paths to pickle, with globs resolved."""
        if self._pickle is None or self._parts:
            return self._pickle
        return tuple(os.fsencode(name) for name in self.files)

    # Without decoding

    def count(self) -> list[FileCount]:
        """Counts the records of each file without decoding them. It verifies the CRCs of the
        lengths, and that each file ends at the end of a record. The first fault raises an error."""
        from .scan import files_of

        return files_of(self._core.count())

    def verify(self, *, max_faults: int = 1000) -> Verification:
        """Verifies everything: the compression, both CRCs, and that each record parses and fits the
        schema, if one was given. Continues after a fault where possible.

        max_faults: how many faults to report; all are counted.

        >>> bool(cst.open("trips.tfrecord").verify())
        True
        """
        from .scan import verification_of

        return verification_of(*self._core.verify(positive("max_faults", max_faults)))

    def validate(
        self,
        schema: SchemaLike | None = None,
        *,
        group: str | Iterable[str] | None = None,
        environment: str | None = None,
        tensors: bool = True,
        ignore_unexpected: bool = False,
        places: int = 5,
        progress: Callable[[int, int], bool | None] | None = None,
        previous: ArrowArrayExportable | None = None,
        serving: ArrowArrayExportable | None = None,
    ) -> SchemaCheck:
        """Reads all records once and compares them with the schema: types, presence, numbers of
        values, shapes and domains, and whether each record fits each tensor. Each kind of mismatch
        is an Anomaly of the SchemaCheck, with the number of records and the first of them. Damaged
        records are anomalies too, and are skipped. The result does not depend on the number of
        threads.

        schema: anything that `Schema` accepts; None: the schema of the source.
        group: one tensor_representation_group to check, or several; None: the group of the source.
            Tensors that a group leaves out are inferred, as for `tensors`.
        environment: features outside it are not expected; None: all features are.
        tensors: False checks the features only.
        ignore_unexpected: features that the schema lacks are not an anomaly.
        places: how many records to name for each anomaly.
        progress: a function that is called from time to time with the bytes and records read so
            far; if it returns False, the pass stops.
        previous, serving: statistics of earlier data, and of serving data. A distance above the
            thresholds drift_comparator and skew_comparator of the schema is an anomaly
            (docs/drift.md).

        >>> schema = 'feature { name: "fare" type: FLOAT float_domain { max: 20 } }'
        >>> check = cst.open("trips.csv", columns=["fare"]).validate(schema)
        >>> check.anomalies[0].kind, check.anomalies[0].places[0].record
        ('float-domain', 3)
        >>> bool(check)
        False
        """
        from .._schema.validate import validate

        return validate(
            self._core,
            schema,
            group,
            environment,
            tensors,
            ignore_unexpected,
            positive("places", places),
            progress,
            previous,
            serving,
        )

    # Copying, closing and pickling

    def close(self) -> None:
        """Stops the running passes and closes the files. Exported Arrow streams stay valid."""
        for running in [alive() for alive in self._passes]:
            if running is not None:
                running.close()
        self._passes = []
        self._core.close()
        self._inputs = self._inputs._replace(hold=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., SourceBase], tuple[Any, ...]]:
        options = dict(self._options)
        if options["schema"] is not None:
            options["schema"] = options["schema"].to_binary()
        return type(self)._restore, (self._opener(), options, self._parts)

    @classmethod
    def _restore(
        cls, opener: Opener, options: dict[str, Any], parts: tuple[tuple[Any, ...], ...]
    ) -> Self:
        """Unpickles a source."""
        if options["schema"] is not None:
            options["schema"] = _core.Schema.parse(options["schema"], "binary")
        source = cls(reopen(opener), options)
        for part in parts:
            source = source._part(*part)
        return source

    def _opener(self) -> Opener:
        """The arguments to open the inputs again; they pickle."""
        if self._again is not None:
            return self._again
        files = self._resolved()
        if files is None:
            raise TypeError(
                "a source over file objects, Arrow objects or standard input cannot be pickled"
            )
        return "paths", (files, self._options["format"], self._registered)

    def select(self, columns: Iterable[str]) -> Self:
        """Returns the same input with only these columns, in this order. An inferred schema is
        kept. StateError for file objects and other inputs that can be read only once.

        >>> cst.open("trips.tfrecord").select(["fare"]).column_names
        ['fare']
        """
        if self._options["flat"] or any(part[0] == "stage" for part in self._parts):
            return self._part("stage", None, as_columns(columns))
        return self._opened_with(columns=as_columns(columns))

    def _opened_with(self, **changes: Any) -> Self:
        """The same input, opened again with other options."""
        source = object.__new__(type(self))
        source._options = {**self._options, **changes}
        if source._options["schema"] is None and source._options["types"] is None:
            source._options["schema"] = self._core.schema()
        source._open(self._reopened())
        for part in self._parts:
            source = source._part(*part)
        return source

    def _reopened(self) -> Inputs:
        """The inputs for another source in this process."""
        if self._again is not None or self._pickle is not None:
            return reopen(self._opener())
        streams = self._inputs.streams
        if streams is not None and not any(stream.once for stream in streams):
            return self._inputs
        raise StateError("file objects and streams allow only one source: pass columns= to open")

    def empty_batch(self) -> RecordBatch:
        """Returns a batch of 0 rows with the columns of the source."""
        return self._core.take((), 0)

    def _name(self, files: list[str]) -> str:
        """Its description without rows."""
        if not files:
            return "Source of no files"
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        return f"Source {files[0]!r}{more}"

    def __repr__(self) -> str:
        try:
            files = self.files
        except Exception:
            return "<columnstone.Source, closed>"
        from .._arrow.show import columns_text, source_text

        name, first = self._name(files), self._previewed(files)
        if first is not None:
            return source_text(name, first)
        view, columns = self._options["view"], self._options["columns"]
        if self._parts or (self._seen is None and view is None and columns is None):
            known = ""
        elif self._seen is None and columns is not None:
            known = f": {', '.join(columns)}"
        else:
            known = f": {columns_text(self._seen or view.arrow_schema)}"
        return f"<columnstone.{name}{known}>"

    def _previewed(self, files: list[str]) -> RecordBatch | None:
        """The first rows, if reading them takes nothing from other readers; see preview.py."""
        is_plain = self._pickle is not None and self._again is None and not self._parts
        if self._first_rows is None and is_plain and files:
            from .preview import first_rows

            self._first_rows = first_rows(type(self), files[0], self._options, self._registered)
        return self._first_rows

    @or_text
    def _repr_html_(self) -> str:
        from .._arrow.show import source_html

        files = self.files
        name, first = self._name(files), self._previewed(files)
        view, seen = self._options["view"], None if self._parts else self._seen
        if seen is None and view is not None and not self._parts:
            seen = view.arrow_schema
        return source_html(name, first, seen, [self._facts(files)])

    def _facts(self, files: list[str]) -> str:
        """What is known from opening it."""
        size, container = self.total_bytes, self._core.container()
        known = [
            f"format {self._core.format()}",
            "" if container is None else f"container {container}",
            counted(len(files), "file"),
            "" if size is None else counted(size, "byte"),
            f"batches of {counted(self.batch_size, 'row')}",
        ]
        return ", ".join(filter(None, known))
