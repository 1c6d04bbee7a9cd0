"""The implementation of columnstone.beam."""
