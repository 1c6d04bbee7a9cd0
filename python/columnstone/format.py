"""Formats of your own."""

from __future__ import annotations

from ._formats.registry import register, unregister

__all__ = [
    "register",
    "unregister",
]
