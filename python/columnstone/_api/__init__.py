"""What stands on all other rooms: open, Source, convert, whole files in memory."""
