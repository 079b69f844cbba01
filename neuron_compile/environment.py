"""Whether the installed packages are those that this release was made for."""

from __future__ import annotations

import functools
from importlib import metadata
from typing import Final

from neuron_compile.errors import EnvironmentMismatchError

# Package -> versions that work, as a prefix. The compiler's interfaces have no stable API, so the
# releases are pinned together.
SUPPORTED: Final = {
    "torch": "2.13.",
    "torch-mlir": "20261001",
    "jax": "0.10.2",
    "jaxlib": "0.10.2",
}


def mismatches() -> dict[str, str]:
    """Packages that are missing (`"not installed"`) or of another version than supported."""
    found = {name: installed_version(name) for name in SUPPORTED}
    return {
        name: version or "not installed"
        for name, version in found.items()
        if version is None or not f"{version}.".startswith(SUPPORTED[name])
    }


def installed_version(package: str) -> str | None:
    """The version of an installed distribution without its local part (`+cpu`), or None."""
    try:
        return metadata.version(package).partition("+")[0]
    except metadata.PackageNotFoundError:
        return None


@functools.cache
def check_environment() -> None:
    """Raise `EnvironmentMismatchError`, with what to install, if a package does not fit."""
    wrong = mismatches()
    if wrong:
        pins = " ".join(
            f"'{name}=={SUPPORTED[name]}{'*' if SUPPORTED[name].endswith('.') else ''}'"
            for name in SUPPORTED
        )
        raise EnvironmentMismatchError(
            f"{len(wrong)} installed package{'s do' if len(wrong) > 1 else ' does'} not fit this "
            "release of neuron-compile",
            where=[f"{name} {version}" for name, version in wrong.items()],
            why="Torch-MLIR and XLA are used through interfaces that change between releases.",
            hint=f"pip install {pins}",
        )
