"""Modules with the names of other packages, implemented with Columnstone: `tfx_bsl`."""
