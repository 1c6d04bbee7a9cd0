"""Batches as tensors and back."""
