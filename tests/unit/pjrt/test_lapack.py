"""LAPACK kernels are bound before a program can jump to them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

SCRIPT = """
import sys
from neuron_compile.pjrt.lapack import ensure_lapack
ensure_lapack(["other_kernel"])
assert "jaxlib.lapack" not in sys.modules
ensure_lapack(["lapack_spotrf_ffi"])
ensure_lapack(["lapack_spotrf_ffi"])
assert "jaxlib.lapack" in sys.modules
"""


@pytest.mark.multiprocess
def test_kernels_are_loaded_once_and_only_if_a_program_has_one() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)


def test_program_with_a_kernel_runs() -> None:
    matrix = torch.tensor([[4.0, 2.0], [2.0, 3.0]])

    def factorize(x: torch.Tensor) -> Any:
        return torch.linalg.cholesky_ex(x).L

    factor = torch.compile(factorize, backend="neuron", dynamic=False)(matrix)
    torch.testing.assert_close(factor, torch.linalg.cholesky(matrix))
