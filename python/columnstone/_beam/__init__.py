"""What columnstone.beam is made of."""
