"""Queries over nested data, and the views that are made of them."""
