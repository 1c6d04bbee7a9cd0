"""View: a query bound to its input, and saved views."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .. import _core
from .._arrow.table import array, record_batch
from .._base.arguments import at_least_1_or_0
from .._base.errors import Error, FileError, NotFoundError, UnsupportedError, argument_error
from .._base.files import path_bytes
from .._base.markup import facts, or_text, preformatted, table, titled
from .._base.public import public, public_in
from .._message.options import named_message
from .._schema.schema import as_columns
from .._schema.spec import feature_specs, representations_of
from .._tensor.tensor import RaggedTensor, SparseTensor
from .input import Input
from .text import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeAlias

    from .._arrow.objects import Plain
    from .._core import (
        Array,
        ArrowArrayExportable,
        ArrowSchema,
        ArrowStreamExportable,
        Buffer,
        RecordBatch,
    )
    from .._core import View as CoreView
    from .._message.options import Form
    from .._schema.spec import FeatureSpec, TensorRepresentation
    from .._types import AnyTensor

    OnBadRecord: TypeAlias = Literal["raise", "skip", "null"]
    Records: TypeAlias = "Iterable[Buffer] | ArrowArrayExportable | ArrowStreamExportable"
    Batch: TypeAlias = "ArrowArrayExportable | ArrowStreamExportable | Plain"
    Params: TypeAlias = "Mapping[str, Any] | None"


Limits = tuple[int, int, int]  # max_elements, max_bytes, max_work; 0: the usual ones
NO_LIMITS: Limits = (0, 0, 0)

_POLICIES = {"raise": 0, "skip": _core.ON_ERROR_SKIP, "null": _core.ON_ERROR_NULL}

_MOST_BYTES = 4 << 20  # that a view may have: more is refused when it is opened


@public_in("columnstone.query")
class ViewDiff(NamedTuple):
    """The differences between two views, as seen by readers of their outputs."""

    text: str  #: a line for each change
    num_breaking: int  #: of those that break a reader of the first one
    num_rows: int  #: of those by which it may get other rows


@public
class View:
    """A query that is bound to its input: a function from records to tensors, or from batches to
    batches. Views are immutable and pickle. Any number of threads can run one at the same time,
    without the GIL.

    `Query.view` creates a view. View(x) opens a saved view from its path or its bytes, which need
    not be trusted.

    params: values of its parameters, by name.
    outputs: the output columns to compute, in this order. Nothing else is computed or parsed.
    form: the encoding of message records, if it differs from that of the query: "binary", "json",
        "text" or "confluent", as for `decoder`.
    max_elements, max_bytes, max_work: limits for one batch, or for the records of one call. If one
        is exceeded, a LimitError names the record with the largest share. With B the size of the
        batch in memory, they are: the elements of all lists that the query makes (2**28); the bytes
        it needs in addition to the batch (64 MiB + 200 B); the elements that its steps read and
        write, which bounds the time (2**28 + 4096 B).

    Raises NotFoundError for a missing file, output or parameter, CorruptError for bytes that are
    not a view, UnsupportedError for a view of a later version.

    >>> q = cst.Query("shop.Session", descriptors="shop.proto")
    >>> view = q.output("n", "dense(size(event), default=0)").view()
    >>> view.run([bytes([18, 0, 18, 0])]).to_pydict()  # a session of two empty events
    {'n': [2]}
    >>> view.source_paths("n")
    ('event',)
    """

    __slots__ = ("_core",)
    _core: _core.View

    def __init__(
        self,
        view: str | os.PathLike[str] | bytes | bytearray | memoryview,
        *,
        params: Params = None,
        outputs: Iterable[str] | None = None,
        form: Form | None = None,
        max_elements: int | None = None,
        max_bytes: int | None = None,
        max_work: int | None = None,
    ) -> None:
        limits = limits_of(max_elements, max_bytes, max_work)
        again = _Again(core_params(params), as_columns(outputs), form, limits)
        if not isinstance(view, str | os.PathLike):
            self._core = again.open(bytes(view))
            return
        path = os.fsdecode(view)
        data = _read(path)
        try:
            self._core = again.open(data)
        except Error as error:
            if error.file is None:
                error.file = path
                error.args = (f"{path}: {error}",)
            raise

    @classmethod
    def _of(cls, core: CoreView) -> View:
        view = object.__new__(cls)
        view._core = core
        return view

    def again(self, params: Params = None, form: Form | None = None) -> View:
        """Returns the same view with other parameter values, or for records in another form."""
        if self._core.functions:
            raise UnsupportedError("the view has Python functions: pass params to Query.view")
        return self._again(core_params(params), self.outputs, form)

    def select(self, outputs: Iterable[str]) -> View:
        """Returns the same view with only these outputs, in this order."""
        if self._core.functions:
            raise UnsupportedError("the view has Python functions: use Query.view(outputs=...)")
        return self._again((), as_columns(outputs), None)

    def _again(
        self,
        params: tuple[tuple[str, str], ...],
        outputs: tuple[str, ...] | None,
        form: Form | None,
    ) -> View:
        return View._of(_Again(params, outputs, form, self._core.limits).open(self.to_bytes()))

    # Properties

    @property
    def text(self) -> str:
        """The query in canonical form."""
        return self._core.text

    @property
    def digest(self) -> str:
        """The SHA-256 of the saved view, in hexadecimal."""
        return self._core.digest

    @property
    def uses_record_index(self) -> bool:
        """Whether an output needs the number of its record in the file (record_index()). Such a
        view reads whole files, or splits that know the number of their first record."""
        return self._core.uses_record_index

    @property
    def message(self) -> str | None:
        """The full name of the message; None if the input is not messages."""
        return self._core.message

    @property
    def input(self) -> str:
        """The kind of input: "message", "example", "sequence_example" or "table"."""
        return self._core.input

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return tuple(self.describe_outputs().to_pydict()["name"])

    @property
    def schema(self) -> ArrowSchema:
        """The Arrow schema of the output batches."""
        return self._core.arrow_schema

    @property
    def specs(self) -> dict[str, TensorRepresentation]:
        """How each tensor is made of the columns, by name."""
        return representations_of(self._core.specs())

    def feature_spec(self) -> dict[str, FeatureSpec]:
        """The parsing spec of the tensors, as Schema.feature_spec gives it."""
        return feature_specs(self.specs, False)

    def source_paths(self, output: str | None = None) -> tuple[str, ...]:
        """The input fields that an output needs (None: any output), as the shortest list of paths.
        No other field is parsed."""
        return self._core.source_paths(output)

    def row_paths(self) -> tuple[str, ...]:
        """The input fields that decide which rows come out: those used by a `where` that `rows`
        depends on. Records without these fields, such as requests without a label, give no rows and
        no error. None if a bool parameter takes part in the decision."""
        return self._core.row_paths()

    def describe_outputs(self) -> RecordBatch:
        """A row for each output: its tensor, its columns, and the input fields it needs
        (docs/views.md)."""
        return self._core.outputs()[0]

    def describe_params(self) -> RecordBatch:
        """A row for each parameter: its type and its value."""
        return self._core.params()[0]

    def explain(self, batch: Batch | None = None, *, json: bool = False) -> str:
        """The plan: which fields are parsed, which steps run, and what the outputs are. With a
        batch that `apply` would accept, also how many elements each step produces from it."""
        given = None if batch is None else record_batch(batch)
        return self._core.explain(bool(json), given)

    def diff(self, other: View) -> ViewDiff:
        """Compares the outputs of this view with those of another one that would replace it."""
        if not isinstance(other, View):
            raise TypeError(f"expected a View, not {type(other).__name__}")
        return ViewDiff(*self._core.diff(other._core))

    # Saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the view to a file: the query, only the descriptors it needs, and a description of
        its outputs. UnsupportedError if it calls Python functions."""
        self._core.save(path)

    def to_bytes(self) -> bytes:
        """The saved view as bytes. Equal queries and types give equal bytes."""
        return self._core.write()

    # Running

    def run(
        self,
        records: Records | Batch,
        *,
        on_error: OnBadRecord = "raise",
        on_bad: Callable[[Error], object] | None = None,
        timeout: float | None = None,
    ) -> RecordBatch:
        """Runs the view on records or on a batch, and returns a batch.

        records: serialized messages or tf.Examples, as a list of bytes or an Arrow binary array; or
            a batch: anything that `record_batch` accepts.
        on_error: what to do with a record that does not decode, or that the query or a tensor
            rejects. "raise" raises the error. "skip" leaves the record out. "null" gives a row of
            nulls, so that row i is record i; dense tensors have no nulls and get the default, or 0
            and empty bytes. If the view has `rows`, "null" is the same as "skip".
        on_bad: a function that is called with the exception of each such record, in order; its
            `.record` is the number of the record. on_bad=errors.append collects them.
        timeout: seconds until the call raises DeadlineError.

        Raises SchemaError and CorruptError with the number of the record.
        """
        return self.run_with_rows(records, on_error=on_error, on_bad=on_bad, timeout=timeout)[0]

    def run_with_rows(
        self,
        records: Records | Batch,
        *,
        on_error: OnBadRecord = "raise",
        on_bad: Callable[[Error], object] | None = None,
        timeout: float | None = None,
    ) -> tuple[RecordBatch, Array]:
        """Like `run`, but also returns the number of the record, or of the row in the batch, that
        each row comes from, as int64."""
        how = _how(on_error, on_bad, timeout)
        serialized = _records(records)
        if serialized is not None:
            return self._core.run(serialized, how)
        return self._core.apply(record_batch(records), how)  # type: ignore[arg-type]

    def tensors(
        self,
        records: Records | Batch,
        *,
        on_error: OnBadRecord = "raise",
        on_bad: Callable[[Error], object] | None = None,
        timeout: float | None = None,
    ) -> dict[str, AnyTensor]:
        """Like `run`, but returns tensors by name, as `Source.tensors` does."""
        how = _how(on_error, on_bad, timeout)
        serialized = _records(records)
        if serialized is not None:
            return self._core.tensors(serialized, how, SparseTensor, RaggedTensor)
        batch = record_batch(records)  # type: ignore[arg-type]
        return self._core.apply_tensors(batch, how, SparseTensor, RaggedTensor)

    def apply(self, batch: Batch) -> RecordBatch:
        """Runs the view on a batch and returns a batch. Input columns are found by name. The batch
        is anything that `record_batch` accepts."""
        return self.apply_with_rows(batch)[0]

    def apply_with_rows(self, batch: Batch) -> tuple[RecordBatch, Array]:
        """Like `apply`, but also returns the number of the input row that each row comes from, as
        int64."""
        return self._core.apply(record_batch(batch), _how("raise", None, None))

    def __reduce__(self) -> tuple[Callable[[CoreView], View], tuple[CoreView]]:
        return View._of, (self._core,)

    def __repr__(self) -> str:
        of = self.message or self.input
        return f"<columnstone.View of {of}: {', '.join(self.outputs)}>"

    @or_text
    def _repr_html_(self) -> str:
        made = self.specs
        outputs = [
            (name, made[name].kind, made[name].dtype, ", ".join(self.source_paths(name)))
            if name in made
            else (name, "columns", None, ", ".join(self.source_paths(name)))
            for name in self.outputs
        ]
        params = self.describe_params().to_pydict()
        given = zip(params["name"], params["type"], params["value"], strict=True)
        known = [("input", self.message or self.input), ("digest", self.digest)]
        return titled(
            "View",
            facts(known),
            table(("output", "tensor", "values", "made of"), outputs),
            *([table(("parameter", "type", "value"), list(given))] if params["name"] else []),
            preformatted(self.text),
        )


class _Again(NamedTuple):
    """How a view was opened, besides its bytes."""

    params: tuple[tuple[str, str], ...]
    outputs: tuple[str, ...] | None
    form: Form | None
    limits: Limits

    def open(self, data: bytes) -> _core.View:
        message = None
        if self.form is not None:
            message = named_message(None, None, {"form": self.form})
        recipe = (_opened, (tuple(self),))
        return _core.View(data, message, None, None, self.params, self.outputs, self.limits, recipe)


def _opened(again: tuple[Any, ...], data: bytes) -> _core.View:
    """The pickled form of a view."""
    return _Again(*again).open(data)


def bind(
    query: _core.Query,
    input: Input,
    params: tuple[tuple[str, str], ...],
    outputs: tuple[str, ...] | None,
    limits: Limits = NO_LIMITS,
    recipe: tuple[Callable[..., _core.View], tuple[Any, ...]] | None = None,
) -> _core.View:
    """A query bound to what is known about its input. The recipe is for queries that have no
    bytes."""
    if recipe is None:
        recipe = (_opened, ((params, outputs, None, limits),))
    return _core.View(query, *input.core(), params, outputs, limits, recipe)


def core_params(params: Params) -> tuple[tuple[str, str], ...]:
    """Values in the query language."""
    if params is None:
        return ()
    return tuple((name, literal(value)) for name, value in dict(params).items())


def limits_of(max_elements: int | None, max_bytes: int | None, max_work: int | None) -> Limits:
    """The three limits for the core."""
    return (
        at_least_1_or_0("max_elements", max_elements),
        at_least_1_or_0("max_bytes", max_bytes),
        at_least_1_or_0("max_work", max_work),
    )


def _how(
    on_error: OnBadRecord, on_bad: Callable[[Error], object] | None, timeout: float | None
) -> tuple[int, Callable[[Error], object] | None, float]:
    """The arguments of a call for the core; a timeout is never negative."""
    if on_error not in _POLICIES:
        raise argument_error(
            f'on_error must be "raise", "skip" or "null", not {ascii(on_error)[:40]}'
        )
    if timeout is not None and not timeout >= 0:
        raise argument_error(f"timeout is {timeout}", "give seconds, or None for no limit")
    if on_bad is not None and not callable(on_bad):
        raise TypeError(f"on_bad must be a function, not {type(on_bad).__name__}")
    return _POLICIES[on_error], on_bad, -1.0 if timeout is None else float(timeout)


def _read(path: str) -> bytes:
    try:
        with open(path_bytes(path), "rb") as file:
            return file.read(_MOST_BYTES + 1)  # whatever the file is
    except FileNotFoundError:
        hint = "check the path"
        raise NotFoundError(
            f"{path}: there is no such file ({hint})", file=path, hint=hint
        ) from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}", file=path) from error


def _records(given: Any) -> Any:
    """Serialized records as an iterable; None if the argument is a batch."""
    if isinstance(given, _core.RecordBatch | dict):
        return None
    if isinstance(given, list | tuple):
        return None if given and isinstance(given[0], dict) else given
    if isinstance(given, bytes | bytearray | memoryview | str):
        raise TypeError(f"records must be a list of bytes, not {type(given).__name__}")
    if not hasattr(given, "__arrow_c_array__") and not hasattr(given, "__arrow_c_stream__"):
        return given
    values = array(given)
    if values.schema.format not in ("z", "Z", "vz", "u", "U", "vu"):
        return None
    items = values.to_pylist()
    return [item.encode() if isinstance(item, str) else item for item in items]
