"""Files that URLs and file systems name."""
