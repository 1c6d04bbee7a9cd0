"""A tf.data.Dataset of the results of RecordBatches(), for files that TensorFlow cannot read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from . import dataset_options, record_based_tfxio

if TYPE_CHECKING:
    from collections.abc import Iterator


class BatchDatasetTFXIO(record_based_tfxio.RecordBasedTFXIO):
    """A TFXIO that reads batches without Beam."""

    def TensorFlowDataset(
        self, options: dataset_options.TensorFlowDatasetOptions
    ) -> tf.data.Dataset:
        """Dictionaries of tensors or, with a label_key, pairs of a dictionary and the label, as a
        tf.data generator; tfx_bsl has none."""
        adapter = self.TensorAdapter()
        names = dataset_options.RecordBatchesOptions._fields
        of_batches = dataset_options.RecordBatchesOptions(*(getattr(options, n) for n in names))

        def tensors() -> Iterator[dict[str, Any]]:
            return (adapter.ToBatchTensors(batch) for batch in self.RecordBatches(of_batches))

        dataset = tf.data.Dataset.from_generator(tensors, output_signature=adapter.TypeSpecs())
        if options.label_key is not None:
            dataset = self._PopLabelFeatureFromDataset(dataset, options.label_key)
        return dataset.prefetch(options.prefetch_buffer_size)
