"""Files on remote file systems, by URL."""
