"""Protobuf messages of any type: what describes them, and what decodes and encodes them."""
