"""tfx_bsl.types over Columnstone."""
