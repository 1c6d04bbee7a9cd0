"""Shared helpers for tests of Beam pipelines."""

from __future__ import annotations

from typing import Any


def make_test_beam_pipeline_kwargs() -> dict[str, Any]:
    """Arguments of apache_beam.Pipeline() in tests: none, that is, the default runner."""
    return {}
