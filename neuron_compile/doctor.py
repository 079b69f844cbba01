"""Is this installation fit to compile, and for what? The questions behind `neuron-compile doctor`.

Each answer is a `Finding`. Nothing here prints, and only the last question imports torch.
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import os
import platform
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Final

from neuron_compile import __version__
from neuron_compile.environment import SUPPORTED, installed_version, mismatches
from neuron_compile.errors import NeuronCompileError
from neuron_compile.settings import VARIABLES, Settings, read_settings

NEURONX_CC: Final = "neuronx-cc"
_PRODUCT_SIZE: Final = 64
_TOLERANCE: Final = 1e-4


class Verdict(enum.StrEnum):
    """`ok`: as it should be. `note`: less is possible. `warning`: not as meant. `error`: broken."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer: `topic` groups, `subject` is what was looked at, `text` what was found, `hint`
    what to do about it."""

    topic: str
    subject: str
    verdict: Verdict
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings, in the order of the questions."""

    findings: tuple[Finding, ...]

    @property
    def is_healthy(self) -> bool:
        """Whether the host target works: no finding is an error."""
        return all(finding.verdict is not Verdict.ERROR for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """A JSON object: `is_healthy` and the findings."""
        return {
            "is_healthy": self.is_healthy,
            "findings": [dataclasses.asdict(finding) for finding in self.findings],
        }


def diagnose() -> Diagnosis:
    """Examine the installation, its settings, tools and cache, and compile a small matrix
    product."""
    findings = [*_packages()]
    try:
        settings = read_settings()
    except NeuronCompileError as error:
        findings.append(Finding("settings", "environment", Verdict.ERROR, error.what, error.hint))
        return Diagnosis(tuple(findings))
    findings += _settings(settings)
    findings += _toolchain()
    if mismatches():
        text = "not tried, since packages do not fit"
        return Diagnosis((*findings, Finding("check", "matrix product", Verdict.ERROR, text)))
    # The product goes through the cache, so that the cache is seen at work.
    findings += [_backend(), _product(), _cache(settings)]
    return Diagnosis(tuple(findings))


def _packages() -> Iterator[Finding]:
    yield Finding("packages", "python", Verdict.OK, f"{platform.python_version()}")
    yield Finding("packages", "neuron-compile", Verdict.OK, __version__)
    wrong = mismatches()
    for name, supported in SUPPORTED.items():
        pin = f"{supported}*" if supported.endswith(".") else supported
        if name in wrong:
            hint = f"pip install '{name}=={pin}'"
            text = f"{wrong[name]}; this release supports {pin}"
            yield Finding("packages", name, Verdict.ERROR, text, hint)
        else:
            yield Finding("packages", name, Verdict.OK, f"{installed_version(name)}")


def _settings(settings: Settings) -> Iterator[Finding]:
    for name in VARIABLES:
        if os.environ.get(name):
            is_secret = name.endswith("KEY_FILE")
            text = "set" if is_secret else _without_credentials(os.environ[name])
            yield Finding("settings", name, Verdict.OK, text)
    for name in settings.unknown:
        near = difflib.get_close_matches(name, VARIABLES, n=1)
        hint = f"did you mean {near[0]}?" if near else "unset it."
        yield Finding("settings", name, Verdict.WARNING, "not a variable of this release", hint)


def _without_credentials(text: str) -> str:
    """A URL without the user and password that it may hold."""
    return re.sub(r"(?<=://)[^/@]*@", "", text)


def _toolchain() -> Iterator[Finding]:
    from neuron_compile.runtime.nrt.library import find_library

    yield _compiler()
    found = find_library()
    if found is None:
        text = "not found: NEFFs for a device cannot run on this machine"
        hint = "install aws-neuronx-runtime-lib on an instance with Neuron devices."
        yield Finding("devices", "libnrt", Verdict.NOTE, text, hint)
    else:
        yield Finding("devices", "libnrt", Verdict.OK, f"{found}: NEFFs for a device can run")


def _compiler() -> Finding:
    from neuron_compile.codegen.neuronx_cc.tool import find_tool
    from neuron_compile.errors import CodegenError

    try:
        tool = find_tool(NEURONX_CC, "Neuron devices")
    except CodegenError as error:
        text = f"not usable: programs for a device cannot be compiled ({error.why})"
        return Finding("devices", NEURONX_CC, Verdict.NOTE, text, error.hint)
    text = f"{tool.version} at {tool.path}: programs for a device can be compiled"
    return Finding("devices", NEURONX_CC, Verdict.OK, text)


def _backend() -> Finding:
    """Another distribution may have registered the name `neuron` as well."""
    points = metadata.entry_points(group="torch_dynamo_backends", name="neuron")
    owners = {point.value.partition(":")[0].partition(".")[0] for point in points}
    if owners == {"neuron_compile"}:
        return Finding("check", "backend", Verdict.OK, 'registered as backend="neuron"')
    if "neuron_compile" in owners:
        others = ", ".join(sorted(owners - {"neuron_compile"}))
        text = f'{others} registers backend="neuron" too'
        hint = 'pass backend="neuron_compile" to choose this one.'
        return Finding("check", "backend", Verdict.WARNING, text, hint)
    text = 'backend="neuron" is not registered'
    return Finding("check", "backend", Verdict.ERROR, text, "install with pip, not by PYTHONPATH.")


def _product() -> Finding:
    import torch

    from neuron_compile.backend import neuron

    def product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return left @ right

    generator = torch.Generator().manual_seed(0)
    left, right = (torch.randn(_PRODUCT_SIZE, _PRODUCT_SIZE, generator=generator) for _ in range(2))
    options: dict[str, Any] = {"target": "host", "model_name": "doctor"}
    subject = f"matrix product {_PRODUCT_SIZE}x{_PRODUCT_SIZE}"
    try:
        with warnings.catch_warnings(), torch.no_grad():
            # What the cache complains of is a finding of its own.
            warnings.simplefilter("ignore")
            compiled = torch.compile(product, backend=neuron, dynamic=False, options=options)
            difference = (compiled(left, right) - product(left, right)).abs().max().item()
    except Exception as error:
        cause = getattr(error, "inner_exception", None) or error
        text = f"{type(cause).__name__}: {cause}"
        return Finding("check", subject, Verdict.ERROR, text, getattr(cause, "hint", ""))
    text = f"compiled for the host, differs from PyTorch by {difference:.1e}"
    verdict = Verdict.OK if difference < _TOLERANCE else Verdict.ERROR
    return Finding("check", subject, verdict, text)


def _cache(settings: Settings) -> Finding:
    from neuron_compile.assembly import cache_for

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stats = cache_for(settings).stats()
    size = f"{stats.entries} entries, {stats.size_bytes / 1e6:.1f} MB"
    hint = "set NEURON_COMPILE_CACHE_DIR to a folder that only you can write."
    if stats.problem:
        return Finding("cache", stats.directory, Verdict.WARNING, stats.problem, hint)
    if stats.complaints:
        troubles = ", ".join(stats.complaints)
        text = f"{size}; trouble with: {troubles}"
        return Finding("cache", stats.directory, Verdict.WARNING, text, hint)
    return Finding("cache", stats.directory, Verdict.OK, size)
