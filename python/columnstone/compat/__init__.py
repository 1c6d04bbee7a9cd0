"""Other packages' names over Columnstone: `tfx_bsl`."""
