"""Formats of files: options of CSV, and formats of your own."""

from __future__ import annotations

from ._formats.csv import CsvOptions
from ._formats.registry import register, unregister

__all__ = [
    "CsvOptions",
    "register",
    "unregister",
]
