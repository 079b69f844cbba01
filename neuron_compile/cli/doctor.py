"""`neuron-compile doctor`: the findings of `neuron_compile.doctor` as a table or as JSON."""

from __future__ import annotations

import json
import sys
from typing import Final

import click

from neuron_compile.doctor import Diagnosis, Verdict, diagnose

_STYLES: Final = {
    Verdict.OK: "green",
    Verdict.NOTE: "cyan",
    Verdict.WARNING: "yellow",
    Verdict.ERROR: "red",
}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(as_json: bool) -> None:
    """Check the installation and compile a small program.

    Ends with status 1 if the host target does not work, else with 0.
    """
    diagnosis = diagnose()
    if as_json:
        click.echo(json.dumps(diagnosis.to_json(), indent=2))
    else:
        _print(diagnosis)
    sys.exit(0 if diagnosis.is_healthy else 1)


def _print(diagnosis: Diagnosis) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "what", "found"):
        table.add_column(heading, overflow="fold")
    topic = ""
    for finding in diagnosis.findings:
        if finding.topic != topic:
            topic = finding.topic
            table.add_row("", Text(topic, style="bold"), "")
        text = finding.text + (f"\nTry: {finding.hint}" if finding.hint else "")
        verdict = Text(str(finding.verdict), style=_STYLES[finding.verdict])
        table.add_row(verdict, Text(f"  {finding.subject}"), Text(text))
    console = Console(soft_wrap=False)
    console.print(table)
    errors = sum(finding.verdict is Verdict.ERROR for finding in diagnosis.findings)
    problems = f"{errors} problem{'s' * (errors != 1)} to be solved first."
    console.print("The host target works." if diagnosis.is_healthy else problems)
