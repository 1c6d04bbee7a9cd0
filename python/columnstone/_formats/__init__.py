"""Formats that are read and written in Python, and the settings of those that are not."""
