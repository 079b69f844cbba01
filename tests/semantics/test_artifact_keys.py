"""The keys of artifacts: apart for whatever changes a program, one for whatever does not."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from neuron_compile import actions
from neuron_compile.lowering.to_stablehlo import to_stablehlo
from neuron_compile.warmup.collect import Collection
from neuron_compile.warmup.job import Job
from parity import compiled, neuron_only

pytestmark = neuron_only

Keys = list[tuple[str, str, str]]


def jobs_of(function: Any, *args: Any, **options: Any) -> list[Job]:
    """The graphs of one call, as a warm-up collects them: with keys, and nothing compiled."""
    torch._dynamo.reset()
    collection = Collection()
    with collection.collecting():
        compiled(function, options=options or None)(*args)
    return collection.jobs


def keys_of(function: Any, *args: Any, **options: Any) -> Keys:
    """What tells the artifacts of one call apart: the lowering's key, the generator's part."""
    return [
        (job.key, job.target, repr(job.compiler.generator.fingerprint()))
        for job in jobs_of(function, *args, **options)
    ]


X, SQUARE = torch.zeros(3), torch.ones(2, 2)


@contextlib.contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def under(context: Any, function: Any, *args: Any) -> Keys:
    with context:
        return keys_of(function, *args)


Case = tuple[Callable[[], Keys], Callable[[], Keys]]

APART: dict[str, Case] = {
    "number": (lambda: keys_of(lambda x: x + 1.0, X), lambda: keys_of(lambda x: x + 2.0, X)),
    "sign_of_zero": (lambda: keys_of(lambda x: x * 0.0, X), lambda: keys_of(lambda x: x * -0.0, X)),
    "literal": (
        lambda: keys_of(lambda x: x + torch.tensor([1.0, 2.0, 3.0]), X),
        lambda: keys_of(lambda x: x + torch.tensor([1.0, 2.0, 4.0]), X),
    ),
    "filled": (
        lambda: keys_of(lambda x: x + torch.full_like(x, 1.0), X),
        lambda: keys_of(lambda x: x + torch.full_like(x, 2.0), X),
    ),
    "dtype": (
        lambda: keys_of(lambda x: x * 2, torch.ones(3)),
        lambda: keys_of(lambda x: x * 2, torch.ones(3).bfloat16()),
    ),
    "dtype_of_integers": (
        lambda: keys_of(lambda x: x * 2, torch.ones(3).int()),
        lambda: keys_of(lambda x: x * 2, torch.ones(3).long()),
    ),
    "shape": (
        lambda: keys_of(lambda x: x * 2, torch.ones(2, 3)),
        lambda: keys_of(lambda x: x * 2, torch.ones(3, 2)),
    ),
    "dimension": (
        lambda: keys_of(lambda x: x.softmax(0), SQUARE),
        lambda: keys_of(lambda x: x.softmax(1), SQUARE),
    ),
    "attribute": (
        lambda: keys_of(lambda x: F.pad(x, (1, 0)), X),
        lambda: keys_of(lambda x: F.pad(x, (0, 1)), X),
    ),
    "attribute_of_the_library": (
        lambda: keys_of(lambda x: x.sort(descending=False)[0], X),
        lambda: keys_of(lambda x: x.sort(descending=True)[0], X),
    ),
    "dropout_in_training": (
        lambda: keys_of(nn.Dropout(0.5).train(), X),
        lambda: keys_of(nn.Dropout(0.5).eval(), X),
    ),
    "statistics_in_training": (
        lambda: keys_of(nn.BatchNorm1d(2).train(), SQUARE),
        lambda: keys_of(nn.BatchNorm1d(2).eval(), SQUARE),
    ),
    "autocast": (
        lambda: under(torch.autocast("cpu", torch.bfloat16), torch.matmul, SQUARE, SQUARE),
        lambda: keys_of(torch.matmul, SQUARE, SQUARE),
    ),
    "default_dtype": (
        lambda: under(default_dtype(torch.bfloat16), lambda x: x + torch.ones(3), X.half()),
        lambda: keys_of(lambda x: x + torch.ones(3), X.half()),
    ),
    "gradient": (
        lambda: keys_of(lambda x: x.exp(), X.clone().requires_grad_()),
        lambda: keys_of(lambda x: x.exp() * 1, X),
    ),
    "optimization_level": (
        lambda: keys_of(lambda x: x + 1, X),
        lambda: keys_of(lambda x: x + 1, X, optimization_level=1),
    ),
    "bounds_checks": (
        lambda: keys_of(lambda x, i: x[i], X, torch.tensor([1])),
        lambda: keys_of(lambda x, i: x[i], X, torch.tensor([1]), bounds_checks=False),
    ),
    "auto_cast": (
        lambda: keys_of(torch.matmul, SQUARE, SQUARE),
        lambda: keys_of(torch.matmul, SQUARE, SQUARE, auto_cast="matmult"),
    ),
    "target": (
        lambda: keys_of(lambda x: x + 1, X, target="trn1"),
        lambda: keys_of(lambda x: x + 1, X, target="trn2"),
    ),
    "model_type": (
        lambda: keys_of(lambda x: x + 1, X, target="trn2"),
        lambda: keys_of(lambda x: x + 1, X, target="trn2", model_type="transformer"),
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def known_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys for devices are made without neuronx-cc where its version is given."""
    monkeypatch.setenv("NEURON_COMPILE_CC_VERSION", "2.27.0")


@pytest.mark.parametrize("name", APART)
def test_what_changes_the_program_changes_the_key(name: str) -> None:
    one, other = APART[name]
    first, second = one(), other()
    assert first == one(), "the same twice"
    assert set(first).isdisjoint(second)


@pytest.mark.parametrize(
    ("variable", "values"),
    [
        ("NEURON_CC_FLAGS", ("-O1", "-O3")),
        ("NEURON_COMPILE_CC_VERSION", ("2.27.0", "2.28.0")),
        ("XLA_FLAGS", ("--xla_cpu_enable_fast_math=false", "--xla_cpu_enable_fast_math=true")),
    ],
)
def test_what_the_environment_tells_a_compiler_changes_the_key(
    monkeypatch: pytest.MonkeyPatch, variable: str, values: tuple[str, str]
) -> None:
    options = {} if variable == "XLA_FLAGS" else {"target": "trn2"}
    found = []
    for value in values:
        monkeypatch.setenv(variable, value)
        found.append(keys_of(lambda x: x + 1, X, **options))
    assert found[0] != found[1]


@pytest.mark.parametrize("tool", ["torch-mlir", "jax", "jaxlib"])
def test_another_version_of_a_tool_changes_the_key(
    monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    before = keys_of(lambda x: x + 1, X)
    (job,) = jobs_of(lambda x: x + 1, X)
    assert job.prepared is not None
    program = job.prepared.imported.program
    installed = metadata.version
    monkeypatch.setattr(
        metadata, "version", lambda name: "0.0" if name == tool else installed(name)
    )
    actions.lowering_tools.cache_clear()
    try:
        after = dict(actions.lower_key(program))
    finally:
        monkeypatch.undo()
        actions.lowering_tools.cache_clear()
    assert after[f"tool {tool}"] == b"0.0"
    assert after != dict(actions.lower_key(program))
    assert keys_of(lambda x: x + 1, X) == before


def function_at(line: int) -> Any:
    """A function of one meaning, whose names, file and lines follow `line`."""
    values: dict[str, Any] = {}
    padding, name = "\n" * line, f"f{line}"
    source = f"{padding}def {name}(x{line}, w{line}): return (x{line} / w{line}).relu() + 1"
    exec(compile(source, f"/somewhere/{name}.py", "exec"), values)
    return values[name]


def test_names_places_and_values_do_not_change_the_key() -> None:
    one = keys_of(function_at(1), torch.ones(2, 2), torch.ones(2, 2))
    assert keys_of(function_at(40), torch.zeros(2, 2), torch.randn(2, 2)) == one
    options: dict[str, Any] = {
        "model_name": "other", "workers": 1, "time_limit": 9.0, "memory_limit": "9GB",
    }  # fmt: skip
    for name, value in options.items():
        found = keys_of(function_at(1), torch.ones(2, 2), torch.ones(2, 2), **{name: value})
        assert found == one, name


def test_classes_and_weights_of_a_model_do_not_change_the_key() -> None:
    class Other(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.another_name = nn.Linear(2, 2)

        def forward(self, given: Tensor) -> Any:
            return self.another_name(given)

    assert keys_of(Other(), SQUARE) == keys_of(nn.Linear(2, 2), SQUARE)


PROGRAM = """
{lines}
import torch
{name} = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.1), torch.nn.GELU())
torch.compile({name}, backend="neuron", dynamic=False)(torch.ones(2, 3))
"""


@pytest.mark.slow
@pytest.mark.multiprocess
def test_ranks_machines_folders_and_seeds_of_hashes_do_not_change_the_key(tmp_path: Path) -> None:
    started = []
    for rank in range(2):
        folder = tmp_path / f"home of {rank}"
        folder.mkdir()
        script = folder / f"train{rank}.py"
        script.write_text(PROGRAM.format(name=f"model{rank}", lines="\n" * rank))
        environment = {
            **os.environ, "PYTHONHASHSEED": str(7 + rank), "RANK": str(rank), "TZ": f"UTC{rank}",
            "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "HOME": str(folder),
            "HOSTNAME": f"host{rank}", "NEURON_COMPILE_CACHE_DIR": str(folder / "cache"),
        }  # fmt: skip
        started.append(
            subprocess.Popen(
                [str(Path(sys.executable).with_name("neuron-compile")), "key", str(script)],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
    first, second = (process.communicate(timeout=120)[0] for process in started)
    assert [process.returncode for process in started] == [0, 0]
    assert first == second
    assert [len(line.split()[0]) for line in first.splitlines()] == [64, 64]


def fixed(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.sin() * torch.tensor([0.5, -2.0]), x.sort(descending=True)[0]


def test_program_of_a_fixed_function_is_the_same_for_ever() -> None:
    """Golden: where this changes, what was compiled so is compiled anew, on every machine."""
    (job,) = jobs_of(fixed, torch.ones(3, 2))
    assert job.prepared is not None
    program = job.prepared.imported.program
    blobs = actions.encode_torch_program(program)
    text = b"\n".join(blobs[name] for name in sorted(blobs))
    assert hashlib.sha256(text).hexdigest() == (
        "1f4a111c18f6a07b797cf7e5ee14e2f60129da8d7649a5cd8b0297fd17d2d27a"
    )
    assert to_stablehlo(program).digest == (
        "407933330efeeecb3341089f94c9d8489eb280c626ae5c43ed1539eb2767450f"
    )
