"""The highest layer, which uses all others: open, Source, convert, whole files in memory."""
