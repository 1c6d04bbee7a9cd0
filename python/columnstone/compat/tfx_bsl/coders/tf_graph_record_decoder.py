"""tfx_bsl.coders.tf_graph_record_decoder: decoders of records that are TensorFlow graphs, and their
SavedModels, compatible with tfx_bsl's."""

from __future__ import annotations

import abc
from typing import Any

import tensorflow as tf

TensorAlike = tf.Tensor | tf.__internal__.CompositeTensor

_INDEX_SIGNATURE = "__record_index_tensor_name__:"


class TFGraphRecordDecoder(metaclass=abc.ABCMeta):
    """Converts a tensor of records to tensors; subclasses implement decode_record."""

    def output_type_specs(self) -> dict[str, tf.TypeSpec]:
        """The tf.TypeSpecs of the result of decode_record, by the same names."""
        outputs = self._make_concrete_decode_function().structured_outputs
        return {name: tf.type_spec_from_value(tensor) for name, tensor in outputs.items()}

    @abc.abstractmethod
    def decode_record(self, records: tf.Tensor) -> dict[str, Any]:
        """Dense, sparse or ragged tensors with the same outermost dimension, computed only with
        TensorFlow's operations: it is traced, without autograph.

        records: strings, of shape [n]. If the rows are not the n records, one of the tensors
            contains the record of each row: see record_index_tensor_name.
        """

    @property
    def record_index_tensor_name(self) -> str | None:
        """The name of the tensor with the index of the record that each row comes from: sparse or
        ragged, of integers, two-dimensional, with one value for each row. None: rows are the
        records."""
        return None

    def _make_concrete_decode_function(self) -> Any:
        records = tf.TensorSpec(shape=[None], dtype=tf.string)
        function = tf.function(self.decode_record, input_signature=[records], autograph=False)
        return function.get_concrete_function()

    def save(self, path: str) -> None:
        """The same as save_decoder(self, path)."""
        save_decoder(self, path)


class LoadedDecoder:
    """A decoder from a SavedModel: the interface of a TFGraphRecordDecoder, except for save."""

    def __init__(self, loaded_module: tf.Module) -> None:
        self._decode_fun = loaded_module.decode_fun
        self._record_index_tensor_name = None
        for name in getattr(loaded_module, "signatures", {}):
            if name.startswith(_INDEX_SIGNATURE):
                self._record_index_tensor_name = _not_empty(name.removeprefix(_INDEX_SIGNATURE))
        assert isinstance(self._decode_fun.structured_outputs, dict)
        self._output_type_specs = dict(self._decode_fun.structured_outputs)

    def decode_record(self, record: tf.Tensor) -> dict[str, Any]:
        decoded: dict[str, Any] = self._decode_fun(record)
        return decoded

    def output_type_specs(self) -> dict[str, tf.TypeSpec]:
        return self._output_type_specs

    @property
    def record_index_tensor_name(self) -> str | None:
        return self._record_index_tensor_name


def save_decoder(decoder: TFGraphRecordDecoder, path: str) -> None:
    """Writes a SavedModel into the folder `path`. Raises AssertionError if the tensor of record
    indices is not one of the decoder's."""
    module = tf.Module()
    module.decode_fun = decoder._make_concrete_decode_function()
    signatures = {}
    index_name = decoder.record_index_tensor_name
    if index_name is not None:
        names = decoder.output_type_specs().keys()
        assert _not_empty(index_name) in names, (
            f"Invalid decoder: record_index_tensor_name: {index_name} not in output "
            f"tensors: {names}"
        )
        # The name is part of a signature's name, so that loading it does not run anything.
        function = tf.function(lambda: index_name, input_signature=[])
        signatures[_INDEX_SIGNATURE + index_name] = function.get_concrete_function()
    tf.saved_model.save(module, path, signatures=signatures)


def load_decoder(path: str) -> LoadedDecoder:
    """The decoder in a SavedModel written by save_decoder, ours or tfx_bsl's."""
    module = tf.saved_model.load(path)
    assert hasattr(module, "decode_fun"), "the SavedModel is not a TFGraphRecordDecoder"
    return LoadedDecoder(module)


def _not_empty(name: str) -> str:
    assert name, "Invalid (empty) record_index_tensor_name"
    return name
