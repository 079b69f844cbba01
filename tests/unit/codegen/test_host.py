"""The code generator for this machine's CPU."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from host_programs import artifact, program
from neuron_compile import CodegenError
from neuron_compile.artifact.manifest import Manifest
from neuron_compile.codegen import host
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.target import HOST


def test_artifact_is_a_neff_with_its_manifest() -> None:
    blobs = artifact()
    assert set(blobs) == {"neff", "manifest.json"}
    assert Manifest.from_json(blobs["manifest.json"]).target == HOST.name


def test_fingerprint_tells_apart_what_changes_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    base = HostCodeGenerator().fingerprint()
    assert HostCodeGenerator(optimization_level=1).fingerprint() != base
    assert HostCodeGenerator(xla_flags="--xla_cpu_enable_fast_math=true").fingerprint() != base
    monkeypatch.setattr(host, "host_cpu", lambda: (("features", "none"),))
    assert HostCodeGenerator().fingerprint() != base


def test_fingerprint_does_not_depend_on_the_order_of_flags() -> None:
    one = HostCodeGenerator(xla_flags="--a=1 --b=2").fingerprint()
    assert HostCodeGenerator(xla_flags=" --b=2  --a=1").fingerprint() == one


def test_of_flags_of_one_name_the_last_one_counts(tmp_path: Path) -> None:
    def fingerprint(flags: str) -> object:
        return HostCodeGenerator(xla_flags=flags).fingerprint()

    assert fingerprint("--a=1 --a=2") == fingerprint("--a=2") != fingerprint("--a=2 --a=1")
    file = tmp_path / "flags"
    file.write_text("--a=2\n")
    assert fingerprint(str(file)) == fingerprint("--a=2")


def test_fingerprint_has_the_code_of_the_rewrites(monkeypatch: pytest.MonkeyPatch) -> None:
    base = HostCodeGenerator().fingerprint()
    monkeypatch.setattr(host, "source_digest", lambda *_: "edited")
    assert dict(base).keys() == dict(HostCodeGenerator().fingerprint()).keys()
    assert HostCodeGenerator().fingerprint() != base


def test_names_of_a_fingerprint_are_distinct() -> None:
    names = [name for name, _ in HostCodeGenerator().fingerprint()]
    assert len(set(names)) == len(names)


def test_program_that_xla_refuses_is_an_error_with_its_words() -> None:
    unknown = """
func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = stablehlo.custom_call @no_such_kernel(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
"""
    with pytest.raises(CodegenError) as raised:
        HostCodeGenerator().generate(program(unknown))
    assert raised.value.what == "XLA could not compile a program for the host"
    assert "no_such_kernel" in raised.value.why
    assert raised.value.__cause__ is not None


def test_every_file_that_rewrites_is_in_the_key() -> None:
    package = Path(host.__file__).parents[1]
    assert all((package / "codegen" / f"{name}.py").is_file() for name in host._REWRITING)
    imported = re.findall(
        r"from neuron_compile\.codegen\.([\w.]+) import",
        "".join((package / "codegen" / f"{name}.py").read_text() for name in host._REWRITING),
    )
    assert {name.replace(".", "/") for name in imported} <= set(host._REWRITING)
