"""The code generator against the stand-in compiler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neuron_compile.artifact.manifest import Manifest
from neuron_compile.artifact.neff import unpack_neff
from neuron_compile.codegen.legality.device import INTEGER_DOWNCASTS
from neuron_compile.codegen.legality.refusal import IllegalProgramError
from neuron_compile.codegen.neuronx_cc.diagnose import CompilerError
from neuron_compile.codegen.neuronx_cc.generator import NeuronxCodeGenerator
from neuron_compile.errors import CodegenError, OptionsError, SourceLine
from neuron_compile.lowering import LoweredProgram, TensorSpec
from neuron_compile.target import TARGETS
from stand_ins.fixtures import lowered
from stand_ins.hlo_proto import read_module


def generator(target: str = "trn2", **settings: Any) -> NeuronxCodeGenerator:
    return NeuronxCodeGenerator(TARGETS[target], **settings)


def leftovers(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "scratch").iterdir())


def test_compiles_a_program(
    compiler: Any, calls: Any, program: LoweredProgram, tmp_path: Path
) -> None:
    blobs = generator().generate(program)
    neff = unpack_neff(blobs["neff"])
    assert not neff.is_host
    assert neff.header.lnc_size == 2
    manifest = Manifest.from_json(blobs["manifest.json"])
    assert manifest.target == "trn2"
    assert ("tool neuronx-cc", "2.27.5334.0+stand.in") in manifest.generator
    module = read_module(blobs["model.hlo.pb"])
    assert [shape.text() for shape in module.parameters] == ["f32[2,3]", "f32[2,3]"]
    assert json.loads(blobs["legality.json"]) == {"float64_as_float32": False, "rewritten": {}}
    ((model, *flags),) = calls()
    assert Path(model).name == "model.hlo.pb"
    assert [flag for flag in flags if not flag.startswith("--output")] == [
        "--framework=XLA", "--target=trn2", "--auto-cast=none",
        "--implicit-integer-downcast=none", "--lnc=2", "--model-type=generic",
        "--native-int64=enabled", "--optlevel=2",
    ]  # fmt: skip
    assert leftovers(tmp_path) == []
    assert not Path("log-neuron-cc.txt").exists(), "it ran in a folder of its own"


def test_equal_programs_give_equal_blobs(compiler: Any, program: LoweredProgram) -> None:
    assert generator().generate(program) == generator().generate(program)


@pytest.mark.parametrize("target", ["trn1", "trn1n", "trn2", "trn3", "inf2"])
def test_every_target_is_accepted(
    compiler: Any, calls: Any, program: LoweredProgram, target: str
) -> None:
    generator(target).generate(program)
    ((_, *flags),) = calls()
    assert f"--target={target}" in flags
    assert ("--lnc=2" in flags) == (target in {"trn2", "trn3"})
    assert ("--native-int64=enabled" in flags) == (target in {"trn2", "trn3"})


def test_options_and_environment_flags_reach_the_compiler(
    compiler: Any, calls: Any, program: LoweredProgram
) -> None:
    generator(
        model_type="transformer",
        auto_cast="matmult",
        auto_cast_type="tf32",
        optimization_level=3,
        logical_cores=1,
        extra_flags="-O1 --enable-fast-loading-neuron-binaries --cache_dir=/x --verbose 35",
    ).generate(program)
    ((_, *flags),) = calls()
    expected = {
        "--model-type=transformer", "--auto-cast=matmult", "--auto-cast-type=tf32",
        "--optlevel=1", "--lnc=1", "--enable-fast-loading-neuron-binaries", "--verbose=35",
    }  # fmt: skip
    assert expected <= set(flags)
    assert not any("cache" in flag for flag in flags)


def test_fingerprint_changes_with_everything_that_changes_the_neff(
    compiler: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = generator().fingerprint()
    assert plain == generator().fingerprint()
    different = [
        generator(optimization_level=1), generator(model_type="transformer"),
        generator(auto_cast="all"), generator(logical_cores=1),
        generator(extra_flags="--enable-saturate-infinity"), generator(version="2.28.0"),
    ]  # fmt: skip
    prints = [g.fingerprint() for g in different]
    assert len({plain, *prints}) == len(prints) + 1
    same = [
        generator(extra_flags="--optlevel 2 --verbose debug --logfile=x --no_cache --cache_dir /a"),
        generator(extra_flags="-O3 -O=2"),
        generator(auto_cast_type="tf32"),
        generator(time_limit_seconds=5.0),
    ]
    assert {g.fingerprint() for g in same} == {plain}


def test_version_is_asked_again_when_the_compiler_changes(compiler: Any, tmp_path: Path) -> None:
    first = generator().fingerprint()
    compiler(version="2.28.1.0+other")
    program = tmp_path / "bin" / "neuronx-cc"
    program.write_text(program.read_text() + "# another file\n")
    assert generator().fingerprint() != first


def test_older_compiler_gets_no_flags_that_it_does_not_know(
    compiler: Any, calls: Any, program: LoweredProgram, tmp_path: Path
) -> None:
    compiler(version="2.24.1.0")
    older = tmp_path / "bin" / "neuronx-cc"
    older.write_text(older.read_text() + "# another file\n")
    made = generator()
    assert not made.device.has_int64
    made.generate(program)
    ((_, *flags),) = calls()
    assert not any("int64" in flag or "integer" in flag for flag in flags)


@pytest.mark.parametrize(
    "flags,has_int64,downcasts",
    [
        ("", True, set()),
        ("--native-int64=disabled", False, set()),
        ("--implicit-integer-downcast=dot,pow", True, {"dot", "pow"}),
        ("--implicit-integer-downcast all", True, set(INTEGER_DOWNCASTS)),
    ],
)  # fmt: skip
def test_flags_change_what_is_legal(
    compiler: Any, flags: str, has_int64: bool, downcasts: set[str]
) -> None:
    device = generator(extra_flags=flags).device
    assert device.has_int64 == has_int64
    assert device.downcasts == downcasts


def test_paired_cores_where_there_are_none_are_refused(compiler: Any) -> None:
    for settings in ({"logical_cores": 2}, {"extra_flags": "-lnc 2"}):
        with pytest.raises(OptionsError, match="EARG001"):
            generator("trn1", **settings)


def test_missing_compiler_says_how_to_get_it_and_what_works_without(
    monkeypatch: pytest.MonkeyPatch, program: LoweredProgram
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CodegenError, match="install neuronx-cc from AWS") as raised:
        generator()
    assert '"host"' in str(raised.value)
    known = generator(version="2.27.0")
    assert dict(known.fingerprint())["tool neuronx-cc"] == b"2.27.0"
    with pytest.raises(CodegenError, match="not installed"):
        known.generate(program)


def test_another_version_than_the_key_tells_of_makes_nothing(
    compiler: Any, calls: Any, program: LoweredProgram
) -> None:
    with pytest.raises(
        CodegenError, match=r"2\.27\.5334.* is installed, and 2\.26\.0 was expected"
    ):
        generator(version="2.26.0").generate(program)
    assert calls() == []


def test_illegal_program_never_reaches_the_compiler(compiler: Any, calls: Any) -> None:
    spec = TensorSpec((3, 3), "float32", (3, 1))
    illegal = lowered(
        """func.func @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
          %0 = stablehlo.cholesky %x, lower = true : tensor<3x3xf32> #8
          return %0 : tensor<3x3xf32>
        }""",
        spec,
        spec,
    )
    with pytest.raises(IllegalProgramError, match="NCC_EVRF001") as raised:
        generator().generate(illegal)
    assert raised.value.nodes == (8,)
    assert calls() == []


def test_what_the_package_mends_the_compiler_accepts(compiler: Any) -> None:
    spec = TensorSpec((4,), "int8", (1,))
    text = """func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
      %0 = stablehlo.shift_right_arithmetic %x, %x : tensor<4xi8> #8
      return %0 : tensor<4xi8>
    }"""
    blobs = generator().generate(lowered(text, spec, spec))
    assert json.loads(blobs["legality.json"])["rewritten"] == {"EVRF022": 1}


@pytest.mark.parametrize(
    "mode,expected",
    [
        ("exit1", "exit code 1"),
        ("exit70", "exit code 70"),
        ("exit127", "exit code 127"),
        ("signal9", "ran out of memory"),
        ("signal6", "aborted"),
        ("signal11", "segmentation fault"),
        ("missing", "there is no output"),
        ("empty", "the output is empty"),
        ("garbage", "the output is damaged"),
        ("partial", "the output is damaged"),
    ],
)
def test_failure_is_explained_and_nothing_is_left(
    compiler: Any, program: LoweredProgram, tmp_path: Path, mode: str, expected: str
) -> None:
    compiler(mode=mode)
    with pytest.raises(CompilerError, match=expected):
        generator().generate(program)
    assert leftovers(tmp_path) == []


def test_compiler_that_fails_once_works_the_next_time(
    compiler: Any, calls: Any, program: LoweredProgram, tmp_path: Path
) -> None:
    compiler(mode="signal9", once=tmp_path / "once")
    with pytest.raises(CompilerError):
        generator().generate(program)
    assert generator().generate(program)["neff"]
    assert len(calls()) == 2


def test_codes_and_nodes_are_read_from_the_log(compiler: Any, program: LoweredProgram) -> None:
    compiler(
        mode="exit70",
        say="[ERROR] [NCC_EVRF029] Operation sort is not supported on trn2.\n"
        "  %n4.2 = u32[256]{0} sort(%reshape.371), dimensions={0}\n"
        "[INTERNAL_ERROR] [NCC_ITEN406] Too many partition dimensions in pass n77\n"
        "[ERROR] [NCC_EZZZ999] something new",
    )
    with pytest.raises(CompilerError) as raised:
        generator().generate(program)
    error = raised.value
    assert error.codes == ("EVRF029", "ITEN406", "EZZZ999")
    assert error.nodes == (4,)
    assert "no sort" in error.why
    assert "internal error" in error.why
    assert "NCC_EZZZ999: not documented" in error.why
    located = error.located({4: SourceLine("m.py", 3, "x.sort()")}.get)
    assert "m.py:3   x.sort()" in str(located)


def test_what_the_compiler_got_can_be_kept(
    compiler: Any, program: LoweredProgram, tmp_path: Path
) -> None:
    compiler(mode="exit1", say="bad luck")
    with pytest.raises(CompilerError):
        generator(keep_folder=tmp_path / "kept").generate(program)
    (kept,) = (tmp_path / "kept").iterdir()
    assert "bad luck" in (kept / "compiler-output.txt").read_text()
    assert read_module((kept / "model.hlo.pb").read_bytes()).parameters
