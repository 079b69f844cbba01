"""A library body run on the CPU and compared with the ATen operator it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import ml_dtypes
import numpy as np
import torch
from jaxlib import _jax, xla_client

from neuron_compile.lowering.library.arguments import DType, Operand, encode_arguments
from neuron_compile.lowering.library.link import mlir_context
from neuron_compile.lowering.library.symbol import library_symbol
from neuron_compile.lowering.library.trace import trace
from neuron_compile.lowering.program import LibraryCall, TensorSpec

DROPPED = {"layout", "device", "pin_memory", "memory_format"}


def overload(operator: str) -> Any:
    """The ATen overload called `aten.sort.stable`."""
    target: Any = torch.ops
    for part in operator.split("."):
        target = getattr(target, part)
    return target


def spec(tensor: torch.Tensor) -> TensorSpec:
    return TensorSpec(tuple(tensor.shape), str(tensor.dtype)[6:], tuple(tensor.stride()))


def split_operands(tree: Any, operands: list[torch.Tensor]) -> Any:
    """The tree with tensors replaced by numbered operands, collected into `operands`."""
    if isinstance(tree, torch.Tensor):
        operands.append(tree)
        return Operand(len(operands) - 1)
    if isinstance(tree, torch.dtype):
        return DType(str(tree)[6:])
    if isinstance(tree, list | tuple):
        return [split_operands(item, operands) for item in tree]
    return tree


def library_call(
    operator: str, results: Sequence[torch.Tensor | None], *args: Any, **kwargs: Any
) -> tuple[LibraryCall, list[torch.Tensor]]:
    """The library call of `operator` and its operand tensors."""
    operands: list[torch.Tensor] = []
    positional = split_operands(args, operands)
    keyword = {k: split_operands(v, operands) for k, v in kwargs.items() if k not in DROPPED}
    text = encode_arguments(positional, keyword)
    ins = tuple(spec(tensor) for tensor in operands)
    outs = tuple(None if result is None else spec(result) for result in results)
    return LibraryCall(
        library_symbol(operator, text, ins, outs), operator, text, ins, outs
    ), operands


@cache
def cpu_client() -> Any:
    # LAPACK kernels are registered with XLA by hand, since no JAX backend is initialised.
    from jaxlib import lapack

    for platform, targets in lapack.registrations().items():
        for name, value, version in targets:
            xla_client.register_custom_call_target(
                name, value, platform=platform, api_version=version
            )
    lapack._lapack.initialize()
    return xla_client.make_cpu_client(asynchronous=False)


def execute(text: str, operands: list[torch.Tensor]) -> list[torch.Tensor]:
    """The results of the StableHLO module `text`."""
    client = cpu_client()
    devices = xla_client.DeviceList((client.local_devices()[0],))
    with mlir_context():
        executable = client.compile_and_load(text, devices, xla_client.CompileOptions())
    buffers = [to_buffer(client, tensor) for tensor in operands]
    return [from_numpy(np.asarray(buffer)) for buffer in executable.execute(buffers)]


def to_buffer(client: Any, tensor: torch.Tensor) -> Any:
    # XLA may reuse the memory of an operand, so it gets a copy.
    dense = tensor.detach().resolve_conj().resolve_neg().contiguous().clone()
    capsule = torch._C._to_dlpack(dense)
    return _jax.dlpack_managed_tensor_to_buffer(capsule, client.local_devices()[0], None)


def from_numpy(array: np.ndarray[Any, Any]) -> torch.Tensor:
    array = np.array(array, order="C")
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def run(
    operator: str, results: Sequence[torch.Tensor | None], *args: Any, **kwargs: Any
) -> list[torch.Tensor]:
    """What the library computes; `results` give the declared shapes and dtypes."""
    call, operands = library_call(operator, results, *args, **kwargs)
    return execute(trace(call), operands)


def check(operator: str, *args: Any, same: Any = None, **kwargs: Any) -> None:
    """Assert that the library computes what the ATen overload does, NaN equal.

    `same(expected, actual)` replaces the comparison by `torch.testing.assert_close`.
    """
    expected = overload(operator)(*args, **kwargs)
    wanted = list(expected) if isinstance(expected, list | tuple) else [expected]
    actual = run(operator, wanted, *args, **kwargs)
    present = [tensor for tensor in wanted if tensor is not None]
    if same is not None:
        same(present, actual)
        return
    assert len(actual) == len(present)
    for place, (want, got) in enumerate(zip(present, actual, strict=True)):
        torch.testing.assert_close(
            got,
            want.detach().resolve_conj().resolve_neg().contiguous(),
            equal_nan=True,
            msg=partial(_at_place, operator, place),
        )


def _at_place(operator: str, place: int, text: str) -> str:
    return f"{operator} result {place}: {text}"
