"""Outputs: records and batches as files, conversion, files in memory."""
