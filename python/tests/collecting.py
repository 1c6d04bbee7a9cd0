"""The garbage collector passes over what was there before a test: with PyTorch and JAX loaded, each
gc.collect(), in a forked child too, would take a third of a second."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def collect_only_what_the_test_makes() -> Iterator[None]:
    gc.freeze()
    yield
    gc.unfreeze()
