"""tfx_bsl.public.tfxio over Columnstone."""
