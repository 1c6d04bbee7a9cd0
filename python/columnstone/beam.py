"""Apache Beam: sources, sinks and combiners of record batches."""

from __future__ import annotations

__all__: list[str] = []
