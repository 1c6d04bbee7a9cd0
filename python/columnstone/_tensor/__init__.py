"""Conversion of batches to tensors and back."""
