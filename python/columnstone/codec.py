"""Bytes in memory to record batches and back: a decoder and an encoder per payload and format,
and the writer of TFRecord files."""

from __future__ import annotations

from ._api.memory import (
    ArrowDecoder,
    ArrowEncoder,
    CsvDecoder,
    CsvEncoder,
    JsonDecoder,
    JsonEncoder,
    ParquetDecoder,
    ParquetEncoder,
    RawDecoder,
    RawEncoder,
)
from ._decode.example import ExampleDecoder, ExampleEncoder
from ._decode.sequence import SequenceExampleDecoder, SequenceExampleEncoder
from ._message.decoder import MessageDecoder
from ._message.encoder import MessageEncoder
from ._sink.writer import TFRecordWriter

__all__ = [
    "ArrowDecoder",
    "ArrowEncoder",
    "CsvDecoder",
    "CsvEncoder",
    "ExampleDecoder",
    "ExampleEncoder",
    "JsonDecoder",
    "JsonEncoder",
    "MessageDecoder",
    "MessageEncoder",
    "ParquetDecoder",
    "ParquetEncoder",
    "RawDecoder",
    "RawEncoder",
    "SequenceExampleDecoder",
    "SequenceExampleEncoder",
    "TFRecordWriter",
]
