"""tfx_bsl.statistics.sql_util, which tfx_bsl 1.21 no longer has: predicates on statistics in SQL.

tfx_bsl 1.16 uses ZetaSQL for them. Columnstone does not have it, so that each use fails. Like
arrow.sql_util, the module exists only with pyarrow before version 14.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..arrow.sql_util import refuse

if TYPE_CHECKING:
    from tensorflow_metadata.proto.v0 import statistics_pb2

__all__ = ["EvaluateBinaryStatsPredicate", "EvaluateUnaryStatsPredicate"]

_WHAT, _INSTEAD = "predicates in SQL", "compare the statistics in Python"


def EvaluateUnaryStatsPredicate(feature: statistics_pb2.FeatureNameStatistics, query: str) -> bool:
    """Whether a ZetaSQL predicate holds. Raises RuntimeError: ZetaSQL is not available."""
    return refuse(_WHAT, _INSTEAD)


def EvaluateBinaryStatsPredicate(
    feature_base: statistics_pb2.FeatureNameStatistics,
    feature_test: statistics_pb2.FeatureNameStatistics,
    query: str,
) -> bool:
    """Whether a ZetaSQL predicate on two features holds. Raises RuntimeError: ZetaSQL is not
    available."""
    return refuse(_WHAT, _INSTEAD)
