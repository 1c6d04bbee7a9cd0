"""What columnstone.huggingface is made of."""
