"""Queries over nested data, and views made from them."""
