"""Serialized tf.Examples and tf.SequenceExamples as batches, and back."""
