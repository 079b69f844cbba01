"""The JAX settings that bodies are traced under, whatever the user's process has set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import jax


@contextmanager
def pinned_settings() -> Iterator[None]:
    """64-bit types, full-precision products, standard promotion; thread-local, undone at the end.

    Without it the user's `jax.config` or `JAX_*` variables would change a body's numbers.
    """
    with ExitStack() as stack:
        for setting in (
            jax.enable_x64(True),
            jax.default_matmul_precision("highest"),
            jax.numpy_dtype_promotion("standard"),
            jax.numpy_rank_promotion("allow"),
            jax.threefry_partitionable(True),
            jax.default_prng_impl("threefry2x32"),
            jax.debug_nans(False),
            jax.debug_infs(False),
            jax.check_tracer_leaks(False),
            jax.disable_jit(False),
        ):
            stack.enter_context(setting)
        yield
