"""tfx_bsl.tfxio.telemetry_test_util: helpers for tests of metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apache_beam.metrics.metric import MetricsFilter

from ..telemetry import util

if TYPE_CHECKING:
    import unittest
    from collections.abc import Sequence

    from apache_beam.runners.runner import PipelineResult


def ValidateMetrics(
    test: unittest.TestCase,
    pipeline_result: PipelineResult,
    telemetry_descriptors: Sequence[str],
    logical_format: str,
    physical_format: str,
) -> None:
    """Fails the test unless the pipeline has counters and distributions in the namespace of these
    descriptors, all with the names of these formats."""
    namespace = util.MakeTfxNamespace([*telemetry_descriptors, "io"])
    found = pipeline_result.metrics().query(MetricsFilter().with_namespace(namespace))
    begin = f"LogicalFormat[{logical_format}]-PhysicalFormat[{physical_format}]-"
    for kind in ("counters", "distributions"):
        test.assertTrue(found[kind], f"there are no {kind}")
        for metric in found[kind]:
            name = metric.key.metric.name
            test.assertTrue(name.startswith(begin), name)
