"""Arrow data: Python's own values as arrays and batches, and operations on them."""
