"""Batches for training: shuffling, sharding, resuming."""
