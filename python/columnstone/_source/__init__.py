"""Sources: what is opened, and what is read of it."""
