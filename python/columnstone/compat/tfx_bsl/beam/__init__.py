"""tfx_bsl.beam over Columnstone."""
