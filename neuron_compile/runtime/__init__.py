"""NEFFs to callables over tensors."""
