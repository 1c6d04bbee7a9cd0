"""Options for reading a TFXIO in batches: sizes, epochs, order."""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf


class TensorFlowDatasetOptions(NamedTuple):
    """For TensorFlowDataset. `num_epochs` None repeats without end; buffer sizes are in records
    (shuffle) and batches (prefetch); with `label_key`, the elements of the dataset are pairs of a
    dictionary without the label and the label."""

    batch_size: int
    drop_final_batch: bool = False
    num_epochs: int | None = None
    shuffle: bool = True
    shuffle_buffer_size: int = 10000
    shuffle_seed: int | None = None
    prefetch_buffer_size: int = tf.data.AUTOTUNE
    reader_num_threads: int = tf.data.AUTOTUNE
    parser_num_threads: int = tf.data.AUTOTUNE
    sloppy_ordering: bool = False
    label_key: str | None = None


class RecordBatchesOptions(NamedTuple):
    """For RecordBatches: those options that need no TensorFlow."""

    batch_size: int
    drop_final_batch: bool = False
    num_epochs: int | None = None
    shuffle: bool = True
    shuffle_buffer_size: int = 10000
    shuffle_seed: int | None = None
