"""KmvSketch and the merging of statistics give what tfx_bsl gives."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from columnstone.compat.tfx_bsl import sketches, statistics
from columnstone.compat.tfx_bsl.telemetry import util
from conftest import real
from tensorflow_metadata.proto.v0 import statistics_pb2


@pytest.mark.parametrize("buckets", [4, 64])
def test_kmv_estimates_and_bytes(buckets: int) -> None:
    values = pa.array([f"value {i % 50}" for i in range(200)])
    theirs = real("tfx_bsl.sketches").KmvSketch(buckets)
    theirs.AddValues(values)
    ours = sketches.KmvSketch(buckets)
    ours.AddValues(values)
    assert ours.Estimate() == theirs.Estimate()
    assert ours.Serialize() == theirs.Serialize()
    assert pickle.loads(pickle.dumps(ours)).Estimate() == theirs.Estimate()
    assert sketches.KmvSketch.Deserialize(theirs.Serialize()).Estimate() == theirs.Estimate()


def test_statistics_of_shards() -> None:
    ours = statistics.DatasetListAccumulator()
    theirs = real("tfx_bsl.statistics").DatasetListAccumulator()
    for step in ("x", "y", "x"):
        shard = statistics_pb2.DatasetFeatureStatistics(num_examples=3)
        feature = shard.features.add()
        feature.path.step.append(step)
        feature.num_stats.histograms.add(num_nan=1)
        for merging in (ours, theirs):
            merging.MergeDatasetFeatureStatistics(shard.SerializeToString())
    kind = statistics_pb2.DatasetFeatureStatisticsList
    assert kind.FromString(ours.Get()) == kind.FromString(theirs.Get())


def test_statistics_of_nothing() -> None:
    for given in ((), (0, True), (0, False)):
        theirs = real("tfx_bsl.statistics").DatasetListAccumulator(*given)
        assert statistics.DatasetListAccumulator(*given).Get() == theirs.Get()
    for module in (statistics, real("tfx_bsl.statistics")):
        for version in (-1, 1):
            with pytest.raises(RuntimeError, match="UNIMPLEMENTED"):
                module.DatasetListAccumulator(target_version=version).Get()


def test_namespaces() -> None:
    theirs = real("tfx_bsl.telemetry.util")
    for words in ([], ["a"], ["a", "b"]):
        assert util.MakeTfxNamespace(words) == theirs.MakeTfxNamespace(words)
