"""tfx_bsl.tfxio over Columnstone."""
