"""Lean processes that compile, so that a native crash or a runaway compiler never takes the user's
process down. Must not know: torch, the cache, graphs."""
