"""The package of tfx_bsl's compiled module, which pickles of its sketches refer to."""
