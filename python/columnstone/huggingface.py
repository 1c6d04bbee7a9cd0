"""Hugging Face datasets of files.

    for example in columnstone.huggingface.iterable_dataset("trips-*.tfrecord.gz", flat=True):
        ...
    columnstone.huggingface.dataset("trips-*.tfrecord.gz", flat=True)[5]

In the other direction, `columnstone.open`, `write` and `convert` accept datasets.
"""

from __future__ import annotations

from ._huggingface.cached import dataset
from ._huggingface.iterable import iterable_dataset

__all__ = ["dataset", "iterable_dataset"]
