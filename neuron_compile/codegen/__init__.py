"""StableHLO programs to NEFFs, one code generator a target."""
