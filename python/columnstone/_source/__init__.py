"""Sources: opened inputs, and the ways to read them."""
