"""NEFFs that the stand-in for libnrt can run, and a runtime that must be left in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from neuron_compile.artifact.manifest import Manifest
from neuron_compile.lowering import TensorSpec
from neuron_compile.runtime.nrt.library import open_library
from neuron_compile.runtime.nrt.runtime import NrtRuntime
from stand_ins import documented_neff
from stand_ins.libnrt import StandIn, built, stand_in

DTYPES = {
    "float32": "FLOAT32", "int32": "INT32", "int64": "INT64", "bool": "UINT8", "uint8": "UINT8",
    "bfloat16": "BFLOAT16", "float64": "FLOAT64",
}  # fmt: skip


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


__all__ = ["StandIn", "built", "manifest_of", "neff_of", "runtime", "spec", "stand_in"]
