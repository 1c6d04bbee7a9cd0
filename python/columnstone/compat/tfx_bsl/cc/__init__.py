"""Where tfx_bsl has its compiled module, which pickles of its sketches name."""
