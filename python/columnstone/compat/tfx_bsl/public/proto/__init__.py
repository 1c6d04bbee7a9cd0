"""tfx_bsl.public.proto over Columnstone."""
