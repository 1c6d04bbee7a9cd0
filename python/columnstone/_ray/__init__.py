"""What columnstone.ray is made of."""
