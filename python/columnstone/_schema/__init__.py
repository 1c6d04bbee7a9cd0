"""The TFMD schema: features, specs, differences, validation of data."""
