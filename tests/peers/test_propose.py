"""Proposals: real protobuf and TFMD take the schema, and the peers make the same tensors of it."""

from __future__ import annotations

import io

import columnstone as cst
from hypothesis import assume, given
from support import our_tensors, schema_proto, tf_tensors
from tensor_cases import Case, cases, peer_feature_spec
from test_tensors import adapter_tensors
from wire import Feature, example


def propose(records: list[bytes]) -> str:
    data = io.BytesIO()
    with cst.codec.TFRecordWriter(data) as writer:
        for record in records:
            writer.write(record)
    data.seek(0)
    return cst.infer_schema(data, "example", propose=True).to_text()


@given(cases())
def test_tensors_are_those_of_the_peers(case: Case) -> None:
    schema = propose(case.records)
    ours = our_tensors(case.records, schema)
    # The peers make nothing of no tensors, and refuse features that never had a value.
    assume(ours and "TYPE_UNKNOWN" not in schema)
    assert ours == tf_tensors(case.records, peer_feature_spec(schema))
    assert ours == adapter_tensors(Case(schema, case.records))


@given(cases())
def test_protobuf_reads_it(case: Case) -> None:
    schema = propose(case.records)
    theirs = schema_proto(schema).SerializeToString()
    assert cst.Schema.from_bytes(theirs) == cst.Schema.from_text(schema)


def test_pairs() -> None:
    records = [
        example(
            [
                Feature("x_index", "INT", indexes),
                Feature("x_value", "FLOAT", tuple(float(i) for i in indexes)),
                Feature("t", "BYTES", (b"u",) * sum(lengths)),
                Feature("t_lengths", "INT", lengths),
            ]
        )
        for indexes, lengths in [((0, 4, 7), (2, 0, 1)), ((), ()), ((3,), (1,))]
    ]
    schema = propose(records)
    ours = our_tensors(records, schema)
    assert sorted(ours) == ["t", "x"]
    assert ours == tf_tensors(records, peer_feature_spec(schema))
    assert ours == adapter_tensors(Case(schema, records))
