"""Progress as a bar."""

from __future__ import annotations

import io

from rich.console import Console

from neuron_compile.warmup.bar_display import BarDisplay
from neuron_compile.warmup.job import State
from neuron_compile.warmup.tally import Tally
from warmup_jobs import job


def test_says_how_many_are_in_each_state_and_what_failed() -> None:
    failing = job("failing")
    jobs = [failing, job("other", state=State.COMPILED, seconds=30.0), job(state=State.CACHED)]
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120, color_system=None)
    with BarDisplay(Tally(jobs, 1), console) as display:
        assert display.text() == ("1 cached, 0 compiling, 1 compiled, 0 failed, about 30 s remain")
        failing.state, failing.error = State.FAILED, ValueError("[no] such thing")
        display.changed(failing)
        display.waiting([])
        assert display.text() == "1 cached, 0 compiling, 1 compiled, 1 failed"
    assert "FAILED failing: [no] such thing" in out.getvalue()
    assert "3/3" in out.getvalue()
