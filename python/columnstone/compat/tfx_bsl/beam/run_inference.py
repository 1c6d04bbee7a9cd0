"""tfx_bsl.beam.run_inference: predictions of TensorFlow's saved models in Beam pipelines.

TensorFlow runs the models, and Beam makes the batches (apache_beam.ml.inference).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import apache_beam as beam
import tensorflow as tf
from apache_beam import typehints as hints
from apache_beam.ml.inference import base
from apache_beam.options.pipeline_options import GoogleCloudOptions
from apache_beam.transforms import resources
from tensorflow_serving.apis import prediction_log_pb2

from ._keyed_batches import KeyedBatches
from ._remote_model import RemoteModelHandler
from ._saved_model import SavedModelHandler

InputType = tf.train.Example | tf.train.SequenceExample | bytes
LoadOverrideFnType = Callable[[str, Sequence[str]], Any]
_Log = prediction_log_pb2.PredictionLog
_Key = hints.TypeVariable("Key")
EXAMPLE_HINT = hints.Union[tf.train.Example, tf.train.SequenceExample, bytes]
_Input = hints.Union[
    EXAMPLE_HINT, hints.Tuple[_Key, EXAMPLE_HINT], hints.Tuple[_Key, hints.List[EXAMPLE_HINT]]
]

_UNKNOWN_MODEL_SIZE = 1 << 30
_NUM_MODEL_LOADS = 100  # about one for each worker: it says that they are many


def create_model_handler(
    inference_spec_type: Any,
    load_override_fn: LoadOverrideFnType | None,
    options_project_id: str | None,
) -> base.ModelHandler:
    """The handler for apache_beam.ml.inference.base.RunInference that calls the model of an
    InferenceSpecType.

    `load_override_fn(path, tags)` returns the tf.compat.v1.Session of a saved model (or an object
    with its run()) instead of loading it. The project is for a remote model whose specification has
    none. Raises OSError, RuntimeError or ValueError for a saved model that cannot be used.
    """
    if _is_saved_model(inference_spec_type):
        return SavedModelHandler(inference_spec_type, load_override_fn)
    return RemoteModelHandler(inference_spec_type, options_project_id)


@hints.with_input_types(_Input)
class RunInferenceImpl(beam.PTransform):
    """Implements RunInference and RunInferenceOnKeyedBatches of public.beam."""

    def __init__(
        self, inference_spec_type: Any, load_override_fn: LoadOverrideFnType | None = None
    ) -> None:
        super().__init__()
        self._inference_spec_type = inference_spec_type
        self._load_override_fn = load_override_fn

    @staticmethod
    def _model_size_bytes(path: str) -> int:
        """The size of the model's files in bytes, 1 GiB if they cannot be accessed from here."""

        def size(file: str) -> int:
            return max(int(tf.io.gfile.stat(file).length), 0)

        try:
            walk = tf.io.gfile.walk(path)
            files = [os.path.join(folder, name) for folder, _, names in walk for name in names]
            with ThreadPoolExecutor() as threads:
                return sum(threads.map(size, files)) or _UNKNOWN_MODEL_SIZE
        except OSError:
            return _UNKNOWN_MODEL_SIZE

    def infer_output_type(self, input_type: Any) -> Any:
        """The type of the PCollection of predictions for a PCollection of this type."""
        key_type, value_type = _key_and_value(input_type)
        return _with_key(key_type, _result_type(value_type))

    def expand(self, examples: Any) -> Any:
        output_type = self.infer_output_type(examples.element_type)
        handler = create_model_handler(
            self._inference_spec_type,
            self._load_override_fn,
            examples.pipeline.options.view_as(GoogleCloudOptions).project,
        )
        inference = base.RunInference(KeyedBatches(handler)).with_output_types(output_type)
        return _close_to(examples, [self._inference_spec_type]) | "BulkInference" >> inference


@hints.with_input_types(_Input)
class RunInferencePerModelImpl(beam.PTransform):
    """Implements RunInferencePerModel and RunInferencePerModelOnKeyedBatches of public.beam."""

    def __init__(
        self,
        inference_spec_types: Iterable[Any],
        load_override_fn: LoadOverrideFnType | None = None,
    ) -> None:
        super().__init__()
        self._inference_spec_types = tuple(inference_spec_types)
        self._load_override_fn = load_override_fn

    def infer_output_type(self, input_type: Any) -> Any:
        """The type of the tuples of predictions for a PCollection of this type."""
        key_type, value_type = _key_and_value(input_type)
        results = (_result_type(value_type),) * len(self._inference_spec_types)
        return _with_key(key_type, hints.Tuple[results])

    def expand(self, examples: Any) -> Any:
        output_type = self.infer_output_type(examples.element_type)
        _, value_type = _key_and_value(examples.element_type)
        # ((element, the predictions so far), examples of the element)
        asked_type = hints.Tuple[hints.Tuple[examples.element_type, Any], value_type]
        asked = _close_to(examples, self._inference_spec_types) | "PairWithInput" >> beam.Map(
            lambda x: ((x, ()), _value(x))
        ).with_output_types(asked_type)
        for i, spec in enumerate(self._inference_spec_types):
            asked = (
                asked
                | f"Model[{i}]" >> RunInferenceImpl(spec, self._load_override_fn)
                | f"ExtendResults[{i}]" >> beam.Map(_with_result).with_output_types(asked_type)
            )
        return asked | "ExtractResults" >> beam.Map(_extract).with_output_types(output_type)


def _with_result(answer: Any) -> Any:
    (element, results), result = answer
    return (element, (*results, result)), _value(element)


def _extract(asked: Any) -> Any:
    (element, results), _ = asked
    return (element[0], results) if isinstance(element, tuple) else results


def _value(element: Any) -> Any:
    return element[1] if isinstance(element, tuple) else element


def _key_and_value(input_type: Any) -> tuple[Any, Any]:
    """The types of the keys, or None if there are none, and of the examples."""
    pair = getattr(input_type, "tuple_types", None)
    return (pair[0], pair[1]) if pair is not None and len(pair) == 2 else (None, input_type)


def _with_key(key_type: Any, result_type: Any) -> Any:
    return result_type if key_type is None else hints.Tuple[key_type, result_type]


def _result_type(value_type: Any) -> Any:
    if value_type == hints.Any:  # may be anything that is taken, with or without a key
        return value_type
    inner = getattr(value_type, "inner_type", None)
    is_list = inner is not None and value_type == hints.List[inner]
    return hints.List[_Log] if is_list else _Log


def _is_saved_model(spec: Any) -> bool:
    return bool(spec.WhichOneof("type") == "saved_model_spec")


def _close_to(examples: Any, specs: Iterable[Any]) -> Any:
    """The examples, with a hint for runners that support it: the location of the models, and the
    number of bytes that are moved from there."""
    if not resources.ResourceHint.is_registered("close_to_resources"):
        return examples
    paths = [spec.saved_model_spec.model_path if _is_saved_model(spec) else "" for spec in specs]
    hint = ",".join(
        path and f"{path}[{RunInferenceImpl._model_size_bytes(path) * _NUM_MODEL_LOADS}]"
        for path in paths
    )
    same = beam.Map(lambda x: x).with_resource_hints(close_to_resources=hint)
    return examples | "CloseToResources" >> same.with_output_types(examples.element_type)
