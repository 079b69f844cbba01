"""`neuron-compile ops`: which operators are supported, how, and in which dtypes."""

from __future__ import annotations

import json
import sys

import click


@click.command()
@click.argument("words", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--markdown", is_flag=True, help="Print the page of the documentation.")
def ops(words: tuple[str, ...], as_json: bool, markdown: bool) -> None:
    """Show the operators in whose name, group, route or notes all WORDS occur; without any, all.

    Ends with status 1 if there is none. The table is that of a survey of PyTorch's operator
    database on the host target.
    """
    from neuron_compile.operator_page import as_markdown
    from neuron_compile.operator_support import known_operators, search

    found = search(known_operators(), words)
    if as_json:
        click.echo(json.dumps([operator.to_json() for operator in found], indent=2))
    elif markdown:
        click.echo(as_markdown(found), nl=False)
    else:
        from neuron_compile.cli.operator_table import print_table

        print_table(found)
    sys.exit(0 if found else 1)
