"""tfx_bsl.public.beam over Columnstone."""

from .run_inference import RunInference

__all__ = ["RunInference"]
