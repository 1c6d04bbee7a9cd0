"""tfx_bsl.telemetry over Columnstone."""
