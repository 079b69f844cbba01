from __future__ import annotations

import pytest
import torch

from neuron_compile.pjrt.foreign_function import BufferView
from neuron_compile.runtime.host_tensor import host_tensor


@pytest.mark.parametrize(
    ("element", "dtype"), [(1, torch.bool), (5, torch.int64), (15, torch.complex64)]
)
def test_it_is_the_memory_itself(element: int, dtype: torch.dtype) -> None:
    memory = torch.arange(6).to(dtype).reshape(2, 3)
    tensor = host_tensor(BufferView(memory.data_ptr(), element, (2, 3)))
    assert torch.equal(tensor, memory)
    tensor.zero_()
    assert not memory.any()


def test_an_empty_one_needs_no_memory() -> None:
    assert host_tensor(BufferView(0, 11, (0, 3))).shape == (0, 3)


def test_an_unknown_element_type_is_refused() -> None:
    with pytest.raises(TypeError, match="element type is 19"):
        host_tensor(BufferView(0, 19, (1,)))
