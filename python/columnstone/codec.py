"""Bytes in memory to record batches and back: what `columnstone.decoder` and `columnstone.encoder`
make, and the writer of TFRecord files."""

from __future__ import annotations

from ._api.codec import Decoder, Encoder
from ._sink.writer import TFRecordWriter

__all__ = ["Decoder", "Encoder", "TFRecordWriter"]
