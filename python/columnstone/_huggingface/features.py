"""Arrow types as datasets represents them: all nullable, and without dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.optional import need

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa


def features_of(schema: pa.Schema) -> Any:
    """The Features of columns."""
    return need("datasets", "columnstone.huggingface").Features.from_arrow_schema(schema)


def cast_to(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """A table of this schema for each batch."""
    pa = need("pyarrow", "columnstone.huggingface", "huggingface")
    for batch in batches:
        table = pa.Table.from_batches([batch])
        yield table if table.schema == schema else table.cast(schema)
