"""Tensors and datasets in TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from .._base.errors import StateError, UnsupportedError, argument_error
from .._dataset.mixture import Mixture
from .._tensor.adapter import core_pads
from .._tensor.conversion import converted
from .._tensor.declared import TensorSpec
from .._tensor.tensor import RaggedTensor, SparseTensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .._core import ArrowSchema
    from .._dataset.dataset import Dataset
    from .._schema.spec import SplitsDtype, TensorRepresentation
    from .._tensor.adapter import CoreLength

# Tensors


def to_tf(tensors: Any) -> Any:
    """See _frameworks.to_tf."""
    return converted(tensors, _dense, _sparse, _ragged)


def _dense(tensor: Any) -> Any:
    return tf.constant(tensor.numpy(), tf.string if tensor.dtype == "bytes" else None)


def _sparse(tensor: SparseTensor) -> Any:
    return tf.SparseTensor(
        _dense(tensor.indices), _dense(tensor.values), _dense(tensor.dense_shape)
    )


def _ragged(tensor: RaggedTensor) -> Any:
    splits = [_dense(level) for level in tensor.row_splits]
    return tf.RaggedTensor.from_nested_row_splits(_dense(tensor.values), splits, validate=False)


# Types

_DTYPES = {
    "b": tf.bool,
    "c": tf.int8,
    "C": tf.uint8,
    "s": tf.int16,
    "S": tf.uint16,
    "i": tf.int32,
    "I": tf.uint32,
    "l": tf.int64,
    "L": tf.uint64,
    "f": tf.float32,
    "g": tf.float64,
}


def spec_of(type_spec: Any) -> TensorSpec:
    """See TensorSpec.of."""
    dtype: Any = "bytes" if type_spec.dtype == tf.string else type_spec.dtype.name
    if type_spec.shape.rank is None:
        raise UnsupportedError(f"the rank of the tensor is unknown: {type_spec}")
    shape = tuple(type_spec.shape.as_list())
    if isinstance(type_spec, tf.SparseTensorSpec):
        return TensorSpec("sparse", dtype, shape)
    if isinstance(type_spec, tf.RaggedTensorSpec):
        splits: SplitsDtype = "int32" if type_spec.row_splits_dtype == tf.int32 else "int64"
        return TensorSpec("ragged", dtype, shape, type_spec.ragged_rank, splits)
    if isinstance(type_spec, tf.TensorSpec):
        return TensorSpec("dense", dtype, shape)
    raise UnsupportedError(f"cannot make a TensorSpec from {type(type_spec).__name__}")


def type_specs(
    representations: Mapping[str, TensorRepresentation],
    arrow_schema: ArrowSchema,
    rows: int | None = None,
) -> dict[str, Any]:
    """The tf.TypeSpec of each tensor, for batches of this many rows; for a structured tensor, a
    dict."""
    return {name: _type_spec(spec, arrow_schema, rows) for name, spec in representations.items()}


def _type_spec(spec: TensorRepresentation, arrow_schema: ArrowSchema, rows: int | None) -> Any:
    if spec.kind == "structured":
        return {field.name: _type_spec(field, arrow_schema, rows) for field in spec.fields}
    levels, value = _column_of(spec, arrow_schema)
    # Values are never converted; values of type null get the type in the representation.
    dtype = _DTYPES.get(value.format) or (
        tf.string if spec.dtype == "bytes" else tf.as_dtype(spec.dtype)
    )
    if spec.kind == "dense":
        return tf.TensorSpec([rows, *spec.shape], dtype)
    if spec.kind == "varlen_sparse":
        return tf.SparseTensorSpec([rows, None], dtype)
    if spec.kind == "sparse":
        return tf.SparseTensorSpec([rows, *(None if n < 0 else n for n in spec.shape)], dtype)
    splits = tf.int32 if spec.row_splits_dtype == "int32" else tf.int64
    inner: list[int | None] = [getattr(p, "length", None) for p in spec.partitions]
    uniform = 0
    while uniform < len(inner) and inner[len(inner) - 1 - uniform] is not None:
        uniform += 1
    ragged_rank = levels + len(inner) - uniform
    # Uniform lengths between ragged dimensions are not reported.
    shape = [rows] + [None] * ragged_rank + inner[len(inner) - uniform :]
    return tf.RaggedTensorSpec(shape, dtype, ragged_rank, row_splits_dtype=splits)


def _column_of(spec: TensorRepresentation, arrow_schema: ArrowSchema) -> tuple[int, ArrowSchema]:
    """The number of list levels of a ragged tensor's column, without its partitions, and the type
    in the innermost list. As when tensors are made, single values count as lists of one value, and
    values of type null count as no list, below other lists as well."""
    value, outer = arrow_schema, 0
    for step in spec.steps:
        value, levels = _below_lists(value)
        outer += levels
        value = next(child for child in value.children if child.name == step)
    value, own = _below_lists(value)
    is_flat = own == 0 and (outer == 0 or value.format == "n")
    return outer + own + is_flat, value


_LISTS = ("+l", "+L", "+w", "+v", "+m")


def _below_lists(field: ArrowSchema) -> tuple[ArrowSchema, int]:
    """For dictionaries, the type of their values, which tensors get."""
    levels = 0
    while (values := field.dictionary) is not None or field.format[:2] in _LISTS:
        levels += values is None
        field = field.children[0] if values is None else values
    return field, levels


# Datasets


def dataset_of(dataset: Dataset, names: Iterable[str] | None = None) -> Any:
    """A tf.data.Dataset of the batches, in order, with the tensors of these names. Each of its
    iterations is one of the dataset; each after the first one continues with the next epochs."""
    at = dataset._loaded
    whole = names is None and dataset._options["drop_last"]  # TFDataset has those of TypeSpecs()
    whole = whole and (at is None or at.row == -1)  # or what is left of a batch comes first
    specs = dataset_specs(dataset, dataset.batch_size if whole else None)
    features = specs if dataset.label is None else specs[0]
    for name in list(features):
        if names is not None and name not in names:
            del features[name]

    cardinality = _cardinality(dataset)
    begun = _Begun(dataset)

    def batches() -> Iterator[Any]:
        at = dataset._loaded
        if at is not None and (cardinality >= 0 or (whole and at.row != -1)):
            hint = "call load_state_dict first, then ds.tf()"
            raise StateError(
                f"a state was loaded after ds.tf() counted the batches ({hint})", hint=hint
            )
        for item in dataset._iterate(epochs_before=begun.epochs_before()):
            batch, *label = item if isinstance(item, tuple) else (item,)
            made = {name: to_tf(batch[name]) for name in features}
            yield (made, *map(to_tf, label)) if label else made

    made = tf.data.Dataset.from_generator(batches, output_signature=specs)
    if cardinality == tf.data.UNKNOWN_CARDINALITY:
        return made
    return made.apply(tf.data.experimental.assert_cardinality(cardinality))


def _cardinality(dataset: Dataset) -> int:
    """The number of batches of an iteration, if it is known without reading data and always the
    same."""
    if isinstance(dataset._source, Mixture) and dataset._source.is_endless:
        return int(tf.data.INFINITE_CARDINALITY)
    is_known = dataset._is_direct() and dataset._packing is None
    batches = len(dataset) if is_known else None
    if dataset.epochs is None and batches:
        return int(tf.data.INFINITE_CARDINALITY)
    if dataset.epochs is None or batches is None or dataset._loaded is not None:
        return int(tf.data.UNKNOWN_CARDINALITY)
    return dataset.epochs * batches


class _Begun:
    """Counts the iterations of a tf.data.Dataset since the start of the dataset was set."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._told = dataset._told
        self._count = 0

    def epochs_before(self) -> int:
        """The number of epochs of the previous iterations."""
        if self._told != self._dataset._told:
            self._told, self._count = self._dataset._told, 0
        self._count += 1
        return (self._count - 1) * (self._dataset.epochs or 1)


def dataset_specs(dataset: Dataset, rows: int | None) -> Any:
    """The element_spec of batches of this many rows (None: any number), known before anything is
    read: a dict, or a dict and the spec of the label."""
    if dataset._rows_only:
        raise argument_error("a dataset with as_batches has no tensors")
    packing = dataset._packing
    if dataset._maps or (packing is not None and packing.before):
        raise argument_error("TensorFlow does not know what map returns: use ds.tf().map(fn)")
    source = dataset.source
    representations = source.tensor_representations()
    specs = type_specs(representations, source.arrow_schema, rows)
    for name, _, lengths, _ in core_pads(dataset._pad, representations):
        _pad(specs, name, lengths)
    if packing is not None:
        specs = {
            name + suffix: tf.TensorSpec([rows, length], tf.int32 if suffix else specs[name].dtype)
            for name, length in packing.lengths.items()
            for suffix in packing.suffixes
        }
    if dataset.label is None:
        return specs
    return specs, specs.pop(dataset.label)


def _pad(specs: dict[str, Any], name: str, lengths: tuple[CoreLength, ...] | None) -> None:
    """Makes the spec of a padded tensor dense; a field of a structured tensor is named a.b."""
    if name not in specs:
        outer = next(n for n in specs if name.startswith(n + ".") and isinstance(specs[n], dict))
        _pad(specs[outer], name[len(outer) + 1 :], lengths)
        return
    given = iter(lengths or ())
    shape = specs[name].shape.as_list()
    inner = [next(given, -1) if size is None else size for size in shape[1:]]
    sizes = [None if isinstance(size, tuple) or size < 0 else size for size in inner]
    specs[name] = tf.TensorSpec([shape[0], *sizes], specs[name].dtype)
