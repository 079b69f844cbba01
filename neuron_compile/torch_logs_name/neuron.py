"""A name for `TORCH_LOGS="neuron"`: PyTorch takes a logger's name if a module of it exists.

Looking a module up does not import it, so this one refuses to be imported: code that asks for a
real `neuron` package is to see that there is none. A real one, wherever it is, comes first.
"""

raise ModuleNotFoundError("No module named 'neuron'", name="neuron")
