"""FX passes that bring a graph into the form the importer and Torch-MLIR handle rightly."""
