"""SchemaInference, Validation and Counts: looking at data batch by batch, in a program or an engine
of the user's own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .. import _core
from .._arrow.as_arrow import as_arrow
from .._base.arguments import integer, positive, proposal
from .._base.errors import Error, argument_error
from .._base.public import public_in
from .._schema.schema import Schema, as_columns
from .._schema.validate import SchemaCheck, check_of
from .base import SourceBase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from .._schema.schema import SchemaLike

_Found = TypeVar("_Found")


class Accumulator(Generic[_Found]):
    """What SchemaInference, Validation and Counts have in common."""

    __slots__ = ("_handle", "_options")
    _handle: _core.Accumulator
    _options: tuple[Any, ...]  # what it is made by

    def add(
        self,
        batches: _core.ArrowArrayExportable | _core.ArrowStreamExportable,
        *,
        file: str | os.PathLike[str] = "",
        record: int | None = None,
    ) -> int:
        """Adds the rows of a batch, a table, a source, or any other object with __arrow_c_array__
        or __arrow_c_stream__; returns how many. They come after all that were added before.
        Columns may differ from batch to batch.

        file, record: where the rows come from, and the number of the first one there, for the
            places of anomalies and errors.

        Raises UnsupportedError, with the path, for a column that cannot be looked at, CorruptError
        for data that is no Arrow data, and SchemaError for a feature in two types. A batch that
        fails is not counted, those of the same stream before it are.
        """
        name = os.fsencode(file)
        at = -1 if record is None else integer("record", record)
        if record is not None and at < 0:
            raise argument_error(f"record is {at}, and must not be negative")
        if not isinstance(batches, SourceBase):
            return self._handle.add(as_arrow(batches), name, at)
        rows = 0  # its own iterator raises what a stream can only tell in words
        for batch in batches:
            rows += self._handle.add(batch, name, at if at < 0 else at + rows)
        return rows

    def merge(self, other: Self) -> None:
        """Adds what another one has found, whose rows come after those of this one. Both are of the
        same options (else an ArgumentError). The other one stays as it is."""
        if type(other) is not type(self):
            raise TypeError(f"expected a {type(self).__name__}, not {type(other).__name__}")
        self._handle.merge(other._handle)

    def finish(self) -> _Found:
        """What has been found so far. More may be added afterwards."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Any, ...]]:
        return type(self)._restore, (self._options, self._handle.save())

    @classmethod
    def _restore(cls, options: tuple[Any, ...], saved: bytes) -> Self:
        made = cls._of(*options)
        made._handle.load(saved)
        return made

    @classmethod
    def _of(cls, *options: Any) -> Self:
        """One that has found nothing yet."""
        made = object.__new__(cls)
        made._options = options
        made._handle = cls._new(*options)
        return made

    @staticmethod
    def _new(*options: Any) -> _core.Accumulator:
        raise NotImplementedError

    def __repr__(self) -> str:
        try:
            found = self._describe(self.finish())
        except Error as error:
            found = str(error)
        return f"<{type(self).__module__}.{type(self).__name__}: {found}>"

    @staticmethod
    def _describe(found: _Found) -> str:
        raise NotImplementedError


def _numbered(count: int, noun: str, many: str = "") -> str:
    return f"{count} {noun if count == 1 else many or noun + 's'}"


@public_in("columnstone.accumulate")
class SchemaInference(Accumulator[Schema]):
    """What `infer_schema` does, for batches that something else reads: an engine, many processes,
    a stream.

    look_at_values: features of bytes that are all UTF-8 get a string_domain, and columns of types
        that no feature has are passed over, as for sources that are read flat.
    propose, group, max_domain, ragged: as for `infer_schema`.

    Takes lists of numbers, bool, bytes and strings, or single ones; structs of lists of lists are
    the feature lists of SequenceExamples. It pickles, and stays small: it holds counts, not data.

    >>> inference = cst.accumulate.SchemaInference()
    >>> for batch in batches: inference.add(batch)
    >>> inference.merge(pickle.loads(of_another_process))
    >>> schema = inference.finish()
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        look_at_values: bool = False,
        propose: bool = False,
        group: str = "",
        max_domain: int = 100,
        ragged: bool = False,
    ) -> Self:
        options = proposal(propose, group, max_domain, ragged)
        if options is None:
            return cls._of(bool(look_at_values))
        if look_at_values:
            raise argument_error("propose looks at values in its own way", "leave one of them out")
        return cls._of(*options)

    @staticmethod
    def _new(*options: Any) -> _core.Accumulator:
        if len(options) == 1:
            return _core.Accumulator.inference(*options)
        return _core.Accumulator.proposal(*options)

    def finish(self) -> Schema:
        """The schema of all rows so far. More may be added afterwards."""
        return Schema._wrap(self._handle.finish())

    @staticmethod
    def _describe(found: Schema) -> str:
        return _numbered(len(found.features), "feature")


@public_in("columnstone.accumulate")
class Validation(Accumulator[SchemaCheck]):
    """What `Source.validate` does, for batches that something else reads. The arguments are those
    of `Source.validate`; a column of a wrong type is an anomaly, not an error. It pickles, with its
    schema.

    To compare all that data has with a schema, read it without one: else the columns are those of
    the schema alone.
    """

    __slots__ = ()

    def __new__(
        cls,
        schema: SchemaLike,
        *,
        groups: str | Iterable[str] | None = None,
        environment: str | None = None,
        tensors: bool = True,
        ignore_unexpected: bool = False,
        places: int = 5,
    ) -> Self:
        return cls._of(
            schema if isinstance(schema, Schema) else Schema(schema),
            as_columns([groups] if isinstance(groups, str) else groups) or None,
            environment,
            not tensors,
            bool(ignore_unexpected),
            positive("places", places),
        )

    @staticmethod
    def _new(*options: Any) -> _core.Accumulator:
        schema, *others = options
        return _core.Accumulator.validation(schema._handle, *others)

    def finish(self) -> SchemaCheck:
        """What does not fit in all rows so far. More may be added afterwards."""
        return check_of(*self._handle.finish())

    @staticmethod
    def _describe(found: SchemaCheck) -> str:
        anomalies = _numbered(len(found.anomalies), "anomaly", "anomalies")
        return f"{_numbered(found.num_rows, 'row')}, {anomalies}"


@public_in("columnstone.accumulate")
@dataclass(frozen=True, slots=True)
class ColumnCount:
    """What one column has.

    path: the column; "a.b" for a field of a struct that is not in a list.
    rows: in which it is not null, nor a struct above it.
    values: in these rows: the items of its innermost lists that are not null; of a column without
        lists, the rows. A struct is one value.
    """

    path: str
    rows: int
    values: int


@public_in("columnstone.accumulate")
@dataclass(frozen=True, slots=True)
class ColumnCounts:
    """What `Counts` found.

    columns: sorted by path; a batch that lacks a column has nulls there.
    """

    num_rows: int
    columns: list[ColumnCount]


@public_in("columnstone.accumulate")
class Counts(Accumulator[ColumnCounts]):
    """Counts rows, and per column the rows that have it and its values."""

    __slots__ = ()

    def __new__(cls) -> Self:
        return cls._of()

    @staticmethod
    def _new(*options: Any) -> _core.Accumulator:
        return _core.Accumulator.counts(*options)

    def finish(self) -> ColumnCounts:
        """The counts of all rows so far. More may be added afterwards."""
        num_rows, columns = self._handle.finish()
        return ColumnCounts(num_rows, [ColumnCount(*entry) for entry in columns])

    @staticmethod
    def _describe(found: ColumnCounts) -> str:
        columns = _numbered(len(found.columns), "column")
        return f"{_numbered(found.num_rows, 'row')}, {columns}"
