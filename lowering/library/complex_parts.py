"""Complex numbers and their parts."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.precision import is_complex


def conj(self: Any) -> Any:
    """`aten.conj`, lazy or not, and `aten.conj_physical`."""
    return jnp.conj(self) if is_complex(self) else self


def real(self: Any) -> Any:
    """`aten.real`."""
    return self.real


def imag(self: Any) -> Any:
    """`aten.imag`."""
    return self.imag


def view_as_real(self: Any) -> Any:
    """`aten.view_as_real`: a last dimension of real and imaginary part."""
    return jnp.stack([self.real, self.imag], axis=-1)


def view_as_complex(self: Any) -> Any:
    """`aten.view_as_complex`: of a last dimension of size 2."""
    return lax.complex(self[..., 0], self[..., 1])


def from_parts(real: Any, imag: Any) -> Any:
    """`aten.complex`."""
    return lax.complex(*jnp.broadcast_arrays(real, imag))


def polar(abs: Any, angle: Any) -> Any:
    """`aten.polar`: from modulus and angle."""
    modulus, phase = jnp.broadcast_arrays(abs, angle)
    return lax.complex(modulus * jnp.cos(phase), modulus * jnp.sin(phase))
