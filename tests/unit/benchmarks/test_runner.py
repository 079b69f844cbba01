from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.launch import Failure
from benchmarks.plan import Plan
from benchmarks.protocol import Measurement, Request
from benchmarks.results import Results
from benchmarks.runner import Runner


@dataclass
class Machine:
    """On which every process takes the time that `takes` says, and fills its caches."""

    takes: Callable[[Request], float] = lambda request: 1.0
    now: float = 0.0
    ran: list[tuple[str, str, bool]] = field(default_factory=list)

    def launch(self, request: Request, caches: Path, time_limit: float) -> Measurement | Failure:
        is_warm = (caches / "filled").exists()
        self.ran.append((request.case, request.backend, is_warm))
        (caches / "filled").touch()
        took = self.takes(request)
        self.now += min(took, time_limit)
        if took > time_limit:
            return Failure("too long")
        return Measurement(facts={"took": took})


def run(machine: Machine, caches: Path, plan: Plan) -> tuple[Results, list[str]]:
    results, told = Results(), list[str]()
    Runner(plan, caches, told.append, machine.launch, lambda: machine.now).run(results)
    return results, told


def plan(*cases: str, rounds: int = 2, budget: float = 100.0) -> Plan:
    return Plan(cases, ("neuron", "eager", "inductor"), "tiny", rounds, 0.0, budget)


def test_backends_alternate_and_take_turns_to_begin(tmp_path: Path) -> None:
    machine = Machine()
    run(machine, tmp_path, plan("mlp", "u_net"))
    assert [(case, backend) for case, backend, _ in machine.ran] == [
        (case, backend)
        for turn in (("neuron", "eager", "inductor"), ("eager", "inductor", "neuron"))
        for case in ("mlp", "u_net")
        for backend in turn
    ]


def test_the_first_round_is_cold_and_no_caches_are_shared(tmp_path: Path) -> None:
    machine = Machine()
    results, _ = run(machine, tmp_path, plan("mlp", "u_net"))
    assert [is_warm for _, _, is_warm in machine.ran] == [False] * 6 + [True] * 6
    assert [entry.had_empty_caches for entry in results.entries] == [True] * 6 + [False] * 6
    assert [entry.round for entry in results.entries] == [0] * 6 + [1] * 6


def test_a_restarted_case_starts_cold_and_warm_in_each_round(tmp_path: Path) -> None:
    machine = Machine()
    results, _ = run(machine, tmp_path, plan("start"))
    # Eager has nothing to start.
    assert [backend for _, backend, _ in machine.ran] == [
        *("neuron", "neuron", "inductor", "inductor"),
        *("inductor", "inductor", "neuron", "neuron"),
    ]
    assert [entry.had_empty_caches for entry in results.entries] == [True, False] * 4


def test_a_case_that_would_exceed_the_budget_is_not_begun(tmp_path: Path) -> None:
    machine = Machine(lambda request: 10.0 if request.case == "mlp" else 1.0)
    results, told = run(machine, tmp_path, plan("mlp", "u_net", budget=40.0))
    assert [entry.case for entry in results.entries] == ["mlp"] * 3 + ["u_net"] * 6
    assert "round 2: no time left for mlp" in told


def test_what_exceeds_the_budget_is_a_failure_with_a_reason(tmp_path: Path) -> None:
    machine = Machine(lambda request: 60.0)
    results, told = run(machine, tmp_path, plan("mlp", rounds=1))
    assert [entry.error for entry in results.entries] == ["", "too long"]
    assert told[-1].endswith("too long")
