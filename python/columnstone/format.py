"""Formats of your own."""

from __future__ import annotations

from ._formats.option import Option
from ._formats.options import options
from ._formats.registry import register, unregister

__all__ = [
    "Option",
    "options",
    "register",
    "unregister",
]
