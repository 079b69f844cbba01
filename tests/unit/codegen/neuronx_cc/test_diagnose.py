"""Explanations of failed runs, from what was seen of the real compiler's output."""

from __future__ import annotations

import pytest

from neuron_compile.codegen.neuronx_cc.diagnose import (
    explain_exit,
    explain_missing_output,
    explain_time_limit,
)
from neuron_compile.codegen.neuronx_cc.documented_codes import DOCUMENTED
from neuron_compile.codegen.neuronx_cc.run_compiler import Outcome


@pytest.mark.parametrize("code", sorted(DOCUMENTED))
def test_every_documented_code_is_explained(code: str) -> None:
    error = explain_exit(Outcome(70, 1.0, f"noise\n[ERROR] [NCC_{code}] something\n"), "trn2", b"")
    meaning, advice = DOCUMENTED[code]
    assert error.codes == (code,)
    assert f"NCC_{code}: {meaning}" in error.why
    assert advice in error.hint
    assert f"[ERROR] [NCC_{code}] something" in error.where


@pytest.mark.parametrize(
    "outcome,said",
    [
        (Outcome(-9, 1.0, ""), "ran out of memory"),
        (Outcome(70, 1.0, "[F137] neuronx-cc was forcibly killed"), "ran out of memory"),
        (Outcome(1, 1.0, "MemoryError"), "ran out of memory"),
        (Outcome(-6, 1.0, ""), "it aborted (signal 6)"),
        (Outcome(-11, 1.0, ""), "segmentation fault"),
        (Outcome(-10, 1.0, ""), "signal 10"),
        (Outcome(70, 1.0, "Subcommand returned with exitcode=70"), "exit code 70"),
    ],
)
def test_ends_without_a_code(outcome: Outcome, said: str) -> None:
    error = explain_exit(outcome, "trn2", b"")
    assert said in error.why
    assert error.hint


@pytest.mark.parametrize(
    "output,nodes",
    [
        ("%n12.1 = f32[4] sort(%n7.2)", (12, 7)),
        ("instruction 'n12_n13.4' has shape", (12, 13)),
        ("n3 failed", (3,)),
        ("%main.12 = x; column.n5x; in123; %plan9.1; n.5", ()),
        ("NCC_EVRF001 node n8", (8,)),
    ],
)
def test_nodes_of_named_instructions(output: str, nodes: tuple[int, ...]) -> None:
    hlo = b"n3.1 n7.2 n8.1 n12.1 n12_n13.4 n5 n123 n9"
    assert explain_exit(Outcome(1, 1.0, output), "trn2", hlo).nodes == nodes
    assert explain_exit(Outcome(1, 1.0, output), "trn2", b"main").nodes == ()


def test_time_limit_and_missing_output_say_what_to_do() -> None:
    late = explain_time_limit(Outcome(-9, 61.2, "pass 3\npass 4", is_timed_out=True), "trn2")
    assert "61 seconds" in late.what
    assert "pass 4" in late.where
    assert "raise the limit" in late.hint
    missing = explain_missing_output(
        Outcome(0, 1.0, "Compiler status PASS"), "trn1", "it is not there"
    )
    assert "but it is not there" in missing.what
    assert "exit code 0" in missing.why


def test_long_output_is_quoted_in_part_and_kept_whole() -> None:
    output = "\n".join(f"[ERROR] [NCC_EVRF001] operator {i}" for i in range(100))
    error = explain_exit(Outcome(70, 1.0, output), "trn2", b"")
    assert len(error.where) == 8
    assert error.output == output
