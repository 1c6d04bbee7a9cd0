"""What data looks like: features, the tensors they become, differences and findings, and the
types of messages."""

from __future__ import annotations

from ._message.descriptors import Descriptors, MessageGuess
from ._schema.diff import SchemaChange
from ._schema.spec import (
    Feature,
    FixedLen,
    Ragged,
    RowLengths,
    Sparse,
    Structured,
    TensorRepresentation,
    UniformRowLength,
    VarLen,
)
from ._schema.validate import Anomaly, AnomalyPlace, SchemaCheck

__all__ = [
    "Anomaly",
    "AnomalyPlace",
    "Descriptors",
    "Feature",
    "FixedLen",
    "MessageGuess",
    "Ragged",
    "RowLengths",
    "SchemaChange",
    "SchemaCheck",
    "Sparse",
    "Structured",
    "TensorRepresentation",
    "UniformRowLength",
    "VarLen",
]
