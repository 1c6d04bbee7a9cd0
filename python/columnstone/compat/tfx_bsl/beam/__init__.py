"""tfx_bsl.beam over Columnstone."""

from .pickle_helpers import dill, fix_code_type_pickling, types

__all__ = ["dill", "fix_code_type_pickling", "types"]
