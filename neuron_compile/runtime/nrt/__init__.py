"""Device NEFFs run by libnrt, the Neuron runtime, called through ctypes."""
