"""Progress as lines of text, for logs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from neuron_compile.warmup.job import Job, State
from neuron_compile.warmup.tally import Tally

Write = Callable[[str], None]


class PlainDisplay:
    """One line when a graph begins and one when it ends; nothing for what is cached."""

    def __init__(
        self, tally: Tally, write: Write, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tally = tally
        self._write = write
        self._clock = clock
        self._began: dict[Job, float] = {}

    def changed(self, job: Job) -> None:
        """See `Display.changed`."""
        if job.state is State.COMPILING:
            self._began[job] = self._clock()
            self._write(f"compiling {job.name}, {job.node_count} operations")
            return
        place = f"[{self._tally.ended}/{self._tally.total}]"
        took = duration(job.seconds)
        if job.state is State.FAILED:
            reason = str(job.error).partition("\n")[0]
            self._write(f"{place} FAILED {job.name} after {took}: {reason}")
        else:
            self._write(f"{place} {job.state} {job.name} in {took}{remaining(self._tally)}")

    def waiting(self, compiling: Sequence[Job]) -> None:
        """See `Display.waiting`."""
        now = self._clock()
        names = [f"{job.name} ({duration(now - self._began[job])})" for job in compiling]
        self._write(f"still compiling: {', '.join(names)}")


def remaining(tally: Tally) -> str:
    """`, about 40 s remain`; empty if that is not known or nothing remains."""
    seconds = tally.seconds_remaining
    return f", about {duration(seconds)} remain" if seconds else ""


def duration(seconds: float) -> str:
    """`7.3 s`, `4 min 10 s`, `2 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
