"""What columnstone.spark is made of."""
