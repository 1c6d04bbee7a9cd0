"""tfx_bsl.sketches over Columnstone."""
