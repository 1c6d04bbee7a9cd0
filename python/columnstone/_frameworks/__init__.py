"""Tensors, batches and datasets of numpy, PyTorch, JAX and TensorFlow."""
