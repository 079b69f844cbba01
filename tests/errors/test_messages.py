"""The whole text of every error that a user can bring about, through torch.compile."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from neuron_compile import (
    CodegenError,
    DynamicShapesError,
    ExecutionError,
    NeuronCompileError,
    OptionsError,
    UnsupportedOpError,
)
from neuron_compile.cache import CacheWarning
from neuron_compile.errors import CacheMissError
from neuron_compile.options import CompileOptions

LIBRARY = "neuron_message_tests"


def raised(function: Callable[..., Any], *inputs: Any, **settings: Any) -> BaseException:
    """What backend neuron raised, out of Dynamo's wrapping."""
    compiled = torch.compile(function, **{"backend": "neuron", "dynamic": False, **settings})
    with pytest.raises(Exception) as caught:
        compiled(*inputs)
    return getattr(caught.value, "inner_exception", None) or caught.value


def lines(error: BaseException, kind: type[BaseException]) -> list[str]:
    assert type(error) is kind
    return str(error).splitlines()


def line_of(function: Callable[..., Any], offset: int) -> str:
    return f"{__file__}:{function.__code__.co_firstlineno + offset}"


def add_one(x: Tensor) -> Tensor:
    return x + 1


OPTIONS = "Try:  the options are {}.".format(
    ", ".join(sorted(field.name for field in dataclasses.fields(CompileOptions)))
)
CHECKED = "Why:  backend neuron checks its options so that a misspelt one does not pass unnoticed."


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"fallbak": "eager"}, "fallbak: unknown, did you mean 'fallback'?"),
        ({"zzz": 1}, "zzz: unknown"),
        (
            {"fallback": "egar"},
            "fallback: 'egar' is not one of 'raise', 'eager', did you mean 'eager'?",
        ),
        ({"optimization_level": 9}, "optimization_level: 9 is not one of 1, 2, 3"),
        ({"model_name": 3}, "model_name: 3 is not a string"),
        (
            {"target": "trn9"},
            "target: 'trn9' is not one of 'host', 'trn1', 'trn1n', 'trn2', 'trn3', 'inf2', "
            "did you mean 'trn3'?",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)  # fmt: skip
def test_wrong_option(options: dict[str, Any], problem: str) -> None:
    error = raised(add_one, torch.ones(2), options=options)
    assert lines(error, OptionsError) == [
        "1 option of torch.compile cannot be used",
        f"  {problem}",
        CHECKED,
        OPTIONS,
    ]


def test_wrong_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURON_COMPILE_CACHE_SIZE", "much")
    assert lines(raised(add_one, torch.ones(2)), OptionsError) == [
        "the environment variable NEURON_COMPILE_CACHE_SIZE has a value that cannot be used",
        "  NEURON_COMPILE_CACHE_SIZE=much",
        "Why:  it must be a size such as 500MB or 20GB.",
        "Try:  unset NEURON_COMPILE_CACHE_SIZE or set it to a size such as 500MB or 20GB.",
    ]


def test_toolchain_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    error = raised(add_one, torch.ones(2), options={"target": "trn1"})
    assert isinstance(error, CodegenError)
    assert "neuronx-cc" in error.why
    assert 'options={"target": "host"}' in error.hint


@pytest.fixture
def operators() -> Iterator[None]:
    with torch.library._scoped_library(LIBRARY, "FRAGMENT") as library:
        for name in ("cube", "square"):
            library.define(f"{name}(Tensor x) -> Tensor")
            library.impl(name, lambda x: x * x, "CompositeExplicitAutograd")
            torch.library.register_fake(f"{LIBRARY}::{name}", torch.empty_like, lib=library)
        yield


def unsupported(x: Tensor) -> Any:
    y = torch.ops.neuron_message_tests.cube(x)
    z = y.sin()
    return torch.ops.neuron_message_tests.square(z)


@pytest.mark.usefixtures("operators")
def test_unsupported_operations() -> None:
    error = raised(unsupported, torch.ones(2))
    first, second = line_of(unsupported, 1), line_of(unsupported, 3)
    assert lines(error, UnsupportedOpError) == [
        "2 operations cannot be compiled for neuron (target host)",
        f"  {LIBRARY}.cube.default     {first}   y = torch.ops.neuron_message_tests.cube(x)",
        f"  {LIBRARY}.square.default   {second}   return torch.ops.neuron_message_tests.square(z)",
        "Why:  Torch-MLIR does not know it.",
        "Try:  keep them out of the compiled region with torch.compiler.disable, or pass "
        'options={"fallback": "eager"}.',
    ]
    assert error.__cause__ is not None


def test_dynamic_shapes_asked_for() -> None:
    assert lines(raised(add_one, torch.ones(2, 3), dynamic=True), DynamicShapesError) == [
        "dynamic=True is not supported by backend neuron",
        "  argument x, dimension 0",
        "  argument x, dimension 1",
        "Why:  a program has one shape for each tensor, fixed when it is compiled; every new shape "
        "is compiled anew.",
        "Try:  pass dynamic=False to torch.compile (or leave it unset), and pad or bucket inputs "
        "so that the number of different shapes stays small.",
    ]


def test_dimension_marked_dynamic() -> None:
    x = torch.ones(2, 3)
    torch._dynamo.mark_dynamic(x, 1)
    first, place, *rest = lines(raised(add_one, x), DynamicShapesError)
    assert first == "1 dimension is marked dynamic"
    assert place == "  argument x, dimension 1"
    assert rest[-1].startswith("Try:  remove torch._dynamo.mark_dynamic, and pass dynamic=False")


def select(x: Tensor) -> Tensor:
    return x[x > 0] * 2


def test_size_that_depends_on_data() -> None:
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        error = raised(select, torch.tensor([1.0, -1.0]), fullgraph=True)
    message = lines(error, DynamicShapesError)
    assert message[0] == (
        "1 operation with a result whose size depends on data cannot be compiled for neuron"
    )
    assert f"{line_of(select, 1)}   return x[x > 0] * 2" in message[1]
    assert message[2:] == [
        "Why:  a program has one shape for each tensor, fixed when it is compiled.",
        "Try:  use a form with a fixed size (torch.where for boolean masks, a padded result with a "
        "count), or keep the operation out of the compiled region with torch.compiler.disable.",
    ]


def test_tensor_on_another_device() -> None:
    error = raised(add_one, torch.ones(2, device="meta"))
    assert isinstance(error, NeuronCompileError)
    assert "meta" in error.what
    assert error.why
    assert 'tensor.to("cpu")' in error.hint


def test_float64_where_it_is_refused() -> None:
    error = raised(add_one, torch.ones(2).double(), options={"float64": "error"})
    assert isinstance(error, UnsupportedOpError)
    assert f"aten.add.Tensor   {line_of(add_one, 1)}   return x + 1" in str(error)
    assert "float64" in error.why
    assert error.hint


def test_unwritable_cache_is_a_warning_and_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "cache"
    monkeypatch.setenv("NEURON_COMPILE_CACHE_DIR", str(folder))
    compiled = torch.compile(add_one, backend="neuron", dynamic=False)
    with pytest.warns(CacheWarning) as caught:
        assert compiled(torch.zeros(1)).item() == 1
    (warning,) = caught
    assert str(warning.message) == (
        f"compile cache {folder}: not used: [Errno 20] Not a directory: '{folder}'"
    )


def test_miss_where_a_hit_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURON_COMPILE_REQUIRE_CACHE", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        error = raised(add_one, torch.ones(2))
    message = lines(error, CacheMissError)
    assert message[0].endswith(
        "is not in the cache, and NEURON_COMPILE_REQUIRE_CACHE=1 forbids to compile"
    )
    assert message[-1].startswith("Try:  warm this cache")


def test_index_out_of_range_is_eagers_own_error() -> None:
    def look_up(x: Tensor, i: Tensor) -> Tensor:
        return x[i]

    x, i = torch.ones(3), torch.tensor([5])
    with pytest.raises(IndexError) as eager:
        look_up(x, i)
    error = raised(look_up, x, i)
    assert type(error) is IndexError
    assert "out of" in str(eager.value)
    assert "out of" in str(error)
    assert not isinstance(error, ExecutionError)
