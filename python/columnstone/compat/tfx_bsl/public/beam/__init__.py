"""tfx_bsl.public.beam over Columnstone."""
