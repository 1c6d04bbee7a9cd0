"""tfx_bsl.arrow.sql_util, which was gone by tfx_bsl 1.21: slices of a batch by SQL.

tfx_bsl 1.16 has ZetaSQL for it; Columnstone has none, so that a query is refused when it is made.
The module is there for TFDV 1.16, which cannot be imported without it: it needs pyarrow older than
14, as tfx_bsl 1.16 does. With a later pyarrow there is no such module, as in tfx_bsl 1.21, and what
asks whether it is there (TFMA) says itself that there is no SQL.
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
    """A query of ZetaSQL for the slices that each row is in. There is no ZetaSQL here: RuntimeError
    says so, the class that tfx_bsl raises for a query that it does not understand."""

    def __new__(cls, sql: str, arrow_schema: pa.Schema) -> Self:
        """Raises RuntimeError."""
        return refuse("slices by SQL (slice_sqls, slice_keys_sql)", "slice by values or a function")

    def Execute(self, record_batch: pa.RecordBatch) -> list[list[list[tuple[str, str]]]]:
        """Of each row the slices, and of each of these the names and values. Nobody gets here: no
        query can be made."""
        return refuse("slices by SQL", "slice by values or a function")


def refuse(what: str, instead: str) -> NoReturn:
    """Raises the RuntimeError for what only ZetaSQL can do."""
    raise RuntimeError(
        f"UNIMPLEMENTED: {what} need ZetaSQL, which columnstone.compat.tfx_bsl does not have: "
        f"{instead}, or uninstall() it and use tfx_bsl's own"
    )
