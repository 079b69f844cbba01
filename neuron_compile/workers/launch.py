"""How a worker is started: the command, the environment, the descriptors.

A program of its own, started by its module's name: the user's main module is never imported again,
so that scripts need no guard, and nothing is inherited by `fork`.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

WORKER_MODULE: Final = "neuron_compile.workers.worker"

# Without them a worker is of no use; where they are found is where the worker must look.
_PACKAGES: Final = ("neuron_compile", "torch_mlir", "jax", "jaxlib", "numpy", "ml_dtypes", "scipy")
# -X options that would only make the worker's output longer.
_UNWANTED_X: Final = frozenset({"importtime", "showrefcount"})

# Read once by native libraries or by the search for tools: a worker started under other values of
# these would compile other code than its key says.
_DECISIVE: Final = ("XLA_FLAGS", "PATH", "LD_LIBRARY_PATH", "TMPDIR", "JAX_ENABLE_X64")


def decisive_environment() -> tuple[str | None, ...]:
    """The environment as far as it changes what a worker would make."""
    return tuple(map(os.environ.get, _DECISIVE))


def worker_command(module: str) -> list[str]:
    """The command line that runs `module` under this interpreter with its -X options."""
    options = [
        f"-X{name}" if value is True else f"-X{name}={value}"
        for name, value in sys._xoptions.items()
        if name not in _UNWANTED_X
    ]
    optimize = ["-" + "O" * sys.flags.optimize] if sys.flags.optimize else []
    # -P: the current folder holds whatever it holds; a jax.py in it is not ours to import.
    return [sys.executable, "-P", *optimize, *options, "-m", module, str(os.getpid())]


def worker_environment(module: str) -> dict[str, str]:
    """This process's environment, by which the worker finds the packages that this one found."""
    environment = dict(os.environ)
    if sys.flags.ignore_environment:
        for name in [name for name in environment if name.startswith("PYTHON")]:
            del environment[name]
    folders = [*_package_folders(module), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
    # Warnings of the user's own program are errors to its author, not to a compiler.
    environment.pop("PYTHONWARNINGS", None)
    return environment


def start_process(
    command: Sequence[str], environment: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """The process, whose output can be read from `stdout`, and our end of the socket that is its
    standard input. Raises `OSError`.
    """
    ours, theirs = socket.socketpair()
    try:
        process = subprocess.Popen(  # noqa: S603 - this interpreter
            command,
            stdin=theirs.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            bufsize=0,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return process, ours


def _package_folders(module: str) -> list[str]:
    """The entries of `sys.path` in which the packages are found, in its order."""
    found = set()
    for name in {*_PACKAGES, module.partition(".")[0]}:
        spec = _spec_of(name)
        if spec is not None and spec.origin is not None:
            folder = Path(spec.origin).parent
            found.add(folder.parent if spec.submodule_search_locations else folder)
    return [entry for entry in sys.path if Path(entry or ".").absolute() in found]


def _spec_of(name: str) -> importlib.machinery.ModuleSpec | None:
    """Where a package comes from; None of a module that a program has put together itself."""
    try:
        return importlib.util.find_spec(name)
    except ValueError:
        return None
