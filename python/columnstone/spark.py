"""Apache Spark: the data source `columnstone`, and columns of serialized records decoded and encoded."""

from __future__ import annotations

__all__: list[str] = []
