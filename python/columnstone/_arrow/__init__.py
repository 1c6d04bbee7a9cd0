"""Arrow data: Python values as arrays and batches, and operations on them."""
