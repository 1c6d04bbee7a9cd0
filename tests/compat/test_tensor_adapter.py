"""tensor_adapter makes the tensors that tfx_bsl's makes, and refuses what it refuses."""

from __future__ import annotations

import pickle
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
from columnstone.compat.tfx_bsl.tfxio import tensor_adapter as ours
from conftest import real
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

theirs = real("tfx_bsl.tfxio.tensor_adapter")

LISTS = (pa.list_, pa.large_list)
NUMBERS = [pa.int8(), pa.uint16(), pa.int32(), pa.int64(), pa.uint64(), pa.float32(), pa.float64()]
BYTES = [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()]
NESTED = pa.array([[[1, 2], []], [], [[3]]], pa.list_(pa.large_list(pa.int64())))
STRUCTS = pa.array(
    [[{"y": [1, 2]}, {"y": [3]}], []], pa.list_(pa.struct({"y": pa.list_(pa.int64())}))
)

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "dense": (
        'dense_tensor { column_name: "a" shape { dim { size: 2 } } }',
        {"a": [[1, 2], [3, 4]]},
    ),
    "scalar": ('dense_tensor { column_name: "a" }', {"a": [[1], [2], [3]]}),
    "a default": (
        'dense_tensor { column_name: "a" shape { dim { size: 2 } } '
        "default_value { int_value: 7 } }",
        {"a": [None, [3, 4], None]},
    ),
    "no rows": (
        'dense_tensor { column_name: "a" shape { dim { size: 2 } } }',
        {"a": pa.array([], pa.list_(pa.int64()))},
    ),
    "a slice": ('dense_tensor { column_name: "a" }', {"a": pa.array([[1], [2], [3]]).slice(1)}),
    "varlen": ('varlen_sparse_tensor { column_name: "a" }', {"a": [[1, 2], None, [], [3]]}),
    "sparse": (
        'sparse_tensor { dense_shape { dim { size: 9 } dim { size: 3 } } index_column_names: "i" '
        'index_column_names: "j" value_column_name: "a" }',
        {"a": [[1, 2], None, [3]], "i": [[0, 8], [], [1]], "j": [[0, 2], [], [0]]},
    ),
    "sparse of an unknown size": (
        'sparse_tensor { dense_shape { dim { size: -1 } } index_column_names: "i" '
        'value_column_name: "a" }',
        {"a": [[1, 2], []], "i": [[0, 8], []]},
    ),
    "sparse without index columns": (
        'sparse_tensor { value_column_name: "a" dense_shape { } }',
        {"a": [[1], None, [3]]},
    ),
    "ragged": ('ragged_tensor { feature_path { step: "a" } }', {"a": [[1, 2], [], [3]]}),
    "ragged of float16 in structs": (
        'ragged_tensor { feature_path { step: "a" step: "y" } }',
        {
            "a": pa.array(
                [[{"x": "q", "y": [np.float16(1.5)]}], [{"x": "r", "y": []}]],
                pa.list_(pa.struct({"x": pa.string(), "y": pa.list_(pa.float16())})),
            )
        },
    ),
    "ragged of int32": (
        'ragged_tensor { feature_path { step: "a" } row_partition_dtype: INT32 }',
        {"a": [[1, 2], [], [3]]},
    ),
    "ragged of lists of lists": ('ragged_tensor { feature_path { step: "a" } }', {"a": NESTED}),
    "ragged in structs": (
        'ragged_tensor { feature_path { step: "a" step: "y" } }',
        {"a": STRUCTS},
    ),
    "ragged with uniform partitions": (
        'ragged_tensor { feature_path { step: "a" } partition { uniform_row_length: 2 } }',
        {"a": [[1, 2, 3, 4], [], [5, 6]]},
    ),
    "ragged with row lengths": (
        'ragged_tensor { feature_path { step: "a" } partition { row_length: "n" } }',
        {"a": [[1, 2, 3], [], [5]], "n": [[2, 1], [0], [1]]},
    ),
    "halves, dense": (
        'dense_tensor { column_name: "a" default_value { float_value: 2.5 } }',
        {"a": pa.array([np.float16([1.5]), None], pa.list_(pa.float16())), "b": [1, 2]},
    ),
    "halves, sparse": (
        'sparse_tensor { dense_shape { dim { size: -1 } } index_column_names: "i" '
        'value_column_name: "a" }',
        {"a": pa.array([np.float16([1.5]), None], pa.large_list(pa.float16())), "i": [[3], []]},
    ),
    "halves, ragged": (
        'ragged_tensor { feature_path { step: "a" } }',
        {"a": pa.array([np.float16([1.5, 2]), None], pa.list_(pa.float16()))},
    ),
} | {
    str(make(kind)): (
        'varlen_sparse_tensor { column_name: "a" }',
        {
            "a": pa.array(
                [[1, 2], None, [3]] if kind in NUMBERS else [["x"], None, ["yz"]], make(kind)
            )
        },
    )
    for kind in (*NUMBERS, *BYTES)
    for make in LISTS
}


def representation(text: str) -> schema_pb2.TensorRepresentation:
    return text_format.Parse(text, schema_pb2.TensorRepresentation())


def told(tensor: Any) -> Any:
    """Type, kind and values of a tensor, eager or not."""
    parts = [getattr(tensor, name, None) for name in ("indices", "values", "dense_shape")]
    if parts[0] is not None:
        return type(tensor).__name__, *map(told, parts)
    if hasattr(tensor, "row_splits"):
        return type(tensor).__name__, told(tensor.row_splits), told(tensor.values)
    array = np.asarray(tensor)
    return array.dtype.name, array.shape, array.tolist()


def made(module: Any, text: str, columns: dict[str, Any], eager: bool | None) -> Any:
    batch = pa.record_batch(columns)
    config = module.TensorAdapterConfig(batch.schema, {"t": representation(text)})
    adapter = module.TensorAdapter(config)
    assert adapter.OriginalTypeSpecs() == adapter.TypeSpecs()
    (tensor,) = adapter.ToBatchTensors(batch, produce_eager_tensors=eager).values()
    return adapter.TypeSpecs(), told(tensor)


@pytest.mark.parametrize("eager", [True, False, None])
@pytest.mark.parametrize("case", CASES)
def test_tensors(case: str, eager: bool | None) -> None:
    assert made(ours, *CASES[case], eager) == made(theirs, *CASES[case], eager)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("", {"a": [[1]]}),
        ('dense_tensor { column_name: "b" }', {"a": [[1]]}),
        ('dense_tensor { column_name: "a" }', {"a": [1]}),
        ('dense_tensor { column_name: "a" }', {"a": [[[1]]]}),
        ('dense_tensor { column_name: "a" }', {"a": [[True]]}),
        ('dense_tensor { column_name: "a" default_value { bytes_value: "x" } }', {"a": [[1]]}),
        (
            'dense_tensor { column_name: "a" default_value { int_value: 300 } }',
            {"a": pa.array([[1]], pa.list_(pa.int8()))},
        ),
        ('varlen_sparse_tensor { column_name: "b" }', {"a": [[1]]}),
        ('varlen_sparse_tensor { column_name: "a" }', {"a": [[[1]]]}),
        (
            'sparse_tensor { dense_shape { dim { size: 2 } } index_column_names: "i" '
            'value_column_name: "a" }',
            {"a": [[1]]},
        ),
        ('ragged_tensor { feature_path { step: "a" step: "b" } }', {"a": [[1]]}),
        ("ragged_tensor { feature_path { } }", {"a": [[1]]}),
        (
            'ragged_tensor { feature_path { step: "a" } partition { row_length: "n" } }',
            {"a": [[1]]},
        ),
    ],
)
def test_representations_that_do_not_fit(text: str, columns: dict[str, Any]) -> None:
    kinds = []
    for module in (ours, theirs):
        with pytest.raises((ValueError, KeyError)) as error:
            made(module, text, columns, None)
        kinds.append(error.type)
    assert kinds[0] == kinds[1]


def test_batches_that_do_not_fit() -> None:
    schema = pa.schema([("a", pa.list_(pa.int64()))])
    dense = {"t": representation('dense_tensor { column_name: "a" }')}
    for module in (ours, theirs):
        adapter = module.TensorAdapter(module.TensorAdapterConfig(schema, dense))
        for columns in ({"b": [[1]]}, {"a": [[1], [2, 3]]}, {"a": [[1], None]}):
            with pytest.raises(ValueError):
                adapter.ToBatchTensors(pa.record_batch(columns))
        with tf.Graph().as_default(), pytest.raises(RuntimeError, match="eager mode was not"):
            adapter.ToBatchTensors(pa.record_batch({"a": [[1]]}), produce_eager_tensors=True)
        with tf.Graph().as_default():
            value = adapter.ToBatchTensors(pa.record_batch({"a": [[1]]}))["t"]
        assert isinstance(value, np.ndarray)


def test_type_specs_before_a_projection() -> None:
    schema = pa.schema([("a", pa.list_(pa.int64())), ("b", pa.list_(pa.binary()))])
    both = {
        name: representation(f'varlen_sparse_tensor {{ column_name: "{name}" }}') for name in "ab"
    }
    for module in (ours, theirs):
        config = module.TensorAdapterConfig(schema, both)
        original = module.TensorAdapter(config).TypeSpecs()
        one = module.TensorAdapterConfig(schema, {"a": both["a"]}, original_type_specs=original)
        adapter = module.TensorAdapter(one)
        assert adapter.OriginalTypeSpecs() == original
        assert adapter.TypeSpecs() == {"a": original["a"]}
        assert (one.arrow_schema, one.original_type_specs) == (schema, original)
        assert one.tensor_representations == {"a": both["a"]}
        wrong = {"a": tf.TensorSpec([None], tf.int64)}
        with pytest.raises(ValueError, match="original_type_specs must be a superset"):
            module.TensorAdapter(module.TensorAdapterConfig(schema, {"a": both["a"]}, wrong))


def test_rows_are_counted_one_by_one() -> None:
    """tfx_bsl looks at the total alone, and gives one row the values of another."""
    batch = pa.record_batch({"a": [[1, 2], []]})
    dense = {"t": representation('dense_tensor { column_name: "a" }')}
    adapter = ours.TensorAdapter(ours.TensorAdapterConfig(batch.schema, dense))
    with pytest.raises(ValueError, match="handling tensor 't'"):
        adapter.ToBatchTensors(batch)


def test_indices_lie_in_the_dense_shape() -> None:
    """Where theirs makes a tensor whose indices do not, as TFMA's test of sparse tensors does."""
    text = (
        'sparse_tensor { dense_shape { dim { size: 10 } } index_column_names: "i" '
        'value_column_name: "a" }'
    )
    columns = {"a": [[0], [2, 3], [9, 10]], "i": [[0], [2, 3], [9, 10]]}
    _, (_, indices, _, shape) = made(real("tfx_bsl.tfxio.tensor_adapter"), text, columns, False)
    assert indices[2][-1] == [2, 10]
    assert shape[2] == [3, 10]
    with pytest.raises(ValueError, match="index 10 in column 'i', expected 0 to 9"):
        made(ours, text, columns, False)


def test_configurations_pickle() -> None:
    schema = pa.schema([("a", pa.list_(pa.int64()))])
    dense = {"t": representation('dense_tensor { column_name: "a" }')}
    again = pickle.loads(pickle.dumps(ours.TensorAdapterConfig(schema, dense)))
    assert (again.arrow_schema, again.tensor_representations) == (schema, dense)
    assert again.original_type_specs is None


def test_the_type_of_representations() -> None:
    assert get_args(ours.TensorRepresentations) == get_args(theirs.TensorRepresentations)
