"""tfx_bsl.public.proto.model_spec_pb2: the location of a model for inference, and its options."""

from __future__ import annotations

from typing import Any

from ._messages import register

DESCRIPTOR: Any
InferenceSpecType: Any
SavedModelSpec: Any
AIPlatformPredictionModelSpec: Any
BatchParameters: Any

register(
    "tfx_bsl/public/proto/model_spec.proto",
    "tfx_bsl.model_spec",
    {
        "InferenceSpecType": [
            "1 saved_model_spec SavedModelSpec in type",
            "2 ai_platform_prediction_model_spec AIPlatformPredictionModelSpec in type",
            "3 batch_parameters BatchParameters",
        ],
        "SavedModelSpec": [
            "1 model_path string",
            "2 signature_name string repeated",
            "3 tag string repeated",
        ],
        "AIPlatformPredictionModelSpec": [
            "1 project_id string",
            "2 model_name string",
            "3 version_name string",
            "4 use_serialization_config bool in example_config",
        ],
        "BatchParameters": [
            "1 min_batch_size int64",
            "2 max_batch_size int64",
            "3 target_batch_overhead double",
            "4 target_batch_duration_secs double",
            "5 variance double",
        ],
    },
    globals(),
)
