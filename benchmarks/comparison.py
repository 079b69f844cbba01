"""Ratios between backends, each formed within a round and only then summarized.

What disturbs a round disturbs both sides of its ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.backends import OURS, PEERS
from benchmarks.results import Entry, Results
from benchmarks.statistics import Ratio

# What is compared, of one entry; None where it was not measured.
Quantity = Callable[[Entry], float | None]


def time_of(series: str) -> Quantity:
    """The median time of a series."""

    def quantity(entry: Entry) -> float | None:
        found = entry.measurement.series.get(series)
        return found.median if found else None

    return quantity


def fact(name: str) -> Quantity:
    """A fact, as it is."""
    return lambda entry: entry.measurement.facts.get(name)


def when(caches_are_empty: bool, quantity: Quantity) -> Quantity:
    """A quantity of cold starts only, or of warm ones only."""
    return lambda entry: quantity(entry) if entry.had_empty_caches is caches_are_empty else None


def by_round(results: Results, case: str, backend: str, quantity: Quantity) -> dict[int, float]:
    """The quantity in each round in which it was measured."""
    values = ((entry.round, quantity(entry)) for entry in results.of(case, backend))
    return {round_: value for round_, value in values if value is not None}


def over_best_peer(
    results: Results, case: str, quantity: Quantity, peers: Sequence[str] = PEERS
) -> Ratio | None:
    """How many times the smallest of the peers' quantities is ours: above 1, we are ahead."""
    ours = by_round(results, case, OURS, quantity)
    theirs = [by_round(results, case, peer, quantity) for peer in peers]
    values = []
    for round_, own in ours.items():
        rivals = [values_[round_] for values_ in theirs if round_ in values_]
        if rivals and own:
            values.append(min(rivals) / own)
    return Ratio(tuple(values)) if values else None
