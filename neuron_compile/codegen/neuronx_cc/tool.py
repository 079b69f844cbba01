"""Where neuronx-cc is, and which version it is."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from neuron_compile.errors import CodegenError

_VERSION: Final = re.compile(r"version\s+(\d[\w.+-]*)", re.IGNORECASE)
_QUESTION_SECONDS: Final = 120


@dataclass(frozen=True, slots=True)
class Tool:
    """An installed compiler: its file and its full version (`2.27.5334.0+abc`)."""

    path: str
    version: str

    @property
    def release(self) -> tuple[int, int]:
        """Major and minor version; (0, 0) for one that says neither."""
        found = re.match(r"(\d+)\.(\d+)", self.version)
        return (int(found[1]), int(found[2])) if found else (0, 0)


def find_tool(command: str, target: str) -> Tool:
    """The compiler called `command`, a name on PATH or a file.

    Raises `CodegenError` if there is none or it does not say its version.
    """
    path = shutil.which(command)
    if path is None:
        raise CodegenError(
            f"the compiler for {target}, {command}, is not installed",
            why=f"{command} was not found on PATH.",
            hint="install neuronx-cc from AWS's package index, as the Neuron SDK's documentation "
            "says (Linux, x86-64); it needs "
            'no Neuron device. Without it, options={"target": "host"} compiles for this CPU.',
        )
    stat = Path(path).stat()
    return Tool(path, _version(path, stat.st_mtime_ns, stat.st_size))


@functools.lru_cache(maxsize=8)
def _version(path: str, _mtime: int, _size: int) -> str:
    """The version, asked once for each state of the file."""
    try:
        answer = subprocess.run(  # noqa: S603 - the file that the user has on PATH
            [path, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_QUESTION_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unusable(path, str(error)) from error
    said = answer.stdout + answer.stderr
    found = _VERSION.search(said)
    if answer.returncode or found is None:
        raise _unusable(path, f"exit code {answer.returncode}: {said.strip()[-500:]}")
    return found[1]


def _unusable(path: str, why: str) -> CodegenError:
    return CodegenError(
        f"{path} does not tell its version",
        why=f"`--version` gave {why}",
        hint="reinstall neuronx-cc; its version is part of every cache key.",
    )
