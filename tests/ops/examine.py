"""One entry in one dtype, compiled and compared with eager."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any, Final
from unittest import mock

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
)

from neuron_compile.errors import DynamicShapesError, UnsupportedOpError
from ops.compare import difference
from ops.entries import dtype_named, entries
from ops.evaluation import Evaluation, evaluate_compiled, evaluate_eagerly
from ops.outcome import EntryOutcome, Verdict
from ops.samples import SAMPLE_LIMIT, Sample, samples_of
from ops.tolerances import Tolerance, tolerance_of

# After so many samples have failed one by one, the rest of a failing group shares their verdict.
_FAILURE_LIMIT: Final = 6


def examine(
    name: str,
    dtype_name: str,
    *,
    sample: int | None = None,
    limit: int = SAMPLE_LIMIT,
    values: str = "all",
    compared: str = "all",
    tolerance: Sequence[float] | None = None,
) -> EntryOutcome:
    """Compile at most `limit` of the entry's samples as one graph and compare each with eager.

    If the group fails, it is halved until the samples at fault stand alone. `sample` picks one.
    `values` says which elements count: `"all"`, those that are the same in eager from `"seed to
    seed"`, or `"none"`; `compared` says
    which results: `"all"`, the `"first"`, or all as `"processed"` for differentiation.
    `tolerance` (relative, absolute) replaces PyTorch's own.
    """
    torch.set_num_threads(1)
    start = time.perf_counter()
    op, dtype = entries()[name], dtype_named(dtype_name)
    outcome = EntryOutcome(name, dtype_name)
    chosen = [s for s in samples_of(op, dtype, limit) if sample is None or s.index == sample]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = {s.index: e for s in chosen if (e := _eager(s)) is not None}
        bounds = (
            tolerance_of(op, dtype)
            if tolerance is None
            else Tolerance(tolerance[0], tolerance[1], is_given=True)
        )
        examination = _Examination(outcome, expected, bounds, values, compared)
        examination.run([s for s in chosen if s.index in expected])
    outcome.seconds = round(time.perf_counter() - start, 2)
    return outcome


def _eager(sample: Sample) -> Evaluation | None:
    """None where eager itself refuses the sample."""
    try:
        return evaluate_eagerly(sample)
    except Exception:
        return None


class _Examination:
    def __init__(
        self,
        outcome: EntryOutcome,
        expected: dict[int, Evaluation],
        tolerance: Tolerance,
        values: str,
        compared: str,
    ) -> None:
        self._outcome = outcome
        self._expected = expected
        self._tolerance = tolerance
        self._values = values
        self._compared = compared
        self._failures = 0

    def run(self, samples: Sequence[Sample]) -> None:
        if not samples:
            return
        try:
            found = evaluate_compiled(samples)
        except Exception as error:
            self._isolate(samples, error)
            return
        for sample, evaluation in zip(samples, found, strict=True):
            self._compare(sample, evaluation)

    def _isolate(self, samples: Sequence[Sample], error: Exception) -> None:
        if len(samples) == 1:
            self._failures += 1
            self._fail(samples[0], error)
        elif self._failures >= _FAILURE_LIMIT:
            for sample in samples:
                self._outcome.add(sample.index, _verdict(error), Verdict.NONE)
        else:
            middle = len(samples) // 2
            self.run(samples[:middle])
            self.run(samples[middle:])

    def _fail(self, sample: Sample, error: Exception) -> None:
        """Tell a failure in the forward direction from one in the backward direction."""
        verdict, text = _verdict(error), _line(error)
        if self._expected[sample.index].gradients is None:
            self._outcome.add(sample.index, verdict, Verdict.NONE, text)
            return
        try:
            evaluate_compiled([sample], backward=False)
        except Exception as forward_error:
            self._outcome.add(sample.index, _verdict(forward_error), verdict, _line(forward_error))
        else:
            self._outcome.add(sample.index, Verdict.RIGHT, verdict, f"backward: {text}")

    def _compare(self, sample: Sample, found: Evaluation) -> None:
        expected = self._expected[sample.index]
        truth = _Truth(sample)
        values = self._values == "all"
        if self._values == "seed to seed":
            values = not _is_random(sample)
        forward = difference(
            self._results(expected),
            self._results(found),
            self._tolerance,
            lambda: self._results(truth.evaluation),
            values=values,
        )
        backward = difference(
            expected.gradients,
            found.gradients,
            self._tolerance,
            lambda: truth.evaluation.gradients,
            values=values,
        )
        without = Verdict.NONE if expected.gradients is None else Verdict.RIGHT
        self._outcome.add(
            sample.index,
            Verdict.WRONG if forward else Verdict.RIGHT,
            Verdict.WRONG if backward else without,
            forward or (f"backward: {backward}" if backward else ""),
        )

    def _results(self, evaluation: Evaluation) -> Any:
        if self._compared == "processed":
            return evaluation.processed
        return evaluation.result[0] if self._compared == "first" else evaluation.result


def _is_random(sample: Sample) -> bool:
    """Whether eager gives other numbers for another seed, or in memory that held other numbers."""
    first, *others = (_seeded(sample, seed) for seed in range(8))
    exact = Tolerance(0.0, 0.0)
    return any(difference(first, other, exact, lambda: None) for other in others)


def _seeded(sample: Sample, seed: int) -> tuple[Any, Any]:
    torch.manual_seed(seed)
    # Some entries set a seed of their own before each call.
    with mock.patch.object(torch, "manual_seed"):
        evaluation = evaluate_eagerly(sample)
    return evaluation.result, evaluation.gradients


class _Truth:
    """The sample in float64, computed when first asked for."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._evaluation: Evaluation | None = None

    @property
    def evaluation(self) -> Evaluation:
        if self._evaluation is None:
            self._evaluation = evaluate_eagerly(self._sample.widened())
        return self._evaluation


def _verdict(error: Any) -> Verdict:
    if isinstance(error, UnsupportedOpError | DynamicShapesError):
        return Verdict.REFUSED
    if isinstance(error, DataDependentOutputException | DynamicOutputShapeException):
        return Verdict.DEPENDS
    return Verdict.FAILED


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {' | '.join(str(error).split(chr(10)))}"
