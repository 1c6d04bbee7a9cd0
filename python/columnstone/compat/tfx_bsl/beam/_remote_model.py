"""Predictions of a model on AI Platform Prediction.

Google has ended that service. This module speaks its protocol (projects.predict of ml v1), for
pipelines that use it, and for replacements of the service. Needs googleapiclient.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
from apache_beam.utils import retry

from ._model_handler import ExampleHandler
from ._prediction_logs import prediction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NUM_RETRIES = 5


class RemoteModelHandler(ExampleHandler):
    """Sends examples as JSON: their features by name, or with use_serialization_config their bytes
    in base64. Values of features whose names end in _bytes are sent in base64, other bytes as
    text."""

    def __init__(self, inference_spec_type: Any, pipeline_options_project_id: str | None) -> None:
        super().__init__(inference_spec_type, "PREDICTION", "CloudAIPlatformPrediction")
        spec = inference_spec_type.ai_platform_prediction_model_spec
        project = spec.project_id or pipeline_options_project_id
        if not project:
            raise ValueError(
                "Either a non-empty project id or project flag in beam pipeline options needs be "
                "provided."
            )
        if not spec.model_name:
            raise ValueError("A non-empty model name must be provided.")
        self._name = f"projects/{project}/models/{spec.model_name}"
        if spec.version_name:
            self._name += f"/versions/{spec.version_name}"
        self._sends_bytes = spec.use_serialization_config
        self._client: Any = None

    def load_model(self) -> None:
        """Connects. Returns None, so that Beam calls it for each handler: a client is for one
        thread."""
        from googleapiclient import discovery

        self._client = discovery.build("ml", "v1")

    def _predict(
        self, examples: Sequence[Any], serialized_examples: list[bytes], model: Any
    ) -> list[Any]:
        kinds = (
            (tf.train.Example, tf.train.SequenceExample, bytes)
            if self._sends_bytes
            else tf.train.Example
        )
        if not all(isinstance(example, kinds) for example in examples):
            raise NotImplementedError(
                "Remote models take tf.train.Example; with use_serialization_config also "
                "tf.train.SequenceExample and bytes."
            )
        if self._client is None:
            raise ValueError("There is no client: load_model() was not called.")
        body = {"instances": self._make_instances(examples, serialized_examples)}
        found = _answer(self._client.projects().predict(name=self._name, body=body))["predictions"]
        if len(found) != len(examples):
            raise ValueError(f"{len(examples)} examples have {len(found)} predictions.")
        return [
            prediction(
                example,
                tf.saved_model.PREDICT_INPUTS,
                {name: np.array([values]) for name, values in outputs.items()},
            )
            for example, outputs in zip(serialized_examples, found, strict=True)
        ]

    def _make_instances(
        self, examples: Sequence[Any], serialized_examples: Sequence[bytes]
    ) -> list[dict[str, Any]]:
        if self._sends_bytes:
            return [_base64(example) for example in serialized_examples]
        return [
            {
                name: _json(name, feature)
                for name, feature in example.features.feature.items()
                if feature.WhichOneof("kind") is not None
            }
            for example in examples
        ]


def _json(name: str, feature: Any) -> Any:
    """The values of a feature; a single value is not in a list."""
    kind = feature.WhichOneof("kind")
    values = list(getattr(feature, kind).value)
    if name.endswith("_bytes"):
        values = [_base64(value) for value in values]
    elif kind == "bytes_list":
        values = [value.decode() for value in values]
    return values[0] if len(values) == 1 else values


def _base64(value: bytes) -> dict[str, str]:
    return {"b64": base64.b64encode(value).decode()}


def _may_come_later(error: Exception) -> bool:
    from googleapiclient import errors

    return isinstance(error, errors.HttpError) and error.resp.status in (429, 503)


@retry.with_exponential_backoff(
    initial_delay_secs=1.0, num_retries=_NUM_RETRIES, retry_filter=_may_come_later
)
def _answer(request: Any) -> Mapping[str, Any]:
    """The answer of the service. Raises ValueError if it contains an error."""
    answer: Mapping[str, Any] = request.execute()
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer
