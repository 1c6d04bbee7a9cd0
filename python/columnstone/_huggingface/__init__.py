"""The implementation of columnstone.huggingface."""
