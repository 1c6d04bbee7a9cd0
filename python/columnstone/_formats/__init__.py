"""Formats implemented in Python, and the options of all formats."""
