"""tfx_bsl.public.tfxio over Columnstone: record batches, tensors, and the sources of both."""

from __future__ import annotations

from ...coders.example_coder import RecordBatchToExamplesEncoder
from ...coders.tf_graph_record_decoder import TFGraphRecordDecoder
from ...tfxio.csv_tfxio import BeamRecordCsvTFXIO, CsvTFXIO
from ...tfxio.dataset_options import RecordBatchesOptions, TensorFlowDatasetOptions
from ...tfxio.tensor_adapter import TensorAdapter, TensorAdapterConfig, TensorRepresentations
from ...tfxio.tf_example_record import TFExampleBeamRecord, TFExampleRecord
from ...tfxio.tf_sequence_example_record import TFSequenceExampleBeamRecord, TFSequenceExampleRecord
from ...tfxio.tfxio import TFXIO

__all__ = [
    "TFXIO",
    "BeamRecordCsvTFXIO",
    "CsvTFXIO",
    "RecordBatchToExamplesEncoder",
    "RecordBatchesOptions",
    "TFExampleBeamRecord",
    "TFExampleRecord",
    "TFGraphRecordDecoder",
    "TFSequenceExampleBeamRecord",
    "TFSequenceExampleRecord",
    "TensorAdapter",
    "TensorAdapterConfig",
    "TensorFlowDatasetOptions",
    "TensorRepresentations",
]
