"""tfx_bsl's compiled module, as far as pickles refer to it."""
