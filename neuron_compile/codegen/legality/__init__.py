"""What a Neuron device's compiler refuses, found and where possible mended before it is called."""
