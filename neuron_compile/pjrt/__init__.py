"""The process's own XLA:CPU client, shared by the host code generator and the host runtime."""
