"""Statistics: what is in the data, and what changed between two of them."""
