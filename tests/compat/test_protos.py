"""Messages of specifications: tfx_bsl's own and ours are the same to protobuf."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
from typing import Any

import pytest
from conftest import real

FILES = {
    "model_spec_pb2": [
        "InferenceSpecType",
        "SavedModelSpec",
        "AIPlatformPredictionModelSpec",
        "BatchParameters",
    ],
    "slicing_spec_pb2": ["SlicingSpec", "SlicingConfig"],
}
OURS = "columnstone.compat.tfx_bsl.public.proto."
THEIRS = "tfx_bsl.public.proto."


def module(name: str) -> Any:
    return importlib.import_module(OURS + name)


def filled() -> list[Any]:
    model, slicing = module("model_spec_pb2"), module("slicing_spec_pb2")
    return [
        model.InferenceSpecType(
            saved_model_spec=model.SavedModelSpec(
                model_path="/m", signature_name=["a", "b"], tag=["serve"]
            ),
            batch_parameters=model.BatchParameters(
                min_batch_size=1,
                max_batch_size=1 << 40,
                target_batch_overhead=0.5,
                target_batch_duration_secs=2.0,
                variance=0.25,
            ),
        ),
        model.InferenceSpecType(
            ai_platform_prediction_model_spec=model.AIPlatformPredictionModelSpec(
                project_id="p", model_name="m", version_name="v", use_serialization_config=False
            )
        ),
        slicing.SlicingConfig(
            slicing_specs=[
                slicing.SlicingSpec(feature_keys=["x"], feature_values={"y": "1", "z": "2"}),
                slicing.SlicingSpec(slice_keys_sql="SELECT x"),
            ]
        ),
    ]


@pytest.mark.parametrize("name", FILES)
def test_descriptors(name: str) -> None:
    ours, theirs = module(name), real(THEIRS + name)
    assert ours.DESCRIPTOR.serialized_pb == theirs.DESCRIPTOR.serialized_pb
    assert list(ours.DESCRIPTOR.message_types_by_name) == FILES[name]
    for kind in FILES[name]:
        assert (
            getattr(ours, kind).DESCRIPTOR.full_name == getattr(theirs, kind).DESCRIPTOR.full_name
        )


@pytest.mark.parametrize("place", range(3))
def test_bytes_and_pickles(place: int) -> None:
    message = filled()[place]
    name = "slicing_spec_pb2" if place == 2 else "model_spec_pb2"
    theirs = getattr(real(THEIRS + name), type(message).__name__)
    written = message.SerializeToString(deterministic=True)
    assert theirs.FromString(written).SerializeToString(deterministic=True) == written
    assert pickle.loads(pickle.dumps(message)) == message
    assert type(message).FromString(written) == message


def test_oneofs() -> None:
    local, remote, _ = filled()
    assert local.WhichOneof("type") == "saved_model_spec"
    assert remote.WhichOneof("type") == "ai_platform_prediction_model_spec"
    spec = remote.ai_platform_prediction_model_spec
    assert spec.WhichOneof("example_config") == "use_serialization_config"


@pytest.mark.parametrize("order", [(OURS, THEIRS), (THEIRS, OURS), (OURS,)])
def test_both_in_either_order(order: tuple[str, ...]) -> None:
    program = f"""
import importlib, pickle
for file, names in {FILES!r}.items():
    modules = [importlib.import_module(package + file) for package in {order!r}]
    for name in names:
        kinds = [getattr(module, name) for module in modules]
        message = kinds[-1]()
        print(len(set(kinds)), type(pickle.loads(pickle.dumps(message))) is kinds[0])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 True\n" * 6


def test_a_file_of_another_version_is_taken_as_it_is() -> None:
    program = f"""
from google.protobuf import descriptor_pb2, descriptor_pool
file = descriptor_pb2.FileDescriptorProto(
    name="tfx_bsl/public/proto/slicing_spec.proto", package="tfx_bsl.slicing_spec", syntax="proto3"
)
file.message_type.add(name="SlicingSpec")
file.message_type.add(name="SlicingConfig")
descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
from {OURS}slicing_spec_pb2 import SlicingConfig
print(list(SlicingConfig.DESCRIPTOR.fields))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"
