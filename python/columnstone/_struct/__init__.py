"""Structured tensors: nested data as one tensor."""
