"""tfx_bsl.public over Columnstone."""
