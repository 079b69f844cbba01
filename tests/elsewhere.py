"""Another folder, another virtual environment: where a warmed cache must suffice."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import neuron_compile
from neuron_compile import cache, lowering


class Place:
    """A folder with the program, and the environment that it is run in."""

    def __init__(self, folder: Path, program: str, **environment: str) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.environment = {**os.environ, **environment}
        (folder / "train.py").write_text(program)

    def run(self, *arguments: str, python: str = sys.executable) -> Any:
        """What the program printed."""
        done = self._start([python, "train.py", *arguments])
        return json.loads(done.stdout.splitlines()[-1])

    def warm(
        self, *options: str, arguments: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Run `neuron-compile warmup`, and the program with its arguments."""
        start = [sys.executable, "-c", "from neuron_compile.cli import main; main()", "warmup"]
        return self._start([*start, *options, "train.py", *arguments])

    def _start(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done


def environment_of_its_own(folder: Path) -> str:
    """The interpreter of a virtual environment with its own copy of the package."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    copied = packages / "neuron_compile"
    shutil.copytree(Path(neuron_compile.__file__).parent, copied)
    for module in (lowering, cache):
        source = Path(module.__file__ or "").parent
        shutil.copytree(source, copied / source.name, dirs_exist_ok=True)
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return str(folder / "bin" / "python")
