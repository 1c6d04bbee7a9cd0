"""Hypothesis strategies for schemas with every kind of tensor, and records that fit them.

A case is a list of tensors; each brings its part of the schema, and its features for each row.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from generate import KINDS, VALUES
from hypothesis import strategies as st
from support import schema_proto
from tfx_bsl.tfxio import tensor_representation_util as reps
from wire import Feature, Value, example

Row = list[Feature]
DEFAULTS: dict[str, list[tuple[Value, str]]] = {
    "INT": [(0, "int_value: 0"), (-1, "int_value: -1"), (2**40, f"int_value: {2**40}")],
    "FLOAT": [(0.5, "float_value: 0.5"), (-1.0, "float_value: -1")],
    "BYTES": [(b"", 'bytes_value: ""'), (b"none", 'bytes_value: "none"')],
}


@dataclasses.dataclass(frozen=True)
class TensorCase:
    features: str  # text of the schema's features and sparse features
    representation: str  # text of an explicit TensorRepresentation, or "" if it is inferred
    rows: list[Row]
    name: str


@dataclasses.dataclass(frozen=True)
class Case:
    schema: str
    records: list[bytes]


def feature_text(name: str, kind: str, more: str = "") -> str:
    return f'feature {{ name: "{name}" type: {kind} {more} }}\n'


def shape_text(dims: list[int]) -> str:
    return "shape { " + " ".join(f"dim {{ size: {d} }}" for d in dims) + " }"


def some_values(draw: st.DrawFn, kind: str, count: int) -> tuple[Value, ...]:
    return tuple(draw(st.lists(VALUES[kind], min_size=count, max_size=count)))


def absent(draw: st.DrawFn, name: str) -> Row:
    """No key, or a key without a kind."""
    return draw(st.sampled_from([[], [Feature(name, None)]]))


@st.composite
def dense(draw: st.DrawFn, name: str, num_rows: int) -> TensorCase:
    """A fixed shape from the schema: every row has all values."""
    kind = draw(st.sampled_from(KINDS))
    dims = draw(st.lists(st.integers(1, 3), max_size=2))
    rows = [
        [Feature(name, kind, some_values(draw, kind, math.prod(dims)))] for _ in range(num_rows)
    ]
    more = shape_text(dims) + " presence { min_fraction: 1 }"
    return TensorCase(feature_text(name, kind, more), "", rows, name)


@st.composite
def dense_with_default(draw: st.DrawFn, name: str, num_rows: int) -> TensorCase:
    kind = draw(st.sampled_from(KINDS))
    dims = draw(st.lists(st.integers(1, 3), max_size=2))
    default = draw(st.sampled_from(DEFAULTS[kind]))[1]
    rows = []
    for _ in range(num_rows):
        full = [Feature(name, kind, some_values(draw, kind, math.prod(dims)))]
        rows.append(draw(st.sampled_from([full, absent(draw, name)])))
    text = (
        f'dense_tensor {{ column_name: "{name}" {shape_text(dims)} default_value {{ {default} }} }}'
    )
    return TensorCase(feature_text(name, kind), text, rows, name)


@st.composite
def varlen(draw: st.DrawFn, name: str, num_rows: int) -> TensorCase:
    """Sparse, or ragged if the schema says so for all of these."""
    kind = draw(st.sampled_from(KINDS))
    rows = [
        draw(
            st.sampled_from(
                [absent(draw, name), [Feature(name, kind, some_values(draw, kind, size))]]
            )
        )
        for size in draw(st.lists(st.integers(0, 4), min_size=num_rows, max_size=num_rows))
    ]
    return TensorCase(feature_text(name, kind), "", rows, name)


@st.composite
def explicit_varlen(draw: st.DrawFn, name: str, num_rows: int) -> TensorCase:
    case = draw(varlen(name, num_rows))
    return dataclasses.replace(
        case, representation=f'varlen_sparse_tensor {{ column_name: "{name}" }}'
    )


@st.composite
def sparse(draw: st.DrawFn, name: str, num_rows: int) -> TensorCase:
    """One to three index columns, as a sparse feature or as an explicit representation."""
    kind = draw(st.sampled_from(KINDS))
    sizes = draw(st.lists(st.integers(2, 5), min_size=1, max_size=3))
    explicit, already_sorted = draw(st.booleans()), draw(st.booleans())
    columns = [f"{name}_index{i}" for i in range(len(sizes))]
    place = st.tuples(*[st.integers(0, size - 1) for size in sizes])
    rows: list[Row] = []
    for _ in range(num_rows):
        places = draw(st.lists(place, max_size=4, unique=True))
        places = sorted(places) if already_sorted else places
        values = Feature(f"{name}_values", kind, some_values(draw, kind, len(places)))
        indices = [
            Feature(column, "INT", tuple(p[i] for p in places)) for i, column in enumerate(columns)
        ]
        rows.append(draw(st.permutations([values, *indices])) if places else [])
    domains = [
        feature_text(c, "INT", f"int_domain {{ min: 0 max: {s - 1} }}")
        for c, s in zip(columns, sizes, strict=True)
    ]
    features = feature_text(f"{name}_values", kind) + "".join(domains)
    if explicit:
        names = "".join(f'index_column_names: "{c}" ' for c in columns)
        text = (
            f'sparse_tensor {{ {names} value_column_name: "{name}_values" '
            f"dense_{shape_text(sizes)} already_sorted: {str(already_sorted).lower()} }}"
        )
        return TensorCase(features, text, rows, name)
    names = "".join(f'index_feature {{ name: "{c}" }} ' for c in columns)
    features += (
        f'sparse_feature {{ name: "{name}" {names} value_feature {{ name: "{name}_values" }} '
        f"is_sorted: {str(already_sorted).lower()} }}\n"
    )
    return TensorCase(features, "", rows, name)


@st.composite
def ragged(draw: st.DrawFn, name: str, num_rows: int) -> TensorCase:
    """Up to three partitions: uniform ones, and ones whose lengths stand in a column."""
    kind = draw(st.sampled_from(KINDS))
    partitions = draw(st.lists(st.one_of(st.just(0), st.integers(1, 3)), max_size=3))
    dtype = draw(st.sampled_from(["", "row_partition_dtype: INT32", "row_partition_dtype: INT64"]))
    features, parts = feature_text(f"{name}_values", kind), []
    for level, uniform in enumerate(partitions):
        if uniform:
            parts.append(f"partition {{ uniform_row_length: {uniform} }}")
        else:
            features += feature_text(f"{name}_lengths{level}", "INT")
            parts.append(f'partition {{ row_length: "{name}_lengths{level}" }}')
    text = f'ragged_tensor {{ feature_path {{ step: "{name}_values" }} {" ".join(parts)} {dtype} }}'
    rows = [_ragged_row(draw, name, kind, partitions) for _ in range(num_rows)]
    return TensorCase(features, text, rows, name)


def _ragged_row(draw: st.DrawFn, name: str, kind: str, partitions: list[int]) -> Row:
    count = draw(st.integers(0, 3))
    row: Row = []
    for level, uniform in enumerate(partitions):
        if uniform:
            count *= uniform
            continue
        lengths = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
        row.append(Feature(f"{name}_lengths{level}", "INT", tuple(lengths)))
        count = sum(lengths)
    return [*row, Feature(f"{name}_values", kind, some_values(draw, kind, count))]


KINDS_OF_TENSORS: list[Callable[[str, int], st.SearchStrategy[TensorCase]]] = [
    dense,
    dense_with_default,
    varlen,
    explicit_varlen,
    sparse,
    ragged,
]


@st.composite
def cases(draw: st.DrawFn, max_rows: int = 5) -> Case:
    num_rows = draw(st.integers(1, max_rows))
    makers = draw(st.lists(st.sampled_from(KINDS_OF_TENSORS), min_size=1, max_size=4))
    return assemble(
        [draw(maker(f"t{i}", num_rows)) for i, maker in enumerate(makers)],
        num_rows,
        draw(st.booleans()),
    )


def assemble(tensors: list[TensorCase], num_rows: int, as_ragged: bool = False) -> Case:
    schema = "".join(t.features for t in tensors)
    explicit = [
        f'tensor_representation {{ key: "{t.name}" value {{ {t.representation} }} }}'
        for t in tensors
        if t.representation
    ]
    if explicit:
        schema += f'tensor_representation_group {{ key: "" value {{ {" ".join(explicit)} }} }}\n'
    if as_ragged:
        schema += "represent_variable_length_as_ragged: true\n"
    records = [example([f for t in tensors for f in t.rows[i]]) for i in range(num_rows)]
    return Case(schema, records)


def peer_representations(schema: str) -> dict[str, Any]:
    """tfx_bsl's own reading of the schema."""
    return reps.InferTensorRepresentationsFromMixedSchema(schema_proto(schema))


def peer_feature_spec(schema: str) -> dict[str, Any]:
    """The tf.io objects that tfx_bsl makes of the schema."""
    types = {f.name: f.type for f in schema_proto(schema).feature}
    spec = {}
    for name, representation in peer_representations(schema).items():
        path = reps.GetSourceValueColumnFromTensorRepresentation(representation)
        spec[name] = reps.CreateTfExampleParserConfig(representation, types[path.steps()[0]])
    return spec
