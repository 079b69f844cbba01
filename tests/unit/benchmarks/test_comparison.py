from __future__ import annotations

from benchmark_results import entry, results
from benchmarks.comparison import by_round, fact, over_best_peer, time_of, when


def test_ratios_are_formed_within_a_round() -> None:
    # The machine was ten times slower in the second round: the ratio is the same in both.
    found = over_best_peer(
        results(
            entry("mlp", "neuron", 0, inference=1.0),
            entry("mlp", "eager", 0, inference=2.0),
            entry("mlp", "neuron", 1, inference=10.0),
            entry("mlp", "eager", 1, inference=20.0),
        ),
        "mlp",
        time_of("inference"),
    )
    assert found is not None
    assert found.values == (2.0, 2.0)


def test_the_best_peer_may_be_another_one_in_each_round() -> None:
    measured = results(
        entry("mlp", "neuron", 0, inference=1.0),
        entry("mlp", "eager", 0, inference=3.0),
        entry("mlp", "inductor", 0, inference=2.0),
        entry("mlp", "neuron", 1, inference=1.0),
        entry("mlp", "eager", 1, inference=1.5),
        entry("mlp", "inductor", 1, inference=2.0),
    )
    best = over_best_peer(measured, "mlp", time_of("inference"))
    one = over_best_peer(measured, "mlp", time_of("inference"), ["inductor"])
    assert best is not None
    assert one is not None
    assert (best.values, one.values) == ((2.0, 1.5), (2.0, 2.0))


def test_no_ratio_without_a_round_that_has_both() -> None:
    measured = results(
        entry("mlp", "neuron", 0, inference=1.0),
        entry("mlp", "eager", 1, inference=3.0),
        entry("mlp", "eager", 0, error="it failed"),
    )
    assert over_best_peer(measured, "mlp", time_of("inference")) is None


def test_cold_and_warm_starts_of_a_round_are_told_apart() -> None:
    measured = results(
        entry("start", "neuron", 0, cold=True, start=10.0),
        entry("start", "neuron", 0, cold=False, start=2.0),
    )
    cold, warm = when(True, time_of("start")), when(False, time_of("start"))
    assert by_round(measured, "start", "neuron", cold) == {0: 10.0}
    assert by_round(measured, "start", "neuron", warm) == {0: 2.0}


def test_facts_are_found_by_name() -> None:
    measured = results(entry("mlp", "eager", facts={"flops inference": 8.0}))
    assert by_round(measured, "mlp", "eager", fact("flops inference")) == {0: 8.0}
    assert by_round(measured, "mlp", "eager", fact("flops train_step")) == {}
