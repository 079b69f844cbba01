"""`neuron-compile explain`: what compiling a model would meet."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from neuron_compile.cli.model_at import model_at


@click.command()
@click.argument("model", metavar="FILE.py:FUNCTION")
@click.option("--target", help="host, trn1, trn1n, trn2, trn3 or inf2; default: the environment's.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report to a file, one self-contained page.",
)
def explain(model: str, target: str | None, as_json: bool, html: Path | None) -> None:
    """Show what compiling a model would meet, forward and backward, without compiling it.

    FUNCTION of FILE.py takes nothing and returns (model, args) or (model, args, kwargs), with which
    the model is called once. Ends with status 0 if all of it can be compiled, else with 1.
    """
    from neuron_compile.explanation.explain import explain as explain_model
    from neuron_compile.explanation.page import as_page

    subject, args, kwargs = model_at(model)
    found = explain_model(subject, *args, for_target=target, **kwargs)
    if html is not None:
        html.write_text(as_page(found), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=2))
    else:
        click.echo(str(found))
    sys.exit(0 if found.is_ok else 1)
