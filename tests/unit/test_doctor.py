"""What the doctor finds, on a good machine and on bad ones."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
import torch

from neuron_compile import doctor, environment
from neuron_compile.doctor import Diagnosis, Finding, Verdict, diagnose
from neuron_compile.runtime.nrt import library as nrt


def finding(diagnosis: Diagnosis, subject: str) -> Finding:
    return next(f for f in diagnosis.findings if f.subject.startswith(subject))


Set = Callable[[str, str], None]


@pytest.fixture
def cache(tmp_path: Path) -> str:
    return str(tmp_path / "cache")


@pytest.fixture(autouse=True)
def setenv(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: str) -> Set:
    """A machine with a cache folder and nothing of AWS's, on which a test sets more."""
    monkeypatch.setenv("NEURON_COMPILE_CACHE_DIR", cache)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(nrt, "DEFAULT_LIBRARIES", (tmp_path / "libnrt.so.1",))
    return monkeypatch.setenv


def test_good_machine_is_healthy_and_knows_what_it_cannot_do(cache: str) -> None:
    diagnosis = diagnose()
    assert diagnosis.is_healthy
    assert {f.verdict for f in diagnosis.findings} == {Verdict.OK, Verdict.NOTE}
    assert finding(diagnosis, "torch").text.startswith("2.13.")
    assert "programs for a device cannot be compiled" in finding(diagnosis, "neuronx-cc").text
    assert "cannot run on this machine" in finding(diagnosis, "libnrt").text
    assert finding(diagnosis, "NEURON_COMPILE_CACHE_DIR").text == cache
    product = finding(diagnosis, "matrix product")
    assert product.text.startswith("compiled for the host, differs from PyTorch by ")
    (found,) = (f for f in diagnosis.findings if f.topic == "cache")
    assert (found.subject, found.text[:10]) == (cache, "2 entries,")


def test_tools_that_are_there_are_named(tmp_path: Path) -> None:
    compiler = tmp_path / "bin" / "neuronx-cc"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\necho NeuronX Compiler version 2.27.5334.0+abc\n")
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    library = tmp_path / "libnrt.so.1"
    library.write_bytes(b"")
    diagnosis = diagnose()
    assert finding(diagnosis, "neuronx-cc").text == (
        f"2.27.5334.0+abc at {compiler}: programs for a device can be compiled"
    )
    assert finding(diagnosis, "libnrt").text == f"{library}: NEFFs for a device can run"


def test_misspelt_variable_is_a_warning_with_the_near_match(setenv: Set) -> None:
    setenv("NEURON_COMPILE_CAHCE_DIR", "/x")
    diagnosis = diagnose()
    found = finding(diagnosis, "NEURON_COMPILE_CAHCE_DIR")
    assert found.verdict is Verdict.WARNING
    assert found.hint == "did you mean NEURON_COMPILE_CACHE_DIR?"
    assert diagnosis.is_healthy


def test_bad_value_ends_the_examination(setenv: Set) -> None:
    setenv("NEURON_COMPILE_CACHE_SIZE", "much")
    diagnosis = diagnose()
    assert not diagnosis.is_healthy
    assert "NEURON_COMPILE_CACHE_SIZE" in diagnosis.findings[-1].text


def test_secret_is_not_shown(setenv: Set, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(os.urandom(32))
    key.chmod(0o600)
    setenv("NEURON_COMPILE_CACHE_KEY_FILE", str(key))
    setenv("NEURON_COMPILE_CACHE_URL", "memory://name:word@bucket/folder")
    diagnosis = diagnose()
    assert finding(diagnosis, "NEURON_COMPILE_CACHE_KEY_FILE").text == "set"
    assert finding(diagnosis, "NEURON_COMPILE_CACHE_URL").text == "memory://bucket/folder"


def test_package_that_does_not_fit_is_an_error_with_what_to_install(
    setenv: Set, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "installed_version", lambda name: "0.1")
    monkeypatch.setattr(doctor, "installed_version", lambda name: "0.1")
    diagnosis = diagnose()
    assert not diagnosis.is_healthy
    torch_finding = finding(diagnosis, "torch")
    assert torch_finding.text == "0.1; this release supports 2.13.*"
    assert torch_finding.hint == "pip install 'torch==2.13.*'"
    assert finding(diagnosis, "matrix product").verdict is Verdict.ERROR


def test_cache_that_cannot_be_used_is_a_warning_and_the_product_still_compiles(
    setenv: Set, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    folder = str(tmp_path / "file" / "cache")
    setenv("NEURON_COMPILE_CACHE_DIR", folder)
    diagnosis = diagnose()
    (found,) = (f for f in diagnosis.findings if f.topic == "cache")
    assert found.verdict is Verdict.WARNING
    assert "not used" in found.text
    assert found.hint
    assert diagnosis.is_healthy


def test_wrong_numbers_are_an_error(setenv: Set, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", lambda function, **_: lambda a, b: function(a, b) + 1)
    product = finding(diagnose(), "matrix product")
    assert product.verdict is Verdict.ERROR
    assert "differs from PyTorch by 1.0e+00" in product.text


def test_failure_to_compile_is_told_in_its_own_words(
    setenv: Set, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no space left")

    monkeypatch.setattr(torch, "compile", fail)
    product = finding(diagnose(), "matrix product")
    assert (product.verdict, product.text) == (Verdict.ERROR, "RuntimeError: no space left")


@pytest.mark.parametrize(
    ("owners", "verdict"),
    [
        (["neuron_compile.backend:neuron"], Verdict.OK),
        (["neuron_compile.backend:neuron", "other.backend:neuron"], Verdict.WARNING),
        (["other.backend:neuron"], Verdict.ERROR),
        ([], Verdict.ERROR),
    ],
)
def test_name_of_the_backend_may_be_someone_elses(
    monkeypatch: pytest.MonkeyPatch, owners: list[str], verdict: Verdict
) -> None:
    group = "torch_dynamo_backends"
    points = [metadata.EntryPoint("neuron", value, group) for value in owners]
    monkeypatch.setattr(metadata, "entry_points", lambda **_: points)
    assert doctor._backend().verdict is verdict


def test_findings_are_json(setenv: Set) -> None:
    diagnosis = diagnose()
    read = json.loads(json.dumps(diagnosis.to_json()))
    assert read["is_healthy"] is True
    assert len(read["findings"]) == len(diagnosis.findings)
    assert set(read["findings"][0]) == {"topic", "subject", "verdict", "text", "hint"}
