"""The product's error classes: one for each next step, all documented."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import neuron_compile
from neuron_compile import NeuronCompileError, NeuronCompileWarning, errors

DOCUMENT = Path(__file__).parents[2] / "docs" / "errors.md"
ERRORS = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, NeuronCompileError)
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_error_is_public_and_has_a_section_in_the_document(error: type) -> None:
    assert getattr(neuron_compile, error.__name__) is error
    if error is not NeuronCompileError:
        assert f"\n## {error.__name__}\n" in DOCUMENT.read_text()


def test_errors_can_be_caught_as_the_built_in_class_they_resemble() -> None:
    assert issubclass(errors.OptionsError, ValueError)
    assert issubclass(errors.EnvironmentMismatchError, ImportError)


def test_every_warning_has_one_category() -> None:
    assert issubclass(errors.Float64Warning, NeuronCompileWarning)
    assert issubclass(NeuronCompileWarning, UserWarning)
