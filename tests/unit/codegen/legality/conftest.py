"""Programs from text, and both forms of a program run on the host."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from jaxlib import _jax, xla_client
from jaxlib.mlir import ir

from neuron_compile.codegen.legality.device import Device, device_of
from neuron_compile.codegen.legality.legalize import Legalized, legalize
from neuron_compile.codegen.legality.program_module import open_context, write_module

Arrays = Sequence[np.ndarray[Any, Any]]


@pytest.fixture(scope="session")
def program() -> Callable[[str], bytes]:
    """The portable artifact of a program's text; `#12` at a line's end is its node number."""

    def make(text: str) -> bytes:
        located = re.sub(r"#(\d+)$", r'loc("n\1")', text, flags=re.MULTILINE)
        return write_module(ir.Module.parse(located, open_context()))

    return make


@pytest.fixture(scope="session")
def client() -> Any:
    return xla_client.make_cpu_client(asynchronous=False)


@pytest.fixture(scope="session")
def run(client: Any) -> Callable[[bytes, Arrays], list[np.ndarray[Any, Any]]]:
    """Compile a program for the host and run it on the arrays."""
    device = client.local_devices()[0]

    def execute(artifact: bytes, inputs: Arrays) -> list[np.ndarray[Any, Any]]:
        executable = client.compile_and_load(
            artifact, xla_client.DeviceList((device,)), xla_client.CompileOptions()
        )
        buffers = [
            _jax.dlpack_managed_tensor_to_buffer(np.copy(array).__dlpack__(), device, None)
            for array in inputs
        ]
        return [np.array(output) for output in executable.execute(buffers)]

    return execute


@pytest.fixture(scope="session")
def check_rewrite(program: Any, run: Any) -> Callable[..., Legalized]:
    """Legalize a program's text, run both forms on the host, and compare their results.

    The program must have needed the rewrite of `code` at node 7, become legal, and give equal
    results: to the bit, unless a relative tolerance is given.
    """

    def check(
        text: str,
        inputs: Arrays,
        code: str,
        *,
        rtol: float | None = None,
        device: Device | None = None,
    ) -> Legalized:
        before = program(text)
        after = legalize(before, device or device_of("trn2"))
        assert code in {done.code for done in after.rewritten}
        assert all(done.nodes == (7,) for done in after.rewritten if done.code == code)
        assert after.refusals == ()
        for expected, found in zip(run(before, inputs), run(after.stablehlo, inputs), strict=True):
            assert found.dtype == expected.dtype
            if rtol is None:
                np.testing.assert_array_equal(found, expected)
            else:
                np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)
        return after

    return check
