"""tfx_bsl.tfxio.dataset_tfxio: a tf.data.Dataset as a TFXIO.

TensorFlow iterates over the dataset and saves it, and Beam's workers read the saved data;
columnstone.tensor.TensorEncoder makes the batches.
"""

from __future__ import annotations

import collections
import os
import tempfile
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, TypeAlias

import apache_beam as beam
import pyarrow as pa
import tensorflow as tf

from . import tensor_adapter, tensor_to_arrow, tfxio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from . import dataset_options

SpecType: TypeAlias = Any  # a tf.TypeSpec, or tuples, named tuples and dicts of them


class DatasetTFXIOOptions(NamedTuple):
    """Where and how the dataset is saved for Beam's workers.

    working_dir: a folder, or its URL, that the workers can read. None: a new temporary folder for
        each TFXIO.
    feature_names: one for each component of an element, in tf.nest.flatten's order (in
        dictionaries, the order of the keys). If it is None, or has another length, the names are
        those in the element: keys and fields, with "_" between levels, and "feature0", "feature1"
        and so on for components without a name.
    num_shards: the number of parts that are read independently; None: one.
    """

    working_dir: Optional[str] = None  # noqa: UP045
    feature_names: Optional[list[str]] = None  # noqa: UP045
    num_shards: Optional[int] = None  # noqa: UP045


_DEFAULT = DatasetTFXIOOptions()


class DatasetTFXIO(tfxio.TFXIO):
    """A finite dataset of batches: tensors in any structure whose first dimension is the batch.

    Floating-point tensors become float32, integers and booleans int64; strings stay, and other
    types raise TypeError. Raises ValueError for tensors that columns cannot hold.
    """

    def __init__(self, dataset: tf.data.Dataset, options: DatasetTFXIOOptions = _DEFAULT) -> None:
        self._dataset = dataset
        self._options = options
        self._type_specs = _PrepareDataset(dataset, options.feature_names).element_spec
        self._converter = tensor_to_arrow.TensorsToRecordBatchConverter(self._type_specs)

    def ArrowSchema(self) -> pa.Schema:
        return self._converter.arrow_schema()

    def TensorRepresentations(self) -> tensor_adapter.TensorRepresentations:
        return self._converter.tensor_representations()

    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform:
        """The batches of the dataset, or batches of `batch_size` rows, the last of which may be
        smaller. This call iterates over the dataset and saves it, each time into a new folder in
        the working folder, where it stays."""
        prepared = _PrepareDataset(self._dataset, self._options.feature_names)
        if batch_size:
            prepared = prepared.rebatch(batch_size)
        shards = self._options.num_shards or 1
        path = self._save(prepared, shards)
        specs = dict(self._type_specs)

        @beam.typehints.with_output_types(pa.RecordBatch)
        def read(begin: Any) -> Any:
            return (
                begin
                | "Shards" >> beam.Create([(path, shard) for shard in range(shards)])
                | "Spread" >> beam.Reshuffle()
                | "Read" >> beam.FlatMap(_batches_of_shard, specs)
            )

        return beam.ptransform_fn(read)()

    def _save(self, dataset: tf.data.Dataset, shards: int) -> str:
        folder = self._options.working_dir
        if folder is None:
            folder = tempfile.mkdtemp(prefix="dataset-tfxio-")
        path = os.path.join(folder, f"saved_dataset-{uuid.uuid4().hex}")
        dataset.enumerate().save(path, shard_func=lambda number, _: number % shards)
        return path

    def RecordBatches(
        self, options: dataset_options.RecordBatchesOptions | DatasetTFXIOOptions
    ) -> Iterator[pa.RecordBatch] | tf.data.Dataset:
        """The batches, without Beam and without a saved dataset. With DatasetTFXIOOptions, the only
        options that tfx_bsl accepts here: a tf.data.Dataset of dictionaries with the feature names
        of the options."""
        if isinstance(options, DatasetTFXIOOptions):
            return _PrepareDataset(self._dataset, options.feature_names).prefetch(tf.data.AUTOTUNE)
        return (self._converter.convert(tensors) for tensors in self._in_order(options))

    def TensorFlowDataset(
        self, options: dataset_options.TensorFlowDatasetOptions
    ) -> tf.data.Dataset:
        """Dictionaries of tensors by name, in batches according to the options; tfx_bsl has none.
        Raises ValueError if the label is not one of the tensors."""
        dataset = self._in_order(options)
        label = options.label_key
        if label is not None:
            if label not in self._type_specs:
                raise ValueError(
                    f"The `label_key` provided ({label}) must be one of the following tensors "
                    f"names: {self._type_specs.keys()}."
                )
            dataset = dataset.map(lambda tensors: (_without(tensors, label), tensors[label]))
        return dataset.prefetch(options.prefetch_buffer_size)

    def _in_order(
        self,
        options: dataset_options.RecordBatchesOptions | dataset_options.TensorFlowDatasetOptions,
    ) -> tf.data.Dataset:
        """According to their batch sizes, epochs and shuffling. As with tfx_bsl's files, a dataset
        without end has no incomplete batch."""
        dataset = _PrepareDataset(self._dataset, self._options.feature_names)
        if options.shuffle:
            dataset = dataset.unbatch().shuffle(options.shuffle_buffer_size, options.shuffle_seed)
            dataset = dataset.batch(1)
        if options.num_epochs != 1:
            dataset = dataset.repeat(options.num_epochs)
        drop = options.drop_final_batch or options.num_epochs is None
        return dataset.rebatch(options.batch_size, drop_remainder=drop)

    def _ProjectImpl(self, tensor_names: list[str]) -> DatasetTFXIO:
        """Only these tensors; tfx_bsl has no projection here. Raises ValueError for others."""
        for name in tensor_names:
            if name not in self._type_specs:
                raise ValueError(f"Unable to project {name}: there is no such tensor")
        names = [name for name in self._type_specs if name in tensor_names]
        dataset = _PrepareDataset(self._dataset, self._options.feature_names)
        dataset = dataset.map(lambda tensors: {name: tensors[name] for name in names})
        return DatasetTFXIO(dataset, self._options._replace(feature_names=None))


def _batches_of_shard(
    where: tuple[str, int], specs: dict[str, tf.TypeSpec]
) -> Iterator[pa.RecordBatch]:
    """The batches of one shard of a saved dataset; none if it has no elements."""
    path, shard = where

    def one(datasets: tf.data.Dataset) -> tf.data.Dataset:
        return datasets.skip(shard).take(1).flat_map(lambda dataset: dataset)

    converter = tensor_to_arrow.TensorsToRecordBatchConverter(specs)
    dataset = tf.data.Dataset.load(path, reader_func=one)
    for _, tensors in dataset.prefetch(tf.data.AUTOTUNE):
        yield converter.convert(tensors)


def _PrepareDataset(dataset: tf.data.Dataset, feature_names: list[str] | None) -> tf.data.Dataset:
    """The same elements as dictionaries by feature name, with the types of the columns."""
    names = list(_GetDictStructureForElementSpec(dataset.element_spec, feature_names=feature_names))

    def prepared(*element: Any) -> dict[str, Any]:
        tensors = tf.nest.flatten(element)
        return collections.OrderedDict(
            (name, tf.cast(tensor, _type_of(tensor.dtype)))
            for name, tensor in zip(names, tensors, strict=True)
        )

    return dataset.map(prepared)


def _GetDictStructureForElementSpec(
    spec: SpecType, *, feature_names: list[str] | None = None
) -> collections.OrderedDict[str, tf.TypeSpec]:
    """The components of a structure by name, in tf.nest.flatten's order. Raises ValueError if two
    have the same name."""
    flat = tf.nest.flatten(spec)
    names = feature_names
    if not names or len(names) != len(flat):
        names = _names_of(spec)
    named = collections.OrderedDict(zip(names, flat, strict=True))
    if len(named) != len(flat):
        raise ValueError(f"two features have the same name: {names}; feature_names can tell others")
    return named


def _names_of(spec: SpecType) -> list[str]:
    """A name for each component. Those without a name are numbered over the whole structure, and
    again from 0 below each name."""
    return list(_walk(spec, iter(range(len(tf.nest.flatten(spec))))))


def _walk(spec: SpecType, numbers: Iterator[int]) -> Iterator[str]:
    fields = _fields_of(spec)
    if fields is not None:
        for name, field in fields:
            if tf.nest.is_nested(field):
                yield from (f"{name}_{inner}" for inner in _names_of(field))
            else:
                yield str(name)
    elif tf.nest.is_nested(spec):
        for component in spec:
            yield from _walk(component, numbers)
    else:
        yield f"feature{next(numbers)}"


def _fields_of(spec: SpecType) -> list[tuple[Any, SpecType]] | None:
    """The names and the components of a structure with names, in tf.nest.flatten's order."""
    if isinstance(spec, Mapping):
        return [(key, spec[key]) for key in sorted(spec)]
    if hasattr(spec, "_fields"):
        return [(name, getattr(spec, name)) for name in spec._fields]
    return None


def _without(tensors: dict[str, Any], label: str) -> dict[str, Any]:
    return {name: tensor for name, tensor in tensors.items() if name != label}


def _type_of(dtype: tf.DType) -> tf.DType:
    """The type of the column of a tensor."""
    if dtype.is_floating:
        return tf.float32
    if dtype.is_integer or dtype.is_bool:
        return tf.int64
    if dtype == tf.string:
        return tf.string
    raise TypeError(
        f"Got {dtype}. Only tf.uint8/16/32, tf.int8/16/32/64, tf.float16/32 and bytes/tf.string "
        "supported."
    )
