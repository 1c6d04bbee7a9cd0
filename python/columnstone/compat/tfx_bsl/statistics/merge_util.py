"""Merging of the statistics of shards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorflow_metadata.proto.v0 import statistics_pb2

from . import DatasetListAccumulator

if TYPE_CHECKING:
    from collections.abc import Iterable


def merge_dataset_feature_statistics(
    stats_protos: Iterable[statistics_pb2.DatasetFeatureStatistics],
) -> statistics_pb2.DatasetFeatureStatisticsList:
    """Merges the statistics of datasets that come in shards: one result for each name."""
    merged = DatasetListAccumulator()
    for shard in stats_protos:
        merged.MergeDatasetFeatureStatistics(shard.SerializeToString())
    return statistics_pb2.DatasetFeatureStatisticsList.FromString(merged.Get())


def merge_dataset_feature_statistics_list(
    stats_protos: Iterable[statistics_pb2.DatasetFeatureStatisticsList],
) -> statistics_pb2.DatasetFeatureStatisticsList:
    """The same for lists of shards."""
    return merge_dataset_feature_statistics(
        dataset for shards in stats_protos for dataset in shards.datasets
    )
