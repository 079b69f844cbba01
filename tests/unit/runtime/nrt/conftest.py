"""The stand-in for libnrt, built with gcc, and NEFFs that it can run."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from neuron_compile.artifact.manifest import Manifest
from neuron_compile.lowering import TensorSpec
from neuron_compile.runtime.nrt.library import open_library
from neuron_compile.runtime.nrt.runtime import NrtRuntime
from stand_ins import documented_neff

SOURCE = Path(documented_neff.__file__).with_name("libnrt.c")
DTYPES = {
    "float32": "FLOAT32", "int32": "INT32", "int64": "INT64", "bool": "UINT8", "uint8": "UINT8",
    "bfloat16": "BFLOAT16", "float64": "FLOAT64",
}  # fmt: skip


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


@pytest.fixture
def runtime(stand_in: StandIn) -> Iterator[NrtRuntime]:
    """An initialized runtime; at the end everything must have been given back in order."""
    opened = NrtRuntime(open_library(stand_in.path))
    yield opened
    opened.close()
    assert stand_in.violations == []
    assert stand_in.live == 0
    assert stand_in.calls[-1] == "nrt_close"


def spec(dtype: str, *shape: int) -> TensorSpec:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return TensorSpec(shape, dtype, tuple(reversed(strides)))


def manifest_of(inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> Manifest:
    return Manifest("trn2", (), (), tuple(inputs), tuple(outputs), "0" * 64, "0" * 64)


def neff_of(
    inputs: Sequence[TensorSpec],
    outputs: Sequence[TensorSpec],
    *listing: str,
    narrow: bool = False,
    major: int = 2,
) -> bytes:
    """A NEFF whose listing the stand-in runs; `narrow` declares 64-bit types as 32-bit ones."""
    lines = []
    for usage, specs in (("input", inputs), ("output", outputs)):
        for index, item in enumerate(specs):
            element = DTYPES[item.dtype]
            if narrow:
                element = element.replace("64", "32")
            sizes = " ".join(map(str, item.shape))
            lines.append(f"tensor {usage}{index} {usage} {element} {len(item.shape)} {sizes}")
    text = "\n".join([*lines, *listing]) + "\n"
    neff = documented_neff.write(
        {"neff.json": b"{}", "sg00/listing.txt": text.encode()},
        name="m",
        lnc=2,
        is_gzipped=False,
        uuid=bytes(16),
    )
    header = documented_neff.Header.from_buffer_copy(neff)
    header.neff_version_major = major
    return bytes(header) + neff[1024:]
