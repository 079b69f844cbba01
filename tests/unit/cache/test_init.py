"""The package's public names."""

from __future__ import annotations

import subprocess
import sys

import pytest

import neuron_compile.cache as package


@pytest.mark.parametrize("name", package.__all__)
def test_each_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(package, name).__doc__


def test_every_name_has_one_home() -> None:
    homes = [name for names in package._HOMES.values() for name in names]
    assert sorted(homes) == sorted(package.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Cache'"):
        package.Cache  # noqa: B018 - the look-up itself is tested


def test_importing_the_package_imports_none_of_its_modules() -> None:
    program = (
        "import sys, neuron_compile.cache;"
        "print([name for name in sys.modules if name.startswith('neuron_compile.cache.')])"
    )
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
