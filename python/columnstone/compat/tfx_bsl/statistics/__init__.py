"""tfx_bsl.statistics over Columnstone."""
