"""tfx_bsl.arrow.sql_util, which tfx_bsl 1.21 no longer has: slices of a batch by SQL.

tfx_bsl 1.16 uses ZetaSQL for it. Columnstone does not have it, so that creating a query fails. The
module exists for TFDV 1.16, which cannot be imported without it; TFDV 1.16 needs pyarrow before
version 14, as tfx_bsl 1.16 does. With a later pyarrow the module does not exist, as in tfx_bsl
1.21, and programs that test for it (TFMA) report themselves that there is no SQL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pyarrow as pa

if hasattr(pa.Array, "__arrow_c_array__"):
    raise ModuleNotFoundError(
        "tfx_bsl.arrow.sql_util belongs to tfx_bsl 1.16; neither tfx_bsl 1.21 nor "
        "columnstone.compat.tfx_bsl runs SQL",
        name="tfx_bsl.arrow.sql_util",
    )

if TYPE_CHECKING:
    from typing import Self

__all__ = ["RecordBatchSQLSliceQuery"]


class RecordBatchSQLSliceQuery:
    """A ZetaSQL query for the slices of each row. ZetaSQL is not available: raises RuntimeError,
    like tfx_bsl for a query that it does not understand."""

    def __new__(cls, sql: str, arrow_schema: pa.Schema) -> Self:
        """Raises RuntimeError."""
        return refuse("slices by SQL (slice_sqls, slice_keys_sql)", "slice by values or a function")

    def Execute(self, record_batch: pa.RecordBatch) -> list[list[list[tuple[str, str]]]]:
        """The slices of each row, each with names and values. Never called, because no query can be
        created."""
        return refuse("slices by SQL", "slice by values or a function")


def refuse(what: str, instead: str) -> NoReturn:
    """Raises the RuntimeError for features that need ZetaSQL."""
    raise RuntimeError(
        f"UNIMPLEMENTED: {what} need ZetaSQL, which columnstone.compat.tfx_bsl does not have: "
        f"{instead}, or uninstall() it and use tfx_bsl's own"
    )
