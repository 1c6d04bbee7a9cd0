"""Files behind URLs and file systems."""
