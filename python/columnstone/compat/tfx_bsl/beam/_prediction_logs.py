"""PredictionLog messages, one for each example, from the outputs of a model for a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import classification_pb2, prediction_log_pb2, regression_pb2

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Outputs = Mapping[str, npt.NDArray[Any]]

_CLASSES = tf.saved_model.CLASSIFY_OUTPUT_CLASSES
_SCORES = tf.saved_model.CLASSIFY_OUTPUT_SCORES
_VALUES = tf.saved_model.REGRESS_OUTPUTS
OF_CLASSES = (_CLASSES, _SCORES)
OF_REGRESSION = (_VALUES,)


def predictions(
    serialized_examples: Sequence[bytes], signature: str, alias: str, outputs: Outputs
) -> list[Any]:
    """Logs with the example as the tensor `alias` of the request, and a row of each output, as a
    batch of one, in the response. Raises ValueError for an output without a row for each
    example."""
    for name, output in outputs.items():
        if output.ndim < 1 or output.shape[0] != len(serialized_examples):
            raise ValueError(
                f"Expected output tensor {name} to have at least one dimension, with the first "
                f"having a size equal to the input batch size {len(serialized_examples)}. "
                f"Instead found {output.shape}"
            )
    made = []
    for i, example in enumerate(serialized_examples):
        rows = {name: output[i : i + 1] for name, output in outputs.items()}
        log = prediction(example, alias, rows)
        log.predict_log.request.model_spec.signature_name = signature
        log.predict_log.response.model_spec.signature_name = signature
        made.append(log)
    return made


def prediction(example: bytes, alias: str, rows: Outputs) -> Any:
    """A log of one example, with these tensors as the response."""
    log = prediction_log_pb2.PredictionLog()
    asked = log.predict_log.request.inputs[alias]
    asked.dtype = tf.string.as_datatype_enum
    asked.tensor_shape.dim.add().size = 1
    asked.string_val.append(example)
    for name, row in rows.items():
        tensor = tf.make_tensor_proto(row, dtype=tf.as_dtype(row.dtype), shape=row.shape)
        log.predict_log.response.outputs[name].CopyFrom(tensor)
    return log


def classification(serialized_examples: Sequence[bytes], outputs: Outputs) -> list[Any]:
    """Logs with the labels and scores of each example's classes. Raises ValueError for other
    outputs."""
    made = []
    for example, found in zip(
        serialized_examples, _classifications(len(serialized_examples), outputs), strict=True
    ):
        log = prediction_log_pb2.PredictionLog()
        log.classify_log.request.input.example_list.examples.add().ParseFromString(example)
        log.classify_log.response.result.classifications.append(found)
        made.append(log)
    return made


def regression(serialized_examples: Sequence[bytes], outputs: Outputs) -> list[Any]:
    """Logs with the value of each example. Raises ValueError for other outputs."""
    made = []
    for example, found in zip(
        serialized_examples, _regressions(len(serialized_examples), outputs), strict=True
    ):
        log = prediction_log_pb2.PredictionLog()
        log.regress_log.request.input.example_list.examples.add().ParseFromString(example)
        log.regress_log.response.result.regressions.append(found)
        made.append(log)
    return made


def multi_inference(
    serialized_examples: Sequence[bytes], heads: Sequence[tuple[str, bool, Outputs]]
) -> list[Any]:
    """Logs with the result of each head: the name of the signature, whether it has classes
    (otherwise regression values), and its outputs."""
    made = [prediction_log_pb2.PredictionLog() for _ in serialized_examples]
    for example, log in zip(serialized_examples, made, strict=True):
        request = log.multi_inference_log.request
        request.input.example_list.examples.add().ParseFromString(example)
    for name, has_classes, outputs in heads:
        found = (_classifications if has_classes else _regressions)(len(made), outputs)
        for log, one in zip(made, found, strict=True):
            result = log.multi_inference_log.response.results.add()
            result.model_spec.signature_name = name
            if has_classes:
                result.classification_result.classifications.append(one)
            else:
                result.regression_result.regressions.append(one)
    return made


def _classifications(num_examples: int, outputs: Outputs) -> list[Any]:
    labels, scores = outputs.get(_CLASSES), outputs.get(_SCORES)
    for output, dtype in ((labels, tf.string), (scores, tf.float32)):
        if output is None:
            continue
        if output.ndim != 2:
            raise ValueError(
                f"Expected Tensor shape: [batch_size num_classes] but got {output.shape}"
            )
        if output.dtype != dtype.as_numpy_dtype:
            raise ValueError(f"Expected classes Tensor of {dtype.name}. Got: {output.dtype}")
        if output.shape[0] != num_examples:
            raise ValueError(
                f"Expected classes output batch size of {num_examples}, got {output.shape[0]}"
            )
    if labels is not None and scores is not None and labels.shape != scores.shape:
        raise ValueError(
            "Tensors class and score should match in shape[1]. "
            f"Got {labels.shape[1]} vs {scores.shape[1]}"
        )
    made = [classification_pb2.Classifications() for _ in range(num_examples)]
    for i, found in enumerate(made):
        for j in range(next(one.shape[1] for one in (labels, scores) if one is not None)):
            label = None if labels is None else labels[i, j]
            found.classes.add(label=label, score=None if scores is None else scores[i, j])
    return made


def _regressions(num_examples: int, outputs: Outputs) -> list[Any]:
    values = outputs[_VALUES]
    if values.shape not in ((num_examples,), (num_examples, 1)):
        raise ValueError(
            f"Expected output Tensor shape to be either [{num_examples}] or [{num_examples}, 1] "
            f"but got {values.shape}"
        )
    if values.dtype != np.float32:
        raise ValueError(f"Expected output Tensor of float32. Got: {values.dtype}")
    return [regression_pb2.Regression(value=value) for value in values.ravel()]
