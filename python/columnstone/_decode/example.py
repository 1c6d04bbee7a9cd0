"""tf.Examples in memory: serialized records to record batches, and back."""

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


@public_in("columnstone.codec")
class ExampleDecoder:
    """Decodes serialized tf.Examples into record batches. It pickles.

    schema: anything that Schema takes. Without one the types come from the data of each call, the
        columns are sorted by name, and a feature that never has a type is a column of type null.
    columns: the wanted features in the wanted order; the bytes of others are skipped.
    offsets: 64 for large_list and large_binary, 32 for list and binary.
    binary_views: bytes as binary_view; without a copy when the input is an Arrow binary array,
        which then stays alive as long as the batch.
    fixed_size: features of a fixed shape become fixed_size_list.
    nested: a feature and the row lengths of its ragged representation become one column of nested
        lists.

    A feature of TYPE_UNKNOWN (one without values, where a schema was inferred) is a column of type
    null. Raises SchemaError for a feature of type STRUCT, NotFoundError for an unknown column.
    """

    __slots__ = ("_core", "_options", "_schema")

    def __init__(
        self,
        schema: SchemaLike | None = None,
        columns: Iterable[str] | None = None,
        *,
        offsets: int = 64,
        binary_views: bool = False,
        fixed_size: bool = False,
        nested: bool = False,
    ) -> None:
        core = as_core(schema)
        names = as_columns(columns)
        flags = as_column_flags(offsets, binary_views, fixed_size, nested)
        self._schema = core
        self._options: dict[str, Any] = {
            "columns": names,
            "offsets": offsets,
            "binary_views": binary_views,
            "fixed_size": fixed_size,
            "nested": nested,
        }
        self._core = _core.Decoder("example", core, names, flags, None, ())

    def decode(
        self,
        records: Sequence[Buffer] | Iterable[Buffer] | ArrowArrayExportable | ArrowStreamExportable,
    ) -> _core.RecordBatch:
        """Decodes the records into one batch, one row each.

        records: a list (or any iterable) of bytes or other buffers, or an Arrow array of binary,
            string or their large and view variants without nulls; a batch of one such column will
            do, and a table or other object with __arrow_c_stream__ is decoded whole.

        The GIL is free while decoding. A decoder is used by one thread at a time (others wait) and
        stays usable after an error: CorruptError or SchemaError with the record's number, TypeError
        for a record that is not bytes.
        """
        return self._core.decode(records)

    @property
    def schema(self) -> Schema | None:
        """The schema that was given."""
        return None if self._schema is None else Schema._wrap(self._schema)

    @property
    def arrow_schema(self) -> _core.ArrowSchema | None:
        """The schema of the batches; None without a schema, when each batch has its own."""
        return self._core.arrow_schema

    def __reduce__(self) -> tuple[Callable[..., ExampleDecoder], tuple[Any, ...]]:
        return functools.partial(ExampleDecoder, **self._options), (self.schema,)

    def __repr__(self) -> str:
        what = "any schema" if self._schema is None else repr(self.arrow_schema)
        return f"<columnstone.codec.ExampleDecoder: {what}>"


@public_in("columnstone.codec")
class ExampleEncoder:
    """Encodes record batches as serialized tf.Examples. It pickles.

    Keys are sorted bytewise and values packed, so the same batch always gives the same bytes. A
    null is written as a key with an empty Feature, an empty list as a typed empty list. Columns are
    lists (of any list type) or single values of integers, floats, strings or bytes.

    schema: if given, the types of the columns are checked against it.
    lossy: round float64 to float32 where it does not fit exactly, instead of raising.
    """

    __slots__ = ("_core", "_lossy", "_schema")

    def __init__(self, schema: SchemaLike | None = None, *, lossy: bool = False) -> None:
        self._schema = as_core(schema)
        self._lossy = bool(lossy)
        self._core = _core.Encoder(
            "example", self._schema, _core.ENCODE_LOSSY if lossy else 0, None, ()
        )

    def encode(self, batch: ArrowArrayExportable | ArrowStreamExportable | Plain) -> _core.Array:
        """Encodes a batch into an Array of large_binary, one record per row.

        batch: a RecordBatch of ours, of pyarrow or of Polars, or any object with __arrow_c_array__;
            a table or other object with __arrow_c_stream__ is encoded whole, and so are rows and
            columns of Python's own, as `record_batch` takes them.

        Raises UnsupportedError with row and column for a value that tf.Example cannot hold: a null
        inside a list, an integer above 2**63 - 1, a float64 that float32 cannot hold exactly.
        """
        return self._core.encode(batch)

    @property
    def schema(self) -> Schema | None:
        """The schema that was given."""
        return None if self._schema is None else Schema._wrap(self._schema)

    def __reduce__(self) -> tuple[Callable[..., ExampleEncoder], tuple[Any, ...]]:
        return functools.partial(ExampleEncoder, lossy=self._lossy), (self.schema,)
