"""Progress as a bar, for terminals."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from neuron_compile.warmup.job import Job, State
from neuron_compile.warmup.plain_display import duration
from neuron_compile.warmup.tally import Tally

_STATES = (State.CACHED, State.COMPILING, State.COMPILED, State.FAILED)


class BarDisplay:
    """A bar with the number of graphs in each state and the time that remains; failures above it.

    A context manager: the bar is there within it.
    """

    def __init__(self, tally: Tally, console: Console) -> None:
        self._tally = tally
        self._progress = Progress(
            BarColumn(bar_width=30),
            TextColumn("{task.completed}/{task.total}"),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=console,
        )
        self._task = self._progress.add_task(self.text(), total=tally.total)

    def __enter__(self) -> BarDisplay:
        self._progress.start()
        self._update()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def text(self) -> str:
        """`3 cached, 2 compiling, 7 compiled, 0 failed, 40 s remain`."""
        counts = [f"{self._tally.count(state)} {state}" for state in _STATES]
        seconds = self._tally.seconds_remaining
        if seconds:
            counts.append(f"about {duration(seconds)} remain")
        return ", ".join(counts)

    def changed(self, job: Job) -> None:
        """See `Display.changed`."""
        if job.state is State.FAILED:
            self._progress.console.print(f"FAILED {job.name}: {job.error}", markup=False)
        self._update()

    def waiting(self, _compiling: Sequence[Job]) -> None:
        """See `Display.waiting`."""
        self._update()

    def _update(self) -> None:
        self._progress.update(self._task, completed=self._tally.ended, description=self.text())
