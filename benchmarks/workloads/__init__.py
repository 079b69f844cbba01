"""The models that are measured, a file each or a few of a kind."""
