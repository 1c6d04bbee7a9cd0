"""What the engines share."""
