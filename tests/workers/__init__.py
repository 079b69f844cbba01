"""Worker processes that fail in every way, and the user's process that goes on."""
