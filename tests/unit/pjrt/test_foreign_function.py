"""Calls of Python from a program that XLA compiled."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from neuron_compile import ExecutionError
from neuron_compile.pjrt.client import client, devices
from neuron_compile.pjrt.compile_options import compile_options
from neuron_compile.pjrt.foreign_function import BufferView, register, take_failure
from neuron_compile.runtime.pjrt_executable import PjrtExecutable

NAME = "test_foreign_function"
PROGRAM = f"""
func.func @main(%x: tensor<2x3xf32>, %y: tensor<i32>) -> tensor<2x3xf32> {{
  %r = stablehlo.custom_call @{NAME}(%x, %y) {{api_version = 4 : i32,
    backend_config = {{description = "times"}}}} : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}}
"""
ELEMENTS: dict[int, Any] = {11: np.float32, 4: np.int32}
_seen: list[Any] = []


def _array(view: BufferView) -> np.ndarray[Any, Any]:
    size = 4 * int(np.prod(view.shape))
    memory = (ctypes.c_uint8 * size).from_address(view.address)
    array: np.ndarray[Any, Any] = np.ctypeslib.as_array(memory).view(ELEMENTS[view.element])
    return array.reshape(view.shape)


def _times(
    arguments: Sequence[BufferView], results: Sequence[BufferView], description: str
) -> None:
    _seen.append((description, [view.shape for view in (*arguments, *results)]))
    x, y = map(_array, arguments)
    if y == 0:
        raise ZeroDivisionError("no zero, please")
    _array(results[0])[:] = x * y


def run(y: int) -> np.ndarray[Any, Any]:
    if not _seen:
        register(NAME, _times)
    compiled = client().compile_and_load(PROGRAM.encode(), devices(), compile_options(2))
    inputs = [torch.from_numpy(X), torch.tensor(y, dtype=torch.int32)]
    return PjrtExecutable(bytes(compiled.serialize())).execute(inputs)[0].numpy()


X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_buffers_and_description_arrive_and_a_failure_is_the_programs() -> None:
    assert np.array_equal(run(3), X * 3)
    assert _seen == [("times", [(2, 3), (), (2, 3)])]
    with pytest.raises(ExecutionError, match=f"{NAME}: ZeroDivisionError: no zero") as error:
        run(0)
    assert isinstance(error.value.__cause__, ZeroDivisionError)
    assert take_failure() is None
    assert np.array_equal(run(2), X * 2)
