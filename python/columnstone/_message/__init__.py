"""Protobuf messages of any type: their descriptors, decoding and encoding."""
