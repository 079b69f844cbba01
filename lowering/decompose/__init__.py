"""Operators rewritten into others while AOTAutograd traces."""
