"""Which packages fit, and what is said when one does not."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from neuron_compile import EnvironmentMismatchError, environment

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.fixture(autouse=True)
def forget_the_answer() -> Iterator[None]:
    environment.check_environment.cache_clear()
    yield
    environment.check_environment.cache_clear()


def install(monkeypatch: pytest.MonkeyPatch, **versions: str | None) -> None:
    """Make the packages named appear installed in these versions (`None`: not at all)."""
    wanted = {name.replace("_", "-"): version for name, version in versions.items()}
    installed = metadata.version

    def version(name: str) -> str:
        found = wanted[name] if name in wanted else installed(name)
        if found is None:
            raise metadata.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(metadata, "version", version)


def test_installed_packages_fit() -> None:
    assert environment.mismatches() == {}
    environment.check_environment()


@pytest.mark.parametrize("version", ["2.13.0", "2.13.1+cpu", "2.13.0+cu130", "2.13"])
def test_every_patch_and_build_of_torch_fits(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    install(monkeypatch, torch=version)
    assert environment.mismatches() == {}


@pytest.mark.parametrize("version", ["2.12.1", "2.14.0", "2.130.0", "3.0"])
def test_another_release_of_torch_does_not(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    install(monkeypatch, torch=version)
    assert environment.mismatches() == {"torch": version}


def test_error_lists_every_misfit_and_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, torch="2.14.0+cpu", torch_mlir=None)
    with pytest.raises(EnvironmentMismatchError) as raised:
        environment.check_environment()
    assert str(raised.value).splitlines() == [
        "2 installed packages do not fit this release of neuron-compile",
        "  torch 2.14.0",
        "  torch-mlir not installed",
        "Why:  Torch-MLIR and XLA are used through interfaces that change between releases.",
        "Try:  pip install 'torch==2.13.*' 'torch-mlir==20261001' 'jax==0.10.2' 'jaxlib==0.10.2'",
    ]
    assert isinstance(raised.value, ImportError)


def test_supported_versions_are_those_that_pip_installs() -> None:
    dependencies = tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    pins = dict(re.split("==|~=", pin) for pin in dependencies if re.search("==|~=", pin))
    supported = {
        name: f"{version}0" if version.endswith(".") else version
        for name, version in environment.SUPPORTED.items()
    }
    assert pins == supported
