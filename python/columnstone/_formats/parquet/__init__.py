"""Parquet, read and written with pyarrow."""
