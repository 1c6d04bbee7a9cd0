"""The implementation of columnstone.ray."""
