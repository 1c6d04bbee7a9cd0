"""The common part of the handlers for saved and remote models."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

from apache_beam.ml.inference import base

from ..telemetry import util

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def serialized(example: Any) -> bytes:
    """The bytes of a message; bytes unchanged."""
    return example if isinstance(example, bytes) else bytes(example.SerializeToString())


class ExampleHandler(base.ModelHandler, abc.ABC):
    """Turns examples, messages or their bytes into one PredictionLog each."""

    def __init__(self, inference_spec_type: Any, operation: str, place: str) -> None:
        super().__init__()
        self._metrics_namespace = util.MakeTfxNamespace(["BulkInferrer", operation, place])
        parameters = inference_spec_type.batch_parameters.ListFields()
        self._batch_parameters = {field.name: value for field, value in parameters}

    @abc.abstractmethod
    def _predict(
        self, examples: Sequence[Any], serialized_examples: list[bytes], model: Any
    ) -> list[Any]:
        """The PredictionLogs. Raises an error for examples of a type that the model does not
        support."""

    def run_inference(
        self, examples: Sequence[Any], model: Any, inference_args: dict[str, Any] | None = None
    ) -> list[Any]:
        return self._predict(examples, [serialized(example) for example in examples], model)

    def get_num_bytes(self, examples: Sequence[Any]) -> int:
        return sum(len(serialized(example)) for example in examples)

    def get_metrics_namespace(self) -> str:
        return self._metrics_namespace

    def batch_elements_kwargs(self) -> Mapping[str, Any]:
        return self._batch_parameters
