"""What neuron-compile is held to, in one table, and how each bar is found in the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks import names
from benchmarks.backends import EAGER, INDUCTOR, OURS
from benchmarks.cases.listing import DISPATCH, MEASURED_START, OVERHEAD, PRODUCT, START, THREADS
from benchmarks.comparison import Quantity, by_round, fact, over_best_peer, time_of, when
from benchmarks.results import Results
from benchmarks.statistics import Ratio, geometric_mean
from benchmarks.workloads.listing import MATRIX_BOUND, NAMES


@dataclass(frozen=True, slots=True)
class Finding:
    """The value that a bar is held against, of a workload or of all (`subject`)."""

    subject: str
    value: float


Findings = Callable[[Results], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Bar:
    """`findings` of it must be at least `bound`, or at most."""

    what: str
    bound: float
    findings: Findings
    at_least: bool = True

    def is_met_by(self, value: float) -> bool:
        """Whether a value is on the right side."""
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{self.what}: {'at least' if self.at_least else 'at most'} {self.bound:g}"


def _each(mode: str) -> Findings:
    def findings(results: Results) -> Iterator[Finding]:
        for name in NAMES:
            ratio = over_best_peer(results, name, time_of(mode))
            if ratio:
                yield Finding(name, ratio.median)

    return findings


def _mean(mode: str) -> Findings:
    def findings(results: Results) -> Iterator[Finding]:
        values = [finding.value for finding in _each(mode)(results)]
        if values:
            yield Finding(f"geometric mean of {len(values)}", geometric_mean(values))

    return findings


def _share_of_product_rate(results: Results) -> Iterator[Finding]:
    """Floating point operations a second over those of one large product in the same round."""
    product = _product_rates(results)
    for name in MATRIX_BOUND:
        for mode in (names.INFERENCE, names.FORWARD_BACKWARD):
            flops = by_round(results, name, EAGER, fact(names.flops_of(mode)))
            ours = by_round(results, name, OURS, time_of(mode))
            shares = tuple(
                flops[round_] / seconds / product[round_]
                for round_, seconds in ours.items()
                if round_ in flops and round_ in product
            )
            if shares:
                yield Finding(f"{name} {mode}", Ratio(shares).median)


def _product_rates(results: Results) -> dict[int, float]:
    """Of each round, by whom it was computed faster."""
    rates: dict[int, float] = {}
    for backend in (EAGER, OURS):
        flops = by_round(results, PRODUCT, backend, fact(names.flops_of(names.PRODUCT)))
        seconds = by_round(results, PRODUCT, backend, time_of(names.PRODUCT))
        for round_ in flops.keys() & seconds.keys():
            rates[round_] = max(rates.get(round_, 0.0), flops[round_] / seconds[round_])
    return rates


def _cost(case: str, quantity: Quantity, peer: str = INDUCTOR) -> Findings:
    """How many times the peer's quantity ours is."""

    def findings(results: Results) -> Iterator[Finding]:
        ratio = over_best_peer(results, case, quantity, [peer])
        if ratio:
            yield Finding(case, 1 / ratio.median)

    return findings


def _overhead(results: Results) -> Iterator[Finding]:
    for name in NAMES:
        direct = by_round(results, OVERHEAD, OURS, time_of(names.directly(name)))
        ours = by_round(results, OVERHEAD, OURS, time_of(names.through_us(name)))
        # A graph below a millisecond is the dispatch case's business.
        values = tuple(ours[r] / direct[r] for r in ours if r in direct and direct[r] >= 1e-3)
        if values:
            yield Finding(name, Ratio(values).median)


def _slowdown(results: Results) -> Iterator[Finding]:
    alone = by_round(results, THREADS, OURS, time_of(names.ALONE))
    after = by_round(results, THREADS, OURS, time_of(names.AFTER))
    values = tuple(after[round_] / alone[round_] for round_ in after if round_ in alone)
    if values:
        yield Finding(THREADS, Ratio(values).median)


_TRAINING_PEAK: Final = fact(names.peak_of(names.TRAIN))
_START: Final = time_of(names.START)

BARS: Final[Sequence[Bar]] = (
    Bar("inference, times the best peer", 1.0, _each(names.INFERENCE)),
    Bar("inference, times the best peer", 1.3, _mean(names.INFERENCE)),
    Bar("forward and backward, times the best peer", 1.0, _each(names.FORWARD_BACKWARD)),
    Bar("forward and backward, times the best peer", 1.2, _mean(names.FORWARD_BACKWARD)),
    Bar("compiled train step, times the best peer", 1.0, _each(names.TRAIN_COMPILED)),
    Bar("compiled train step, times the best peer", 1.2, _mean(names.TRAIN_COMPILED)),
    Bar("matrix-bound, share of a large product's rate", 0.75, _share_of_product_rate),
    Bar("call of 32 parameters and 16 tiny operations, times Inductor's", 1.0,
        _cost(DISPATCH, time_of(names.CALL)), at_least=False),
    Bar("call, times that of the same StableHLO through jaxlib", 1.03, _overhead, at_least=False),
    Bar("eager code after a compiled call, times alone", 1.1, _slowdown, at_least=False),
    Bar("peak memory in training, times Inductor's", 1.1,
        _cost(MEASURED_START, _TRAINING_PEAK), at_least=False),
    Bar("cold start, times Inductor's", 0.33, _cost(START, when(True, _START)), at_least=False),
    Bar("warm start, times Inductor's", 0.7, _cost(START, when(False, _START)), at_least=False),
)  # fmt: skip
