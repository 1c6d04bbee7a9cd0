"""Parquet, read and written by pyarrow."""
