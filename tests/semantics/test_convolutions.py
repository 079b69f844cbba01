"""Convolutions large enough for ATen's kernels, which run inside the program."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from neuron_compile import ExecutionError
from neuron_compile.assembly import cache_for
from neuron_compile.codegen import call_convolution
from neuron_compile.pjrt import host_kernels
from neuron_compile.pjrt.foreign_function import BufferView
from neuron_compile.pjrt.host_convolution import CONVOLUTION, HostConvolution
from neuron_compile.runtime import aten_convolution as aten_convolution_module
from neuron_compile.runtime.aten_convolution import aten_convolution
from neuron_compile.runtime.host_threads import with_callers_threads
from neuron_compile.runtime.load import load
from neuron_compile.runtime.pjrt_executable import PjrtExecutable
from neuron_compile.settings import read_settings

Roles = Counter[str]


@pytest.fixture(name="roles")
def counted_calls(monkeypatch: pytest.MonkeyPatch) -> Roles:
    """Convolutions of any size are called; how often for each role."""
    roles: Roles = Counter()

    def counting(
        arguments: Sequence[BufferView], results: Sequence[BufferView], description: str
    ) -> None:
        roles[HostConvolution.from_json(description).role] += 1
        aten_convolution(arguments, results, description)

    monkeypatch.setattr(call_convolution, "_LEAST_FLOPS", 0)
    monkeypatch.setitem(host_kernels._functions, CONVOLUTION, counting)
    return roles


def compiled(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return torch.compile(function, backend="neuron", dynamic=False)


def check(function: Callable[..., Tensor], *shapes: tuple[int, ...]) -> None:
    """Result and all gradients as in eager."""
    values = []
    start = [torch.randn(shape) for shape in shapes]
    for run in (function, compiled(function)):
        inputs = [tensor.clone().requires_grad_() for tensor in start]
        result = run(*inputs)
        weights = torch.linspace(-1, 1, result.numel()).reshape(result.shape)
        values.append((result.detach(), *torch.autograd.grad(result, inputs, weights)))
    torch.testing.assert_close(values[1], values[0], rtol=1e-5, atol=2e-5)


IMAGE = (2, 4, 19, 17)
GEOMETRIES: list[tuple[dict[str, Any], int]] = [
    ({"padding": 1}, 3),
    ({"stride": 2, "padding": 1}, 3),
    ({"stride": 2, "padding": 1, "groups": 2}, 3),
    ({"padding": 1, "groups": 4}, 3),
    ({"stride": 3, "dilation": 2}, 3),
    ({"padding": 2, "dilation": 2, "groups": 2}, 3),
    ({"stride": 2}, 1),
    ({"stride": (2, 1), "padding": (0, 2), "dilation": (1, 2)}, 2),
]


@pytest.mark.parametrize(("geometry", "size"), GEOMETRIES)
def test_plain_ones(roles: Roles, geometry: dict[str, Any], size: int) -> None:
    kernel = (8, 4 // geometry.get("groups", 1), size, size)
    check(lambda x, w: F.conv2d(x, w, **geometry), IMAGE, kernel)
    assert roles == {"result": 1, "data": 1, "kernel": 1}


@pytest.mark.parametrize(
    ("geometry", "size"), [(g, size) for g, size in GEOMETRIES if "padding" in g or size > 1]
)
def test_transposed_ones(roles: Roles, geometry: dict[str, Any], size: int) -> None:
    kernel = (4, 8 // geometry.get("groups", 1), size, size)
    check(lambda x, w: F.conv_transpose2d(x, w, **geometry), IMAGE, kernel)
    assert sum(roles.values()) >= 2
    assert set(roles) <= {"result", "data", "kernel"}


def test_other_ranks_and_layouts(roles: Roles) -> None:
    check(lambda x, w: F.conv1d(x, w, stride=2, padding=2), (2, 4, 30), (8, 4, 5))
    check(lambda x, w: F.conv3d(x, w, stride=2, padding=1), (2, 4, 9, 8, 7), (8, 4, 3, 3, 3))
    check(
        lambda x, w: F.conv2d(x.to(memory_format=torch.channels_last), w, padding=1),
        *(IMAGE, (8, 4, 3, 3)),
    )
    assert roles == {"result": 3, "data": 3, "kernel": 3}


def test_a_kernel_as_large_as_the_image(roles: Roles) -> None:
    check(lambda x, w: F.conv2d(x, w), IMAGE, (8, 4, 19, 17))
    assert roles


def test_the_callers_autocast_and_modes_are_not_seen(roles: Roles) -> None:
    seen: list[str] = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    function = compiled(lambda x, w: F.conv2d(x, w, padding=1))
    x, w = torch.randn(IMAGE), torch.randn(8, 4, 3, 3)
    expected = function(x, w)
    program = _executable_of(function, x, w)
    roles.clear()
    mode = Mode()  # type: ignore[no-untyped-call]
    with torch.autocast("cpu", torch.bfloat16), mode, torch.inference_mode():
        (result,) = program.execute([x, w])
    assert roles == {"result": 1}
    assert result.dtype == torch.float32
    assert torch.equal(result, expected)
    assert not any("convolution" in name for name in seen)


def test_threads_of_the_caller_are_used(roles: Roles, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []

    @contextmanager
    def noting() -> Iterator[None]:
        with with_callers_threads():
            used.append(torch.get_num_threads())
            yield

    run = host_kernels._functions[CONVOLUTION]

    def elsewhere(*views: Any) -> None:
        # On another thread than the caller's, as XLA's own are.
        thread = threading.Thread(target=run, args=views)
        thread.start()
        thread.join()

    monkeypatch.setattr(aten_convolution_module, "with_callers_threads", noting)
    monkeypatch.setitem(host_kernels._functions, CONVOLUTION, elsewhere)
    function = compiled(lambda x, w: F.conv2d(F.conv2d(x, w, padding=1), w, padding=1))
    before = torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            function(torch.randn(IMAGE), torch.randn(4, 4, 3, 3))
    finally:
        torch.set_num_threads(before)
    assert used == [1, 1, 3, 3]
    assert roles == {"result": 4}


def test_several_threads_at_once(roles: Roles) -> None:
    function = compiled(lambda x, w: F.conv2d(x, w, padding=1).relu())
    w = torch.randn(8, 4, 3, 3)
    inputs = [torch.randn(IMAGE) for _ in range(4)]
    function(inputs[0], w)
    failures: list[int] = []

    def run(number: int) -> None:
        for _ in range(20):
            x = inputs[number]
            if not torch.allclose(function(x, w), F.conv2d(x, w, padding=1).relu(), atol=1e-5):
                failures.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == []
    assert roles["result"] == 81


@pytest.mark.parametrize(
    ("raised", "seen"), [(MemoryError("no room"), ExecutionError), (KeyboardInterrupt(), None)]
)
def test_an_exception_inside_reaches_the_caller(
    roles: Roles,
    monkeypatch: pytest.MonkeyPatch,
    raised: BaseException,
    seen: type[BaseException] | None,
) -> None:
    function = compiled(lambda x, w: F.conv2d(x, w, padding=1))
    x, w = torch.randn(IMAGE), torch.randn(8, 4, 3, 3)
    expected = function(x, w)

    def failing(*_: Any) -> None:
        raise raised

    with monkeypatch.context() as patch:
        patch.setitem(host_kernels._functions, CONVOLUTION, failing)
        with pytest.raises(seen or KeyboardInterrupt) as error:
            function(x, w)
    if seen:
        assert "no room" in str(error.value)
        assert error.value.__cause__ is raised
    assert torch.equal(function(x, w), expected)


FORKING = """
import os
import torch
from torch.nn import functional as F

def step(x, w):
    return F.conv2d(x, w, padding=1).cumsum(1)

torch.set_num_threads(2)
x, w = torch.randn(8, 32, 32, 32), torch.randn(32, 32, 3, 3)
function = torch.compile(step, backend="neuron", dynamic=False)
expected = function(x, w)
child = os.fork()
if child == 0:
    result = function(x, w)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # in eager, the child would wait
    os._exit(0 if torch.allclose(result, expected, atol=1e-4) and threads == 2 else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_child_does_not_wait_for_threads_that_it_does_not_have() -> None:
    run = subprocess.run(
        [sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.strip() == "0"


SCRIPT = """
import torch
from neuron_compile.pjrt import host_kernels

def step(x, w):
    return torch.nn.functional.conv2d(x, w, stride=2, padding=1).square().sum()

torch.manual_seed(0)
x, w = torch.randn(4, 32, 32, 32), torch.randn(32, 32, 3, 3)
results = []
for run in (step, torch.compile(step, backend="neuron", dynamic=False)):
    kernel = w.clone().requires_grad_()
    run(x, kernel).backward()
    results.append(kernel.grad)
torch.testing.assert_close(results[1], results[0], rtol=1e-4, atol=1e-3)
print(sorted(host_kernels._registered))
"""


@pytest.mark.slow
def test_compiled_by_a_worker_and_loaded_by_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NEURON_COMPILE_WORKERS")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    for is_warm in (False, True):
        monkeypatch.setenv("NEURON_COMPILE_REQUIRE_CACHE", "1" if is_warm else "0")
        run = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, timeout=120, check=True
        )
        assert CONVOLUTION in run.stdout


def _executable_of(function: Any, x: Tensor, w: Tensor) -> PjrtExecutable:
    """A loaded executable, called without Dynamo, which refuses to run under foreign modes."""

    function(x, w)
    store = cache_for(read_settings())
    blobs = [store.read(entry) for entry in store.entries()]
    executable = load(next(found for found in blobs if found is not None and "neff" in found))
    assert isinstance(executable, PjrtExecutable)
    return executable
