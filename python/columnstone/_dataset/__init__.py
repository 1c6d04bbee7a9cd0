"""Batches for training: shuffled, divided, resumed."""
