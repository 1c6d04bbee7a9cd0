"""tfx_bsl.public.beam.run_inference: predictions of models, as transforms of Beam.

Examples are tf.train.Example, tf.train.SequenceExample or bytes. A model that predicts accepts all
of them (bytes are passed unchanged); one that classifies or regresses accepts tf.train.Example, as
a message or as bytes. The model is an InferenceSpecType of model_spec_pb2. `load_override_fn(path,
tags)` returns the tf.compat.v1.Session of a saved model instead of loading it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apache_beam as beam
from apache_beam import typehints as hints
from apache_beam.ml.inference.base import ModelHandler
from tensorflow_serving.apis import prediction_log_pb2

from ...beam import run_inference

_Key = hints.TypeVariable("Key")
_Example = run_inference.EXAMPLE_HINT
_Log = prediction_log_pb2.PredictionLog
_MaybeKeyed = hints.Union[_Example, hints.Tuple[_Key, _Example]]
_KeyedBatches = hints.Tuple[_Key, hints.List[_Example]]


@beam.ptransform_fn
@hints.with_input_types(_MaybeKeyed)
@hints.with_output_types(hints.Union[_Log, hints.Tuple[_Key, _Log]])
def RunInference(
    examples: beam.pvalue.PCollection,
    inference_spec_type: Any,
    load_override_fn: run_inference.LoadOverrideFnType | None = None,
) -> beam.pvalue.PCollection:
    """Returns a PredictionLog for each example; pairs of a key and an example become pairs of the
    key and the PredictionLog."""
    return examples | "RunInferenceImpl" >> run_inference.RunInferenceImpl(
        inference_spec_type, load_override_fn
    )


@beam.ptransform_fn
@hints.with_input_types(_MaybeKeyed)
@hints.with_output_types(
    hints.Union[hints.Tuple[_Log, ...], hints.Tuple[_Key, hints.Tuple[_Log, ...]]]
)
def RunInferencePerModel(
    examples: beam.pvalue.PCollection,
    inference_spec_types: Iterable[Any],
    load_override_fn: run_inference.LoadOverrideFnType | None = None,
) -> beam.pvalue.PCollection:
    """RunInference with several models: returns a tuple with a PredictionLog from each, in their
    order."""
    return examples | "RunInferencePerModelImpl" >> run_inference.RunInferencePerModelImpl(
        inference_spec_types, load_override_fn
    )


@beam.ptransform_fn
@hints.with_input_types(_KeyedBatches)
@hints.with_output_types(hints.Tuple[_Key, hints.List[_Log]])
def RunInferenceOnKeyedBatches(
    examples: beam.pvalue.PCollection,
    inference_spec_type: Any,
    load_override_fn: run_inference.LoadOverrideFnType | None = None,
) -> beam.pvalue.PCollection:
    """RunInference for pairs of a key and a list of examples: returns the key and the list of
    PredictionLogs."""
    return examples | "RunInferenceOnKeyedBatchesImpl" >> run_inference.RunInferenceImpl(
        inference_spec_type, load_override_fn
    )


@beam.ptransform_fn
@hints.with_input_types(_KeyedBatches)
@hints.with_output_types(hints.Tuple[_Key, hints.Tuple[hints.List[_Log], ...]])
def RunInferencePerModelOnKeyedBatches(
    examples: beam.pvalue.PCollection,
    inference_spec_types: Iterable[Any],
    load_override_fn: run_inference.LoadOverrideFnType | None = None,
) -> beam.pvalue.PCollection:
    """RunInferencePerModel for pairs of a key and a list of examples: returns the key and a tuple
    of lists of PredictionLogs, one list from each model."""
    return examples | "RunInferencePerModelOnKeyedBatchesImpl" >> (
        run_inference.RunInferencePerModelImpl(inference_spec_types, load_override_fn)
    )


def CreateModelHandler(inference_spec_type: Any) -> ModelHandler:
    """The handler of the model for apache_beam.ml.inference.base.RunInference, which can be used in
    KeyedModelHandler and similar classes."""
    return run_inference.create_model_handler(inference_spec_type, None, None)
