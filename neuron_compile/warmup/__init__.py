"""Warming the cache: run a program once to collect its graphs, then compile them side by side."""
