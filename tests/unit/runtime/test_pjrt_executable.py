"""Host executables on PyTorch's memory."""

from __future__ import annotations

import pytest
import torch

from host_programs import artifact
from neuron_compile import ExecutionError
from neuron_compile.artifact.neff import HOST_EXECUTABLE, unpack_neff
from neuron_compile.pjrt import client as pjrt
from neuron_compile.runtime.pjrt_executable import PjrtExecutable


@pytest.fixture(scope="module")
def code() -> bytes:
    return unpack_neff(artifact()["neff"]).members[HOST_EXECUTABLE]


def test_result_is_fresh_memory_and_the_input_is_left_alone(code: bytes) -> None:
    executable = PjrtExecutable(code)
    x = torch.tensor([1.0, 2.0, 3.0])
    (first,) = executable.execute([x])
    (second,) = executable.execute([first])
    assert first.tolist() == [2, 4, 6]
    assert second.tolist() == [4, 8, 12]
    assert x.tolist() == [1, 2, 3]
    assert len({x.data_ptr(), first.data_ptr(), second.data_ptr()}) == 3


def test_result_outlives_the_executable(code: bytes) -> None:
    executable = PjrtExecutable(code)
    (result,) = executable.execute([torch.ones(3)])
    del executable
    assert result.add_(1).tolist() == [3, 3, 3]


def test_memory_that_is_not_aligned_is_read_rightly(code: bytes) -> None:
    x = torch.arange(4.0)[1:]
    assert PjrtExecutable(code).execute([x])[0].tolist() == [2, 4, 6]


def test_new_client_after_a_fork_means_loading_again(
    code: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable = PjrtExecutable(code)
    before = executable._loaded
    monkeypatch.setattr(pjrt, "_generation", pjrt.generation() + 1)
    assert executable.execute([torch.ones(3)])[0].tolist() == [2, 2, 2]
    assert executable._loaded is not before


def test_bytes_that_are_no_executable_are_refused_with_advice() -> None:
    with pytest.raises(ExecutionError) as raised:
        PjrtExecutable(b"not machine code")
    assert raised.value.what == "XLA could not load a host executable"
    assert raised.value.why
    assert "cache clear" in raised.value.hint
