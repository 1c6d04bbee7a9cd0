"""The implementation of columnstone.dask."""
