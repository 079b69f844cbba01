"""Warm starts: AOTAutograd's own cache holds what it needs to know of our graphs, so that a process
that finds them compiled does not trace the joint graph again.

Everything torch-private that this takes is in this package. Any failure in it is a fresh compile.
"""
