"""Conversion of tensors, batches and datasets to numpy, PyTorch, JAX and TensorFlow."""
