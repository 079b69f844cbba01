"""StableHLO functions, traced from JAX, for operators that Torch-MLIR lacks or gets wrong."""
