"""The implementation of columnstone.spark."""
