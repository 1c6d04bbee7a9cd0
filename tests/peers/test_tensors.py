"""Tensors: the same as tf.io.parse_example and tfx_bsl's TensorAdapter, for every kind of spec."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import pytest
import tensorflow as tf
import wire
from hypothesis import given
from support import our_tensors, plain_tf, schema_proto, tf_tensors, tfx_bsl
from tensor_cases import Case, cases, peer_feature_spec, peer_representations
from test_decode import taxi_records, taxi_schema
from tfx_bsl.tfxio import tensor_adapter


def adapter_tensors(case: Case) -> dict[str, Any]:
    """What the peer's adapter gives; sparse indices, which it leaves as they lie, put in order."""
    batch = tfx_bsl(case.records, case.schema)
    config = tensor_adapter.TensorAdapterConfig(batch.schema, peer_representations(case.schema))
    tensors = tensor_adapter.TensorAdapter(config).ToBatchTensors(
        batch, produce_eager_tensors=False
    )
    return {name: in_order(plain_tf(tensor)) for name, tensor in tensors.items()}


def in_order(plain: Any) -> Any:
    if plain[0] != "sparse":
        return plain
    kind, dtype, indices, values, shape = plain
    order = sorted(range(len(values)), key=indices.__getitem__)
    return (kind, dtype, [indices[i] for i in order], [values[i] for i in order], shape)


@given(cases())
def test_same_as_parse_example(case: Case) -> None:
    assert our_tensors(case.records, case.schema) == tf_tensors(
        case.records, peer_feature_spec(case.schema)
    )


@given(cases())
def test_same_as_tensor_adapter(case: Case) -> None:
    assert our_tensors(case.records, case.schema) == adapter_tensors(case)


@given(cases())
def test_feature_spec_is_that_of_the_peer(case: Case) -> None:
    spec = cst.Schema.from_text(case.schema).feature_spec(tensorflow=True)
    assert spec == peer_feature_spec(case.schema)


@given(cases())
def test_our_feature_spec_parses_to_our_tensors(case: Case) -> None:
    spec = cst.Schema.from_text(case.schema).feature_spec(tensorflow=True)
    assert our_tensors(case.records, case.schema) == tf_tensors(case.records, spec)


def test_representations_are_those_of_the_peer() -> None:
    schema = """
      feature { name: "a" type: INT }
      feature { name: "b" type: FLOAT shape { dim { size: 2 } } presence { min_fraction: 1 } }
      feature { name: "old" type: INT deprecated: true }
      feature { name: "planned" type: INT lifecycle_stage: PLANNED }
      feature { name: "live" type: INT lifecycle_stage: PRODUCTION }
    """
    ours = cst.Schema.from_text(schema).feature_spec()
    assert sorted(ours) == sorted(peer_representations(schema)) == ["a", "b", "live"]


def test_taxi(taxi: Any) -> None:
    records = taxi_records(taxi)[:3000]
    schema = taxi_schema(taxi, records)
    ours = our_tensors(records, schema)
    assert ours == tf_tensors(records, peer_feature_spec(schema))
    assert ours == adapter_tensors(Case(schema, records))


# What all three refuse

REFUSED = {
    "required feature absent": ("shape { dim { size: 1 } } presence { min_fraction: 1 }", None),
    "too few values": ("shape { dim { size: 2 } } presence { min_fraction: 1 }", (1,)),
    "too many values": ("shape { } presence { min_fraction: 1 }", (1, 2)),
    "an empty list": ("shape { dim { size: 1 } } presence { min_fraction: 1 }", ()),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_all(name: str) -> None:
    more, values = REFUSED[name]
    schema = f'feature {{ name: "f" type: INT {more} }}'
    bad = wire.example([] if values is None else [wire.Feature("f", "INT", values)])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf_tensors([bad], peer_feature_spec(schema))
    with pytest.raises(Exception, match="Error raised when handling tensor 'f'"):
        adapter_tensors(Case(schema, [bad]))
    with pytest.raises(cst.errors.SchemaError) as error:
        our_tensors([bad], schema)
    assert error.value.path == "f"


def test_schema_proto_is_accepted_as_it_is() -> None:
    """Any object with SerializeToString will do as a schema."""
    schema = schema_proto('feature { name: "f" type: INT }')
    decoder = cst.decoder("example", schema=schema)
    assert decoder.decode([b""]).num_rows == 1
