"""tfx_bsl.tfxio.dataset_util: TFRecord files as a tf.data.Dataset of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Sequence


def detect_compression_type(file_patterns: tf.Tensor | Sequence[str]) -> tf.Tensor:
    """The compression according to the names of the files that match the patterns: "GZIP" if all
    end with .gz, "" if none does, otherwise "INVALID_MIXED_COMPRESSION_TYPES". A scalar; it
    consists of plain operations, so that it can be part of a graph."""
    is_gzip = tf.strings.regex_full_match(tf.io.matching_files(file_patterns), r".*\.gz")
    has_gzip, has_other = tf.reduce_any(is_gzip), tf.reduce_any(~is_gzip)
    one = tf.where(has_gzip, "GZIP", "")
    return tf.where(has_gzip & has_other, "INVALID_MIXED_COMPRESSION_TYPES", one)


def make_tf_record_dataset(
    file_pattern: tf.Tensor | Sequence[str] | str,
    batch_size: int,
    drop_final_batch: bool,
    num_epochs: int | None,
    shuffle: bool | None,
    shuffle_buffer_size: int,
    shuffle_seed: int | None,
    reader_num_threads: int = tf.data.AUTOTUNE,
    sloppy_ordering: bool = False,
) -> tf.data.Dataset:
    """Batches of records of the files that match the patterns, taken in turn from several files.
    Batches continue across epochs. num_epochs=None repeats without end, without incomplete batches.
    The order does not depend on threads, unless sloppy ordering is allowed."""
    patterns = tf.convert_to_tensor(file_pattern)
    compression = detect_compression_type(patterns)
    files = tf.data.Dataset.list_files(patterns, shuffle=shuffle, seed=shuffle_seed)
    records = files.interleave(
        lambda file: tf.data.TFRecordDataset(file, compression),
        num_parallel_calls=reader_num_threads,
    )
    options = tf.data.Options()
    options.deterministic = not sloppy_ordering
    records = records.with_options(options)
    if shuffle:
        records = records.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        records = records.repeat(num_epochs)
    return records.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
