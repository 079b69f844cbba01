"""The stand-in for libnrt, built with gcc, as fixtures."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("libnrt.c")


class StandIn:
    """The library's own view of a test: what was called, what was wrong, what is left."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._library = ctypes.CDLL(str(path))
        for name in ("stand_in_violations", "stand_in_calls"):
            getattr(self._library, name).restype = ctypes.c_char_p

    def fail(self, function: str, status: int, after: int = 0) -> None:
        """Make the next call of `function` but `after` ones return `status`."""
        self._library.stand_in_fail(function.encode(), status, after)

    @property
    def violations(self) -> list[str]:
        return self._lines("stand_in_violations")

    @property
    def calls(self) -> list[str]:
        return self._lines("stand_in_calls")

    @property
    def live(self) -> int:
        return int(self._library.stand_in_live())

    def _lines(self, function: str) -> list[str]:
        text: bytes = getattr(self._library, function)()
        return text.decode().splitlines()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is needed to build the stand-in for libnrt")
    path = tmp_path_factory.mktemp("libnrt") / "libnrt.so.1"
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", path, SOURCE], check=True)
    return path


@pytest.fixture
def stand_in(built: Path, tmp_path: Path) -> StandIn:
    """A copy of its own, so with a state of its own."""
    return StandIn(Path(shutil.copy(built, tmp_path / "libnrt.so.1")))
