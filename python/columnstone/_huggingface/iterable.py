"""iterable_dataset: splits as the shards of an IterableDataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.optional import need
from .._base.public import public_in
from .._engines.reading import Reading, read_by, splits_of, tasks_of
from .features import cast_to, features_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import datasets
    import pyarrow as pa

    from .._api.open import AnyInput
    from .._source.split import Split


@public_in("columnstone.huggingface")
def iterable_dataset(
    paths: AnyInput,
    format: str | None = None,
    *,
    target_bytes: int | None = None,
    **options: Any,
) -> datasets.IterableDataset:
    """Files of any format as an IterableDataset, read while it is iterated: one shard for each
    planned task. Nodes (split_dataset_by_node) and the workers of a DataLoader divide the shards,
    `shuffle` mixes them, and an iteration can be resumed with `state_dict`.

    paths, format, options: as for `columnstone.open`. flat=True gives plain values where the schema
        has exactly one value. Without schema or sample_records, all files may be read first for
        inference.
    target_bytes: of a shard on disk, as for `columnstone.plan`; 64 MiB by default. Choose it so
        that there are at least as many shards as workers.
    """
    need("datasets", "columnstone.huggingface")
    from datasets import DatasetInfo, IterableDataset
    from datasets.iterable_dataset import ArrowExamplesIterable

    given = {"format": format, **options}
    reading = read_by(paths, given)
    features = features_of(reading.schema)
    tasks = tasks_of(splits_of(paths, given, target_bytes, reading.is_numbered))
    arguments = {"reading": reading, "schema": features.arrow_schema, "tasks": tasks}
    return IterableDataset(
        ArrowExamplesIterable(_tables, arguments), info=DatasetInfo(features=features)
    )


def _tables(
    reading: Reading, schema: pa.Schema, tasks: list[tuple[Split, ...]]
) -> Iterator[tuple[tuple[int, int], pa.Table]]:
    """The tables of some shards, each with its key."""
    for i, splits in enumerate(tasks):
        for k, table in enumerate(cast_to(schema, reading.batches(splits))):
            yield (i, k), table
