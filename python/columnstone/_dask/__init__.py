"""What columnstone.dask is made of."""
