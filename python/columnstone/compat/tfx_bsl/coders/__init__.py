"""tfx_bsl.coders over Columnstone."""
