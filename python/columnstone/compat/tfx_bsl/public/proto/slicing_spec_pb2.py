"""tfx_bsl.public.proto.slicing_spec_pb2: the definition of a slice of a dataset."""

from __future__ import annotations

from typing import Any

from ._messages import register

DESCRIPTOR: Any
SlicingSpec: Any
SlicingConfig: Any

register(
    "tfx_bsl/public/proto/slicing_spec.proto",
    "tfx_bsl.slicing_spec",
    {
        "SlicingSpec": [
            "1 feature_keys string repeated",
            "2 feature_values map",
            "3 slice_keys_sql string",
        ],
        "SlicingConfig": ["1 slicing_specs SlicingSpec repeated"],
    },
    globals(),
)
