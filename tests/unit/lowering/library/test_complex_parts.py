from __future__ import annotations

import torch

from unit.lowering.library.against_eager import check

Z = torch.randn(3, 4, dtype=torch.complex64)


def test_parts_and_views() -> None:
    for name in ("conj_physical", "real", "imag", "view_as_real", "_conj", "resolve_conj"):
        check(f"aten.{name}.default", Z)
    check("aten.view_as_complex.default", torch.randn(3, 2))
    check("aten.complex.default", torch.randn(3, 1), torch.randn(2))
    check("aten.polar.default", torch.randn(3), torch.randn(3))
    check("aten.conj_physical.default", torch.randn(3))
