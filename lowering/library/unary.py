"""Functions of one number, real or complex: low precision is computed in float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy import special

from neuron_compile.lowering.library.precision import (
    float_dtype,
    is_complex,
    is_float,
    widen,
)


def _of_float(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def body(self: Any) -> Any:
        return function(widen(self.astype(float_dtype(self.dtype))))

    return body


exp = _of_float(jnp.exp)
exp2 = _of_float(jnp.exp2)
expm1 = _of_float(jnp.expm1)
log = _of_float(jnp.log)
log2 = _of_float(jnp.log2)
log10 = _of_float(jnp.log10)
log1p = _of_float(jnp.log1p)
sqrt = _of_float(jnp.sqrt)
rsqrt = _of_float(lambda x: 1 / jnp.sqrt(x) if is_complex(x) else lax.rsqrt(x))
sin = _of_float(jnp.sin)
cos = _of_float(jnp.cos)
tan = _of_float(jnp.tan)
sinh = _of_float(jnp.sinh)
cosh = _of_float(jnp.cosh)
tanh = _of_float(jnp.tanh)
asin = _of_float(jnp.arcsin)
acos = _of_float(jnp.arccos)
atan = _of_float(jnp.arctan)
asinh = _of_float(jnp.arcsinh)
acosh = _of_float(jnp.arccosh)
atanh = _of_float(jnp.arctanh)
sigmoid = _of_float(lambda x: 1 / (1 + jnp.exp(-x)) if is_complex(x) else jax.nn.sigmoid(x))
silu = _of_float(lambda x: x * sigmoid(x))
reciprocal = _of_float(lambda x: 1 / x)
sinc = _of_float(jnp.sinc)
erf = _of_float(lax.erf)
erfc = _of_float(lax.erfc)
erfinv = _of_float(lax.erf_inv)
lgamma = _of_float(lax.lgamma)
digamma = _of_float(
    # PyTorch gives the limit from the sign of zero, and NaN at the other poles.
    lambda x: jnp.where(x == 0, jnp.copysign(jnp.inf, -x), special.digamma(x))
)
entr = _of_float(lambda x: jnp.where(x < 0, -jnp.inf, jnp.where(x == 0, 0, -x * jnp.log(x))))


def neg(self: Any) -> Any:
    """`aten.neg`."""
    return -self


def absolute(self: Any) -> Any:
    """`aten.abs`: the modulus of a complex number."""
    return jnp.abs(self)


def square(self: Any) -> Any:
    """`aten.square`."""
    return self * self


def sign(self: Any) -> Any:
    """`aten.sign`: 0.0 for NaN and for -0.0."""
    if self.dtype == jnp.bool_:
        return self
    has_sign = (self < 0) | (self > 0)
    return jnp.where(has_sign, jnp.sign(self), 0) if is_float(self) else jnp.sign(self)


def sgn(self: Any) -> Any:
    """`aten.sgn`: a complex number divided by its modulus."""
    if not is_complex(self):
        return sign(self)
    modulus = jnp.abs(self)
    return jnp.where(modulus == 0, 0, self / jnp.where(modulus == 0, 1, modulus))


def angle(self: Any) -> Any:
    """`aten.angle`: pi for negative real numbers, NaN for NaN."""
    if is_complex(self):
        return jnp.angle(self)
    array = widen(self.astype(float_dtype(self.dtype)))
    return jnp.where(array != array, array, jnp.where(array < 0, jnp.pi, 0.0))


def isnan(self: Any) -> Any:
    """`aten.isnan`."""
    return self != self


def isinf(self: Any) -> Any:
    """`aten.isinf`."""
    return jnp.isinf(self)


def isfinite(self: Any) -> Any:
    """`aten.isfinite`."""
    return jnp.isfinite(self)


def frexp(self: Any) -> tuple[Any, Any]:
    """`aten.frexp`: mantissa in [0.5, 1) and int32 exponent."""
    if self.dtype == jnp.float64:
        mantissa, exponent = jnp.frexp(self)
        return mantissa, exponent
    # In float64 a subnormal float32 is a normal number. It is made from its bits, since XLA's CPU
    # code reads subnormal numbers as 0.
    bits = lax.bitcast_convert_type(self.astype(jnp.float32), jnp.int32)
    fraction = jnp.copysign((bits & 0x7FFFFF).astype(jnp.float64) * 2.0**-149, self)
    is_subnormal = (bits & 0x7F800000) == 0
    mantissa, exponent = jnp.frexp(jnp.where(is_subnormal, fraction, self.astype(jnp.float64)))
    return mantissa, exponent


def floor(self: Any) -> Any:
    """`aten.floor`."""
    return jnp.floor(self) if is_float(self) else self


def ceil(self: Any) -> Any:
    """`aten.ceil`."""
    return jnp.ceil(self) if is_float(self) else self


def trunc(self: Any) -> Any:
    """`aten.trunc`."""
    return jnp.trunc(self) if is_float(self) else self


def round(self: Any, *, decimals: int = 0) -> Any:
    """`aten.round`: halves to even."""
    if not is_float(self):
        return self
    array = widen(self)
    if decimals == 0:
        return jnp.round(array)
    scale = 10.0 ** abs(decimals)
    return jnp.round(array * scale) / scale if decimals > 0 else jnp.round(array / scale) * scale
