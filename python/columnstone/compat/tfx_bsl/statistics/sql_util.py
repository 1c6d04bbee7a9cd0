"""tfx_bsl.statistics.sql_util, which was gone by tfx_bsl 1.21: predicates on statistics in SQL.

tfx_bsl 1.16 has ZetaSQL for them; Columnstone has none, so that each use is refused. As with
arrow.sql_util, the module is there only with a pyarrow older than 14.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..arrow.sql_util import refuse

if TYPE_CHECKING:
    from tensorflow_metadata.proto.v0 import statistics_pb2

__all__ = ["EvaluateBinaryStatsPredicate", "EvaluateUnaryStatsPredicate"]

_WHAT, _INSTEAD = "predicates in SQL", "compare the statistics in Python"


def EvaluateUnaryStatsPredicate(feature: statistics_pb2.FeatureNameStatistics, query: str) -> bool:
    """Whether a predicate in ZetaSQL holds. RuntimeError: there is no ZetaSQL here."""
    return refuse(_WHAT, _INSTEAD)


def EvaluateBinaryStatsPredicate(
    feature_base: statistics_pb2.FeatureNameStatistics,
    feature_test: statistics_pb2.FeatureNameStatistics,
    query: str,
) -> bool:
    """Whether a predicate on two features in ZetaSQL holds. RuntimeError: there is none here."""
    return refuse(_WHAT, _INSTEAD)
