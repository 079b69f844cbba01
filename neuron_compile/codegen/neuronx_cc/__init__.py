"""StableHLO to device NEFFs, by AWS's compiler neuronx-cc."""
