"""tf.SequenceExamples in memory: serialized records to record batches, and back."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.public import public_in
from .._schema.schema import Schema, as_column_flags, as_columns, as_core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .._arrow.objects import Plain
    from .._core import ArrowArrayExportable, ArrowStreamExportable, Buffer
    from .._schema.schema import SchemaLike

SEQUENCE_COLUMN = "##SEQUENCE##"


@public_in("columnstone.codec")
class SequenceExampleDecoder:
    """Decodes serialized tf.SequenceExamples into record batches. It pickles.

    The context becomes columns as those of a tf.Example; the feature lists become one struct
    column, the last one, of list<list<T>>: an absent feature list is null, one without features
    empty; a feature without a kind is a null inner list, one without values an empty one.

    schema: anything that Schema takes; the feature lists are the struct_domain of its feature of
        type STRUCT that is called like the struct column. Without a schema the types come from the
        data of each call, and columns and feature lists are sorted by name.
    columns: the wanted columns in the wanted order; single feature lists as "<struct column>.name".
    sequence_column: name of the struct column.
    offsets: 64 for large_list and large_binary, 32 for list and binary.
    binary_views: bytes as binary_view; without a copy when the input is an Arrow binary array,
        which then stays alive as long as the batch.

    Raises SchemaError for a schema that does not fit, NotFoundError for an unknown column.
    """

    __slots__ = ("_core", "_options", "_schema")

    def __init__(
        self,
        schema: SchemaLike | None = None,
        columns: Iterable[str] | None = None,
        *,
        sequence_column: str = SEQUENCE_COLUMN,
        offsets: int = 64,
        binary_views: bool = False,
    ) -> None:
        self._schema = as_core(schema)
        names = as_columns(columns)
        self._options: dict[str, Any] = {
            "columns": names,
            "sequence_column": _name(sequence_column),
            "offsets": offsets,
            "binary_views": binary_views,
        }
        flags = as_column_flags(offsets, binary_views, False)
        self._core = _core.Decoder(
            "sequence_example",
            self._schema,
            names,
            flags,
            None,
            (("sequence_column", sequence_column, None),),
        )

    def decode(
        self,
        records: Sequence[Buffer] | Iterable[Buffer] | ArrowArrayExportable | ArrowStreamExportable,
    ) -> _core.RecordBatch:
        """Decodes the records into one batch, one row each; everything as for
        `ExampleDecoder.decode`. Errors in a feature list have the path "<struct column>.name"."""
        return self._core.decode(records)

    @property
    def schema(self) -> Schema | None:
        """The schema that was given."""
        return None if self._schema is None else Schema._wrap(self._schema)

    @property
    def arrow_schema(self) -> _core.ArrowSchema | None:
        """The schema of the batches; None without a schema, when each batch has its own."""
        return self._core.arrow_schema

    def __reduce__(self) -> tuple[Callable[..., SequenceExampleDecoder], tuple[Any, ...]]:
        return functools.partial(SequenceExampleDecoder, **self._options), (self.schema,)

    def __repr__(self) -> str:
        what = "any schema" if self._schema is None else repr(self.arrow_schema)
        return f"<columnstone.codec.SequenceExampleDecoder: {what}>"


@public_in("columnstone.codec")
class SequenceExampleEncoder:
    """Encodes record batches as serialized tf.SequenceExamples, so that decoding gives the same
    batch. It pickles.

    Keys are sorted bytewise and values packed. Columns are those of the context, as for
    ExampleEncoder, and the struct column of list<list<T>>, which may be missing.

    schema: if given, the types of the columns are checked against it.
    sequence_column: name of the struct column.
    lossy: round float64 to float32 where it does not fit exactly, instead of raising.
    """

    __slots__ = ("_core", "_options", "_schema")

    def __init__(
        self,
        schema: SchemaLike | None = None,
        *,
        sequence_column: str = SEQUENCE_COLUMN,
        lossy: bool = False,
    ) -> None:
        self._schema = as_core(schema)
        self._options: dict[str, Any] = {
            "sequence_column": _name(sequence_column),
            "lossy": bool(lossy),
        }
        self._core = _core.Encoder(
            "sequence_example",
            self._schema,
            _core.ENCODE_LOSSY if lossy else 0,
            None,
            (("sequence_column", sequence_column, None),),
        )

    def encode(self, batch: ArrowArrayExportable | ArrowStreamExportable | Plain) -> _core.Array:
        """Encodes a batch into an Array of large_binary, one record per row; everything as for
        `ExampleEncoder.encode`."""
        return self._core.encode(batch)

    @property
    def schema(self) -> Schema | None:
        """The schema that was given."""
        return None if self._schema is None else Schema._wrap(self._schema)

    def __reduce__(self) -> tuple[Callable[..., SequenceExampleEncoder], tuple[Any, ...]]:
        return functools.partial(SequenceExampleEncoder, **self._options), (self.schema,)


def _name(sequence_column: str) -> str:
    if not isinstance(sequence_column, str):
        raise TypeError(f"sequence_column is a str, not {type(sequence_column).__name__}")
    return sequence_column
