"""Batches that a function of this package produces, as an Arrow stream that keeps its
exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa


class Reader:
    """A stream that can be read once.

    A C stream reports failures only as text; `last_error` is the exception, which the pass over the
    stream raises.
    """

    __slots__ = ("_batches", "_schema", "last_error")

    def __init__(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        self._schema = schema
        self._batches = batches
        self.last_error: BaseException | None = None

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The batches for callers in Python."""
        return self._kept()

    def _kept(self) -> Iterator[pa.RecordBatch]:
        try:
            yield from self._batches
        except GeneratorExit:
            raise
        except BaseException as error:
            self.last_error = error
            raise

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        import pyarrow as pa

        reader = pa.RecordBatchReader.from_batches(self._schema, self._kept())
        capsule: object = reader.__arrow_c_stream__(requested_schema)
        return capsule
