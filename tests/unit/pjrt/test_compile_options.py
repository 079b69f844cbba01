"""XLA's options by optimization level."""

from __future__ import annotations

import pytest

from neuron_compile.pjrt.compile_options import compile_flags, compile_options


@pytest.mark.parametrize("level", [1, 2, 3])
def test_options_carry_the_flags_that_enter_the_key(level: int) -> None:
    assert compile_options(level).env_option_overrides == list(compile_flags(level))


@pytest.mark.parametrize("level", [1, 2, 3])
def test_low_precision_is_rounded_after_each_operation_at_every_level(level: int) -> None:
    assert dict(compile_flags(level))["xla_allow_excess_precision"] is False


def test_lowest_level_compiles_with_less_effort() -> None:
    levels = [dict(compile_flags(n))["xla_backend_optimization_level"] for n in (1, 2, 3)]
    assert levels[0] < levels[1] <= levels[2]


def test_other_levels_do_not_exist() -> None:
    with pytest.raises(KeyError):
        compile_flags(0)
