"""tfx_bsl.arrow over Columnstone."""
