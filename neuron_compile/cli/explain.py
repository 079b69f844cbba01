"""`neuron-compile explain`: what compiling a model would meet."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import click


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

    subject, args, kwargs = _made(model)
    found = explain_model(subject, *args, for_target=target, **kwargs)
    if html is not None:
        html.write_text(as_page(found), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=2))
    else:
        click.echo(str(found))
    sys.exit(0 if found.is_ok else 1)


def _made(place: str) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The model and its arguments, by the user's function."""
    file, colon, name = place.rpartition(":")
    path = Path(file)
    if not colon or not path.is_file():
        raise click.UsageError(f"{place!r} is not FILE.py:FUNCTION of an existing file")
    # What a script beside it imports is found as if the script were run.
    sys.path.insert(0, str(path.resolve().parent))
    function = runpy.run_path(str(path)).get(name)
    if not callable(function):
        raise click.UsageError(f"{file} has no function {name}")
    made = function()
    if not isinstance(made, tuple) or len(made) not in (2, 3):
        raise click.UsageError(f"{name} must return (model, args) or (model, args, kwargs)")
    args, kwargs = made[1], made[2] if len(made) == 3 else {}
    if not isinstance(args, tuple | list) or not isinstance(kwargs, dict):
        raise click.UsageError(f"{name} must return args as a tuple and kwargs as a dict")
    return made[0], tuple(args), kwargs
