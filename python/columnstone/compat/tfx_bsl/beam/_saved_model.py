"""Predictions of a saved model that is loaded into the process."""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

# Not public, but no public function reads signatures without loading the model.
from tensorflow.python.saved_model.loader_impl import parse_saved_model

from . import _prediction_logs as logs
from ._model_handler import ExampleHandler

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_OPERATIONS = {
    tf.saved_model.CLASSIFY_METHOD_NAME: "CLASSIFICATION",
    tf.saved_model.REGRESS_METHOD_NAME: "REGRESSION",
    tf.saved_model.PREDICT_METHOD_NAME: "PREDICTION",
}
_SEVERAL = "MULTI_INFERENCE"
_WITH_OPS = ("tensorflow_text", "tensorflow_decision_forests", "struct2tensor")


class Signature(NamedTuple):
    """A signature for calling the model: the input tensor for the examples, and the output tensors,
    by their names in the signature."""

    name: str
    operation: str
    input_alias: str
    input_tensor: str
    outputs: dict[str, str]


class SavedModelHandler(ExampleHandler):
    """Calls a saved model with one signature, or with several that classify or regress."""

    def __init__(
        self,
        inference_spec_type: Any,
        load_override_fn: Callable[[str, Sequence[str]], Any] | None,
    ) -> None:
        spec = inference_spec_type.saved_model_spec
        if not spec.model_path:
            raise ValueError("Model path is not valid: it is empty.")
        self._path = spec.model_path
        self._tags = list(spec.tag) or [tf.saved_model.SERVING]
        names = list(spec.signature_name) or [tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
        self._signatures = _signatures(self._path, self._tags, names)
        if set(self._tags) == {tf.saved_model.SERVING, tf.saved_model.TPU}:
            raise NotImplementedError("Models for TPUs are not supported.")
        self._operation = _SEVERAL if len(names) > 1 else self._signatures[0].operation
        self._load_override_fn = load_override_fn
        super().__init__(inference_spec_type, self._operation, "InProcess")

    def load_model(self) -> Any:
        if self._load_override_fn:
            return self._load_override_fn(self._path, self._tags)
        for name in _WITH_OPS:  # of which the model may have some, if they are installed
            try:
                importlib.import_module(name)
            except (ImportError, tf.errors.NotFoundError):
                logging.info("%s is not available.", name)
        session = tf.compat.v1.Session(graph=tf.compat.v1.Graph())
        tf.compat.v1.saved_model.loader.load(session, self._tags, self._path)
        return session

    def _predict(
        self, examples: Sequence[Any], serialized_examples: list[bytes], model: Any
    ) -> list[Any]:
        first = self._signatures[0]
        feed = {first.input_tensor: serialized_examples}
        if self._operation == "PREDICTION":
            outputs = model.run(first.outputs, feed_dict=feed)
            return logs.predictions(serialized_examples, first.name, first.input_alias, outputs)
        if not all(isinstance(example, (tf.train.Example, bytes)) for example in examples):
            raise ValueError(
                "A model that classifies or regresses takes only tf.train.Example, as a message or "
                "serialized."
            )
        if self._operation != _SEVERAL:
            outputs = model.run(first.outputs, feed_dict=feed)
            one_of_many = logs.classification if self._has_classes(0) else logs.regression
            return one_of_many(serialized_examples, outputs)
        heads = model.run([signature.outputs for signature in self._signatures], feed_dict=feed)
        return logs.multi_inference(
            serialized_examples,
            [
                (signature.name, self._has_classes(i), outputs)
                for i, (signature, outputs) in enumerate(zip(self._signatures, heads, strict=True))
            ],
        )

    def _has_classes(self, place: int) -> bool:
        return self._signatures[place].operation == "CLASSIFICATION"


def _signatures(path: str, tags: list[str], names: list[str]) -> list[Signature]:
    """The signatures with these names; OSError, RuntimeError or ValueError if they do not exist or
    cannot be used."""
    graphs = parse_saved_model(path).meta_graphs
    graph = next((graph for graph in graphs if set(graph.meta_info_def.tags) == set(tags)), None)
    if graph is None:
        raise RuntimeError(f"A MetaGraphDef with tags {tags} could not be found in SavedModel")
    found = []
    for name in names:
        if name not in graph.signature_def:
            raise RuntimeError(f"Signature {name} could not be found in SavedModel")
        found.append(_signature(name, graph.signature_def[name]))
    if len(found) > 1 and any(one.operation == "PREDICTION" for one in found):
        raise ValueError(
            "Unsupported signature method_name for multi-head model inference: "
            f"{tf.saved_model.PREDICT_METHOD_NAME}"
        )
    if len({one.input_tensor for one in found}) > 1:
        raise ValueError("Input tensor must be the same for all Signatures.")
    return found


def _signature(name: str, definition: Any) -> Signature:
    operation = _OPERATIONS.get(definition.method_name)
    if operation is None:
        raise ValueError(f"Unsupported signature method_name {definition.method_name}")
    if len(definition.inputs) != 1:
        raise ValueError("Signature should have 1 and only 1 inputs")
    [(alias, tensor)] = definition.inputs.items()
    if tensor.dtype != tf.string.as_datatype_enum:
        raise ValueError(
            f"Input dtype is expected to be {tf.string.as_datatype_enum}, got {tensor.dtype}"
        )
    outputs = {key: output.name for key, output in definition.outputs.items()}
    if operation == "CLASSIFICATION":
        _check_names(alias, tf.saved_model.CLASSIFY_INPUTS, outputs, logs.OF_CLASSES)
    elif operation == "REGRESSION":
        _check_names(alias, tf.saved_model.REGRESS_INPUTS, outputs, logs.OF_REGRESSION)
    elif not outputs:
        raise ValueError("No valid fetch tensors: the signature has no outputs.")
    return Signature(name, operation, alias, tensor.name, outputs)


def _check_names(
    alias: str, expected: str, outputs: dict[str, str], known: tuple[str, ...]
) -> None:
    """Removes outputs that do not belong to this method, and raises ValueError if none is left."""
    if alias != expected:
        raise ValueError(f"The signature's input is named {alias}, and should be {expected}.")
    if not 1 <= len(outputs) <= len(known):
        raise ValueError(
            f"The signature has {len(outputs)} outputs; it can have {', '.join(known)}"
        )
    for name in outputs.keys() - set(known):
        del outputs[name]
    if not outputs:
        raise ValueError(f"The signature's outputs should have at least one of {', '.join(known)}")
