"""LAPACK kernels for XLA:CPU.

Linear algebra in a host program is a custom call into jaxlib's LAPACK kernels. They must be
registered by name before such a program is compiled or loaded, and bound to SciPy's LAPACK before
it runs: an unbound kernel does not fail, it jumps to a null pointer.
"""

from __future__ import annotations

from collections.abc import Iterable

from neuron_compile.cache.forks import Guard

_lock = Guard()
_ready: set[str] = set()


def ensure_lapack(custom_calls: Iterable[str]) -> None:
    """Register and bind the LAPACK kernels if a program has such custom calls. Idempotent."""
    if _ready or not any(name.startswith("lapack_") for name in custom_calls):
        return
    with _lock:
        if _ready:  # by another thread meanwhile
            return
        from jaxlib import lapack, xla_client

        for platform, kernels in lapack.registrations().items():
            for name, kernel, api_version in kernels:
                xla_client.register_custom_call_target(
                    name, kernel, platform=platform, api_version=api_version
                )
        lapack._lapack.initialize()
        _ready.add("lapack")
