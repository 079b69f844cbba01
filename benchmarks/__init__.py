"""Measures neuron-compile against eager PyTorch, Inductor and bare XLA: `python -m benchmarks`."""
