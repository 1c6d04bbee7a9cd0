"""tfx_bsl.statistics over Columnstone."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import DecodeError
from tensorflow_metadata.proto.v0 import statistics_pb2

__all__ = ["DatasetListAccumulator"]


class DatasetListAccumulator:
    """Merges the statistics of datasets from shards, each of which contains some of the features:
    protobuf's merge of those with the same name or path. Everything is serialized messages.

    The only version is 0. If nothing was added, Get() returns a list with one empty dataset or,
    with include_empty_placeholder=False, with none."""

    def __init__(self, target_version: int = 0, include_empty_placeholder: bool = True) -> None:
        self._target_version = target_version
        self._has_placeholder = include_empty_placeholder
        self._datasets: dict[str, _Dataset] = {}

    def MergeDatasetFeatureStatistics(self, shard: bytes) -> None:
        """Adds a DatasetFeatureStatistics. RuntimeError for other bytes, and for shards of a
        dataset, or of a pair of features, with different numbers of examples."""
        message = statistics_pb2.DatasetFeatureStatistics()
        try:
            message.ParseFromString(shard.encode() if isinstance(shard, str) else shard)
        except DecodeError as error:
            raise RuntimeError("failed to deserialize DatasetFeatureStatistics") from error
        self._datasets.setdefault(message.name, _Dataset()).add(message)

    def Get(self) -> bytes:
        """Returns a DatasetFeatureStatisticsList. RuntimeError for another version."""
        if self._target_version != 0:
            raise RuntimeError("UNIMPLEMENTED: Version > 0 unsupported.")
        merged = statistics_pb2.DatasetFeatureStatisticsList()
        merged.datasets.extend(dataset.message for dataset in self._datasets.values())
        if not merged.datasets and self._has_placeholder:
            merged.datasets.add()
        return bytes(merged.SerializeToString())


class _Dataset:
    """The parts of one dataset."""

    def __init__(self) -> None:
        self.message = statistics_pb2.DatasetFeatureStatistics()
        self._places: dict[tuple[Any, ...], Any] = {}

    def add(self, shard: Any) -> None:
        for field in ("num_examples", "weighted_num_examples"):
            _check_same(self.message, shard, field, "DatasetFeatureStatistics have")
        features, crosses = list(shard.features), list(shard.cross_features)
        for feature in features:
            of_feature = (feature.WhichOneof("field_id"), feature.name, tuple(feature.path.step))
            self._merge(of_feature, feature, self.message.features)
        for cross in crosses:
            of_cross = (tuple(cross.path_x.step), tuple(cross.path_y.step))
            self._merge(of_cross, cross, self.message.cross_features)
        shard.ClearField("features")
        shard.ClearField("cross_features")
        self.message.MergeFrom(shard)

    def _merge(self, key: tuple[Any, ...], part: Any, parts: Any) -> None:
        """Merges it into the part with the same key; otherwise it becomes a part of its own."""
        if key not in self._places:
            self._places[key] = parts.add()
        elif hasattr(part, "path_x"):
            _check_same(self._places[key], part, "count", "CrossFeatureStatistics shards with")
        for field in ("path", "path_x", "path_y"):  # whose steps would come twice
            if field in part.DESCRIPTOR.fields_by_name:
                self._places[key].ClearField(field)
        self._places[key].MergeFrom(part)


def _check_same(into: Any, shard: Any, field: str, before: str) -> None:
    """Checks that a number is the same in both, if both have it."""
    ours, theirs = getattr(into, field), getattr(shard, field)
    if ours and theirs and ours != theirs:
        raise RuntimeError(f"INVALID_ARGUMENT: {before} different {field}")
