"""Conversion of bytes in memory to record batches and back: the classes that `columnstone.decoder`
and `columnstone.encoder` create, and the writer of TFRecord files."""

from __future__ import annotations

from ._api.codec import Decoder, Encoder
from ._sink.writer import TFRecordWriter

__all__ = ["Decoder", "Encoder", "TFRecordWriter"]
