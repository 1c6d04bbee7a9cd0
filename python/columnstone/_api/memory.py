"""Decoders and encoders of tabular formats, for data in memory: bytes to one batch, and back."""

from __future__ import annotations

import functools
import io
from typing import TYPE_CHECKING, Any, ClassVar

from .._base.files import in_memory
from .._base.public import public_in
from .._sink.writer import Writer
from .open import open as open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .._core import ArrowSchema, ArrowSchemaExportable, Buffer, RecordBatch
    from .._schema.schema import SchemaLike
    from .._sink.writer import Batches

_ALL_ROWS = 2**31 - 1  # of one batch


class _Decoder:
    """The bytes of a file of the format to one record batch. It pickles."""

    _format: ClassVar[str]
    __slots__ = ("_options",)

    def __init__(
        self,
        schema: SchemaLike | None = None,
        columns: Iterable[str] | None = None,
        **options: Any,
    ) -> None:
        given = {"schema": schema, "columns": None if columns is None else tuple(columns)}
        self._options = {**given, **options}

    def decode(self, data: Buffer) -> RecordBatch:
        """Decodes all of the bytes into one batch.

        Raises what `cst.open` and its passes raise, with the record's number and place.
        """
        source = open_source(
            in_memory(f"{self._format} data", data),
            format=self._format,
            batch_size=_ALL_ROWS,
            **{k: v for k, v in self._options.items() if v is not None},
        )
        with source:
            for batch in source:
                return batch
            return source.empty_batch()

    def __reduce__(self) -> tuple[Callable[..., _Decoder], tuple[Any, ...]]:
        return functools.partial(type(self), **self._options), ()

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__}>"


class _Encoder:
    """Record batches to the bytes of a file of the format. It pickles."""

    _format: ClassVar[str]
    __slots__ = ("_options",)

    def __init__(self, schema: SchemaLike | None = None, **options: Any) -> None:
        self._options = {"schema": schema, **options}

    def encode(
        self, batches: Batches, arrow_schema: ArrowSchemaExportable | ArrowSchema | None = None
    ) -> bytes:
        """The batches as a file.

        arrow_schema: of the batches, where there may be none.

        Raises UnsupportedError with row and column for a value that the format cannot hold.
        """
        file = io.BytesIO()
        options = {k: v for k, v in self._options.items() if v is not None}
        with Writer(file, self._format, **options) as writer:
            if arrow_schema is not None:
                writer.begin(arrow_schema)
            writer.write(batches)
        return file.getvalue()

    def __reduce__(self) -> tuple[Callable[..., _Encoder], tuple[Any, ...]]:
        return functools.partial(type(self), **self._options), ()

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__}>"


@public_in("columnstone.codec")
class CsvDecoder(_Decoder):
    """CSV text to a record batch: types by the schema, or found from all of the data. All options
    are those of `cst.open`, such as delimiter and names."""

    _format = "csv"
    __slots__ = ()


@public_in("columnstone.codec")
class CsvEncoder(_Encoder):
    """Record batches to CSV text. All options are those of `cst.Writer`, such as delimiter."""

    _format = "csv"
    __slots__ = ()


@public_in("columnstone.codec")
class JsonDecoder(_Decoder):
    """JSON lines to a record batch: types by the schema, or found from all of the data. All options
    are those of `cst.open`."""

    _format = "json"
    __slots__ = ()


@public_in("columnstone.codec")
class JsonEncoder(_Encoder):
    """Record batches to JSON lines. All options are those of `cst.Writer`."""

    _format = "json"
    __slots__ = ()


@public_in("columnstone.codec")
class ArrowDecoder(_Decoder):
    """An Arrow IPC file or stream to a record batch; it is validated fully."""

    _format = "arrow"
    __slots__ = ()


@public_in("columnstone.codec")
class ArrowEncoder(_Encoder):
    """Record batches to an Arrow IPC file."""

    _format = "arrow"
    __slots__ = ()


@public_in("columnstone.codec")
class ParquetDecoder(_Decoder):
    """A Parquet file to a record batch, through pyarrow."""

    _format = "parquet"
    __slots__ = ()


@public_in("columnstone.codec")
class ParquetEncoder(_Encoder):
    """Record batches to a Parquet file, through pyarrow."""

    _format = "parquet"
    __slots__ = ()


@public_in("columnstone.codec")
class RawDecoder(_Decoder):
    """The bytes of a TFRecord file to a batch of one binary column, `record`."""

    _format = "raw"
    __slots__ = ()


@public_in("columnstone.codec")
class RawEncoder(_Encoder):
    """A batch of one binary column to the bytes of a TFRecord file."""

    _format = "raw"
    __slots__ = ()
