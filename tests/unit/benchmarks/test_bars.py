from __future__ import annotations

import pytest

from benchmark_results import entry, results
from benchmarks.bars import BARS, Bar
from benchmarks.results import Results


def bar(what: str, bound: float) -> Bar:
    (found,) = (bar for bar in BARS if bar.what.startswith(what) and bar.bound == bound)
    return found


def found(bar: Bar, measured: Results) -> dict[str, float]:
    return {finding.subject: finding.value for finding in bar.findings(measured)}


def test_each_workload_and_their_mean_are_held_against_the_best_peer() -> None:
    measured = results(
        entry("mlp", "neuron", inference=1.0),
        entry("mlp", "eager", inference=4.0),
        entry("mlp", "inductor", inference=2.0),
        entry("u_net", "neuron", inference=1.0),
        entry("u_net", "inductor", inference=0.5),
    )
    each, mean = bar("inference", 1.0), bar("inference", 1.3)
    assert found(each, measured) == {"mlp": 2.0, "u_net": 0.5}
    assert (each.is_met_by(2.0), each.is_met_by(0.5)) == (True, False)
    assert found(mean, measured) == {"geometric mean of 2": pytest.approx(1.0)}


def test_share_of_the_rate_of_a_product_is_that_of_the_same_round() -> None:
    measured = results(
        entry("product", "eager", 0, facts={"flops product": 100.0}, product=1.0),
        entry("product", "neuron", 0, facts={"flops product": 100.0}, product=2.0),
        entry("mlp", "eager", 0, facts={"flops inference": 300.0}, inference=9.0),
        entry("mlp", "neuron", 0, inference=6.0),
    )
    # 50 a second, of the 100 a second of the faster product.
    assert found(bar("matrix-bound", 0.75), measured) == {"mlp inference": 0.5}


@pytest.mark.parametrize(
    "what, bound, case",
    [("call of 32", 1.0, "dispatch"), ("cold start", 0.33, "start"), ("warm start", 0.7, "start")],
)
def test_costs_are_those_of_ours_over_inductors(what: str, bound: float, case: str) -> None:
    cold = what == "cold start"
    measured = results(
        entry(case, "neuron", cold=cold, call=1.0, start=1.0),
        entry(case, "inductor", cold=cold, call=4.0, start=4.0),
        entry(case, "eager", cold=cold, call=0.1, start=0.1),
    )
    assert found(bar(what, bound), measured) == {case: 0.25}
    assert bar(what, bound).is_met_by(0.25)
    assert not bar(what, bound).is_met_by(1.01)


def test_memory_is_that_of_a_train_step() -> None:
    measured = results(
        entry("gpt2_128", "neuron", facts={"peak_bytes train_step": 3.0}),
        entry("gpt2_128", "inductor", facts={"peak_bytes train_step": 2.0}),
    )
    assert found(bar("peak memory", 1.1), measured) == {"gpt2_128": pytest.approx(1.5)}


def test_overhead_counts_from_a_millisecond_up() -> None:
    series = {"compiled mlp": 1.1e-3, "direct mlp": 1e-3}
    shorter = {"compiled bert_128": 2e-4, "direct bert_128": 1e-4}
    measured = results(entry("overhead", "neuron", 0, series={**series, **shorter}))
    assert found(bar("call, times", 1.03), measured) == {"mlp": pytest.approx(1.1)}


def test_slowdown_of_eager_code_is_against_itself() -> None:
    measured = results(entry("threads", "neuron", alone=1.0, after=1.25))
    assert found(bar("eager code", 1.1), measured) == {"threads": 1.25}


def test_nothing_is_found_where_nothing_was_measured() -> None:
    assert [found(bar, results()) for bar in BARS] == [{}] * len(BARS)
