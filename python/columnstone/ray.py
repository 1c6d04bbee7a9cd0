"""Ray Data: datasets of files, and sinks."""

from __future__ import annotations

__all__: list[str] = []
